import type { UndoLog, VerifiedAudit } from '@undolog/client';
import type { Context } from '../context.js';
import { CommandFailed, EXIT, type ExitCode } from '../exit-codes.js';
import { cell } from '../output.js';

interface Head {
  readonly number: number;
  readonly hash: string;
}

function readHead(text: string): Head {
  const [, number, hash] = /^(\d+):([0-9a-f]{64})$/.exec(text) ?? [];
  if (number === undefined || hash === undefined) throw new CommandFailed('--head is NUMBER:HASH', EXIT.usage);
  return { number: Number(number), hash };
}

/** Proves the chain from its beginning, step by step; `seals` and `entries` are sums. */
async function proveAll(client: UndoLog): Promise<VerifiedAudit> {
  let [seals, entries, next]: [number, number, number | null] = [0, 0, 0];
  for (;;) {
    const answer: VerifiedAudit = await client.audit.verify(next);
    seals += answer.seals;
    entries += answer.entries;
    next = answer.next;
    if (next === null) return { ...answer, seals, entries };
  }
}

/** `kept`: a seal that somebody has kept elsewhere, which must be part of the chain. */
export async function proveAudit({ client, output }: Context, kept: string | undefined): Promise<ExitCode> {
  const head = kept === undefined ? undefined : readHead(kept);
  const proved = await proveAll(client());
  const headHolds = !head || (await client().audit.seals({ number: head.number })).data[0]?.hash === head.hash;
  const ok = proved.ok && headHolds;
  const { first_fault: fault, sealed_through: through, seals, entries, unsealed } = proved;
  if (output.json) output.data({ ...proved, ok, head_holds: headHolds });
  else if (fault) output.line(cell(`seal ${fault.seal}: ${fault.kind}`, 'bad'), `· ${seals} seals before it hold`);
  else if (!headHolds) output.line(cell(`seal ${head.number} is not the one that you kept`, 'bad'));
  else output.line(cell('the log holds', 'good'), `· ${entries} entries in ${seals} seals, ${unsealed} not sealed yet`);
  if (ok && !output.json && through) output.note(`to keep elsewhere: ${through.number}:${through.hash}`);
  return ok ? EXIT.ok : EXIT.error;
}
