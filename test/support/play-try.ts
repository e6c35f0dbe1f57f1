import type { VendorClient } from '@undolog/shared/vendor/compensation-call';
import { tryEntry } from '@undolog/compensator/try-entry';
import type { Compensation } from '@undolog/shared/domain/compensation';
import { JsonText } from '@undolog/shared/domain/json-text';
import type { Exchange } from '@undolog/shared/domain/verdict';
import type { ClaimedEntry } from '@undolog/shared/store/claim-entries';
import { compensation } from './undo-call.js';

export const ok = (body = '{}', status = 200): Extract<Exchange, { kind: 'answer' }> => ({
  kind: 'answer',
  status,
  body,
  retryAfter: undefined,
});
function entry(some: Partial<ClaimedEntry> = {}): ClaimedEntry {
  return {
    undoId: 'u-1',
    sessionId: 's-1',
    effectId: 'e-1',
    fence: 1,
    fnName: 'cancel',
    version: '1',
    args: new JsonText('{"id":"b-1"}'),
    needsResult: false,
    result: null,
    found: false,
    effectOutcome: 'committed',
    traceparent: null,
    attempt: 1,
    attemptOpen: true,
    attemptsInRound: 1,
    maxRetries: 3,
    sawUnknown: false,
    mayCall: true,
    mayAsk: true,
    confirming: null,
    lookups: { absentForMs: null, failed: 0 },
    answerHash: null,
    effectAgeMs: 0,
    keyAgeMs: null,
    ...some,
  };
}

export type Answers = (Exchange | (() => Exchange))[];

/** Plays one try against a vendor that gives these answers to the undo, and these to looks at its record. */
export async function play(o: {
  entry?: Partial<ClaimedEntry>;
  spec?: Partial<Compensation>;
  call?: Answers;
  record?: Answers;
  held?: boolean;
  leaving?: AbortController;
}) {
  const log: string[] = [];
  const next = (answers: Answers | undefined): Exchange => {
    const answer = (answers!.length > 1 ? answers!.shift() : answers![0])!;
    return typeof answer === 'function' ? answer() : answer;
  };
  const written: object[] = [];
  const client: Pick<VendorClient, 'call' | 'ask'> = {
    async call() {
      log.push('POST');
      return next(o.call);
    },
    async ask(url) {
      log.push(`GET ${new URL(url).pathname}`);
      return next(o.record);
    },
  };
  const tried = await tryEntry(entry(o.entry), compensation({ url: 'https://vendor.test/undo', ...o.spec }), {
    client: client as VendorClient,
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    stillHeld: async () => o.held ?? true,
    async openAttempt(found) {
      log.push(found === null ? 'open' : `open with ${found.text}`);
      return o.held ?? true;
    },
    async recordDone({ status }, budgetMs, location) {
      log.push('done');
      written.push({ status, budgetMs, location });
      return o.held ?? true;
    },
    signal: (o.leaving ?? new AbortController()).signal,
  });
  return { tried, log, written };
}
