import type { JsonText } from '@undolog/shared/domain/json-text';
import { redactText } from '@undolog/shared/domain/redact';
import type { Role } from '@undolog/shared/domain/roles';
import type { SessionView } from '@undolog/shared/store/read-session';
import type { EntryView } from '@undolog/shared/store/read-stack';

/**
 * An operator sees that there was a password, not which: values under such names are redacted for that role alone.
 * What agents and admins see, and what is sent to vendors, stays as it came.
 */
function shown<T extends JsonText | null>(json: T, role: Role): T {
  return json === null || role !== 'operator' ? json : (redactText(json) as T);
}

export function presentSession(session: SessionView, role: Role): SessionView {
  if (role !== 'operator') return session;
  return { ...session, metadata: shown(session.metadata, role) };
}

export function presentEntry(entry: EntryView, role: Role): EntryView {
  if (role !== 'operator') return entry;
  const effect = { ...entry.effect, args: shown(entry.effect.args, role), result: shown(entry.effect.result, role) };
  return { ...entry, args: shown(entry.args, role), effect };
}
