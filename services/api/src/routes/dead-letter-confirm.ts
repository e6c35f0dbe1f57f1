import { confirmDeadLetter } from '@undolog/shared/store/confirm-dead-letter';
import { readDeadLetter } from '@undolog/shared/store/dead-letters';
import { readBrokenEntry } from '@undolog/shared/store/read-broken-entry';
import { confirmAnswer } from '@undolog/shared/wire/dead-letters';
import { emptyBody } from '@undolog/shared/wire/sessions';
import { ASK_WITHIN_MS, askVendor } from '../ask-vendor.js';
import { answer, refuse } from '../reply.js';
import { defineRoute, type Route } from '../route.js';
import { actionOf, replyOf } from './dead-letter-actions.js';

const NOT_CONFIRMED = { confirmed: false, state: 'halted' } as const;

const confirm = defineRoute({
  method: 'post',
  path: '/v1/dead-letters/{dead_letter_id}/confirm',
  roles: ['operator'],
  summary: "Ask the vendor's record whether the undo took after all",
  body: emptyBody,
  bodyOptional: true,
  span: 'undolog.confirm',
  // No transaction is open while the vendor is asked.
  settlesApart: true,
  mayTakeMs: ASK_WITHIN_MS + 2000,
  answers: { 200: { description: 'What the record says; if it agrees, the unwind goes on.', schema: confirmAnswer } },
  refusals: ['not_found', 'dead_letter_closed', 'dead_letter_changed', 'no_confirm', 'encryption_key_missing'],
  async handle(context) {
    const { caller, params, perform, resources } = context;
    const letter = await readDeadLetter(resources.database, caller.orgId, params['dead_letter_id']!);
    if (!letter) return refuse('not_found');
    if (letter.state === 'closed') return refuse('dead_letter_closed');
    const action = { ...actionOf(context), reason: null };
    if (action.ifVersion !== null && action.ifVersion !== letter.version) return refuse('dead_letter_changed');
    const entry = await readBrokenEntry(resources.database, caller.orgId, letter.dead_letter_id);
    if (!entry) return refuse('no_confirm');
    if ('fault' in entry) return refuse('encryption_key_missing');
    const word = await askVendor(resources.vendor, caller.orgId, entry);
    switch (word.kind) {
      case 'agreed': {
        // Whoever acted meanwhile comes first.
        const ifVersion = action.ifVersion ?? letter.version;
        const result = await perform(confirmDeadLetter, { ...action, ifVersion, undoId: entry.undoId });
        if (result.outcome !== 'resumed') return replyOf(result);
        return answer(200, { confirmed: true, state: result.state }, { wake: result.wake });
      }
      case 'disagreed':
      case 'missing_result':
        return answer(200, NOT_CONFIRMED);
      case 'no_confirm':
        return refuse('no_confirm');
      case 'unreadable':
        return word.fault === 'unknown_secret'
          ? refuse('no_confirm', 'a secret that the call names does not exist')
          : refuse('encryption_key_missing');
      default:
        return word satisfies never;
    }
  },
});

export const deadLetterConfirmRoutes: readonly Route[] = [confirm];
