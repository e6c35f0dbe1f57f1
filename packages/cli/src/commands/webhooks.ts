import type { Command } from 'commander';
import type { CreateWebhook } from '@undolog/client';
import type { Work } from '../context.js';
import { state } from '../output.js';
import { collect } from '../paging.js';

type Run = (work: Work) => Promise<void>;

export function addWebhooks(program: Command, run: Run): void {
  const webhooks = program.command('webhooks').description('where alerts go, and whether they arrive');
  webhooks
    .command('list')
    .description('list webhooks')
    .action(() =>
      run(async ({ client, output }) => {
        const found = await client().webhooks.list();
        if (output.json) return output.data(found);
        output.table(
          ['webhook', 'state', 'address', 'events', 'made'],
          found.map((one) => [
            one.webhook_id,
            state(one.disabled_because === null ? one.state : `${one.state}, ${one.disabled_because}`),
            one.url,
            one.events.join(' '),
            one.created_at,
          ]),
        );
      }),
    );
  webhooks
    .command('create <url>')
    .description('tell this address of alerts; the secret that signs them is shown once')
    .option('--event <events...>', 'only these, such as session.halted')
    .option('--description <text>', 'what people call it')
    .action((url: string, { event, description }: { event?: CreateWebhook['events']; description?: string }) =>
      run(async ({ client, output }) => {
        const wanted = { url, ...(event && { events: event }), ...(description && { description }) };
        const made = await client().webhooks.create(wanted);
        if (output.json) return output.data(made);
        output.line(made.secret);
        output.note(`webhook ${made.webhook_id}; its secret is not shown again`);
      }),
    );
  addUpkeep(webhooks, run);
}

function addUpkeep(webhooks: Command, run: Run): void {
  webhooks
    .command('deliveries <webhook_id>')
    .description('what it was told, newest first, and what it answered')
    .option('--limit <n>', 'at most so many', '50')
    .action((id: string, { limit }: { limit: string }) =>
      run(async ({ client, output }) => {
        const found = await collect((page) => client().webhooks.deliveries(id, page), Number(limit));
        if (output.json) return output.data(found);
        output.table(
          ['delivery', 'event', 'state', 'tries', 'last answer', 'next try'],
          found.map(({ attempts, ...one }) => {
            const last = attempts.at(-1);
            const answer = last ? (last.status ?? last.error) : null;
            return [one.delivery_id, one.event, state(one.state), attempts.length, answer, one.next_attempt_at];
          }),
        );
      }),
    );
  webhooks
    .command('test <webhook_id>')
    .description('send it an alert that says nothing')
    .action((id: string) =>
      run(async ({ client, output }) => {
        const sent = await client().webhooks.test(id);
        if (output.json) output.data(sent);
        else output.line('delivery', sent.delivery_id, 'is under way; see: undolog webhooks deliveries', id);
      }),
    );
  webhooks
    .command('enable <webhook_id>')
    .description('let one that was disabled go on, from where it stopped')
    .action((id: string) =>
      run(async ({ client, output }) => {
        const webhook = await client().webhooks.enable(id);
        if (output.json) output.data(webhook);
        else output.line(webhook.webhook_id, 'is', state(webhook.state));
      }),
    );
  webhooks
    .command('remove <webhook_id>')
    .description('tell it nothing more')
    .action((id: string) =>
      run(async ({ client, output }) => {
        await client().webhooks.remove(id);
        if (output.json) output.data({ webhook_id: id, removed: true });
        else output.line(id, 'is removed');
      }),
    );
}
