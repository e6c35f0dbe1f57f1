import type { DeadLetter } from '@undolog/client';
import { visible } from '@undolog/client/visible-text';

/** What broke, in a few words. */
export function brokenThing({ fn_name: name, fn_version: version, child_session_id: child }: DeadLetter): string {
  if (name !== null) return visible(`${name}@${version}`);
  return child === null ? 'nothing that can be called' : `the child session ${visible(child)}`;
}

/** How the last try ended: `HTTP 422, refused`. */
export function lastTry({ last_attempt: last }: DeadLetter): string {
  if (!last) return 'It was never called.';
  const answer = last.status === null ? visible(last.error ?? 'no answer') : `HTTP ${last.status}`;
  return last.outcome === null ? answer : `${answer}, ${last.outcome}`;
}
