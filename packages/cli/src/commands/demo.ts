import type { Command } from 'commander';
import { NotApplied, UndoLogError, type UndoLog } from '@undolog/client';
import { freshName } from '../clock.js';
import type { Work } from '../context.js';
import { DemoVendor } from '../demo-vendor.js';
import { CommandFailed } from '../exit-codes.js';
import { cell, state, type Output, type Value } from '../output.js';

type Run = (work: Work) => Promise<void>;

const KINDS = ['flight', 'hotel', 'car'];

export function addDemo(program: Command, run: Run): void {
  program
    .command('demo')
    .description('a trip whose car is sold out, with a vendor of its own, against your UndoLog')
    .action(() =>
      run(async ({ client, output }) => {
        const vendor = new DemoVendor();
        const url = await vendor.start();
        try {
          await play(client(), output, vendor, url);
        } finally {
          vendor.stop();
        }
      }),
    );
}

async function play(client: UndoLog, output: Output, vendor: DemoVendor, url: string): Promise<void> {
  const version = freshName().slice(0, 8);
  for (const kind of KINDS) {
    await client.compensations
      .put(`demo_cancel_${kind}`, version, { url: `${url}/${kind}/cancel` })
      .catch(explainEgress);
  }
  const say = (...parts: readonly Value[]): void => {
    if (!output.json) output.line(...parts);
  };
  let id = '';
  const trip = client.session({ agent_name: 'demo' }, async (session) => {
    id = session.id;
    say('session', id);
    for (const kind of KINDS) {
      await session.call(`book_${kind}`, { kind }, {
        undo: { fn_name: `demo_cancel_${kind}`, version, args: { booking_id: { $result: '/booking_id' } } },
        run: async ({ idempotencyKey }) => {
          const answer = await fetch(`${url}/${kind}/book`, { method: 'POST', headers: { 'idempotency-key': idempotencyKey } });
          if (answer.status === 409) throw new NotApplied(`no ${kind} left`);
          say(cell('booked', 'good'), kind);
          return (await answer.json()) as unknown;
        },
      }); // prettier-ignore
    }
  });
  await trip.catch((error: Error) => say(cell('failed', 'bad'), error.message));
  const shown = await waitForEnd(client, id);
  const bookings = [...vendor.bookings].map(([kind, is]) => ({ kind, state: is }));
  if (output.json) return output.data({ session_id: id, state: shown, bookings });
  output.line('the session is', state(shown));
  output.table(
    ['booking', "in the vendor's own record"],
    bookings.map((one) => [one.kind, one.state]),
  );
  if (bookings.some((one) => one.state !== 'cancelled')) {
    throw new CommandFailed(`something still stands; is a compensator running? undolog sessions show ${id}`);
  }
}

async function waitForEnd(client: UndoLog, id: string): Promise<string> {
  for (let tries = 0; ; tries++) {
    const { state: now } = await client.sessions.get(id);
    if (now === 'compensated' || now === 'halted' || tries === 100) return now;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** The vendor is on this machine, where UndoLog calls nobody unless it is told to. */
function explainEgress(error: unknown): never {
  if (error instanceof UndoLogError && error.code === 'url_not_allowed') {
    throw new CommandFailed('UndoLog may not call this machine: start it with UNDOLOG_EGRESS_ALLOW=127.0.0.1/32');
  }
  throw error;
}
