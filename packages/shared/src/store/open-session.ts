import type { FailurePolicy } from '../domain/failure.js';
import type { JsonText } from '../domain/json-text.js';
import type { Statement, Tx } from './database.js';
import { toBytes } from './json-bytes.js';
import type { Operation } from './operation.js';
import { adopt, type Parent } from './adopt-session.js';
import { NO_UNDO, readSession, type SessionView } from './read-session.js';

export interface OpenSession {
  readonly sessionId: string;
  readonly agentName: string | null;
  readonly externalRunId: string | null;
  readonly metadata: JsonText | null;
  readonly onCompensationFailure: FailurePolicy;
  /** 0: no lease. */
  readonly leaseSeconds: number;
  /** 0: no limit. */
  readonly maxAgeSeconds: number;
  /** SHA-256 of the body's canonical text, to tell a repeat from another body. */
  readonly bodyHash: Buffer;
  /** The session whose unwind undoes this one, just before its own entry at that position. */
  readonly parent: Parent | null;
}

export type OpenSessionResult =
  | { readonly outcome: 'created' | 'same'; readonly session: SessionView }
  | { readonly outcome: 'exists' | 'unknown_parent' | 'parent_not_active' };

const INSERT = `
INSERT INTO undolog_sessions AS s (org_id, session_id, state, agent_name, external_run_id, metadata,
  on_compensation_failure, lease_seconds, max_age_seconds, body_hash, parent_session_id, parent_position,
  lease_expires_at, created_at)
SELECT $1, i.session_id, 'active', i.agent_name, i.external_run_id, i.metadata,
  i.on_compensation_failure, i.lease_seconds, i.max_age_seconds, i.body_hash, i.parent_session_id, i.parent_position,
  i.opened_at + least(nullif(i.lease_seconds, 0), nullif(i.max_age_seconds, 0)) * interval '1 second', i.opened_at
FROM (
  SELECT *, clock_timestamp() AS opened_at
  FROM unnest($2::text[], $3::text[], $4::text[], $5::bytea[], $6::text[], $7::int[], $8::int[], $9::bytea[],
    $10::text[], $11::int[])
    WITH ORDINALITY AS i (session_id, agent_name, external_run_id, metadata, on_compensation_failure,
      lease_seconds, max_age_seconds, body_hash, parent_session_id, parent_position, ordinal)
  ORDER BY ordinal
) AS i
ON CONFLICT (session_id, org_id) DO NOTHING
RETURNING session_id, lease_expires_at, created_at, updated_at`;

interface Inserted {
  session_id: string;
  lease_expires_at: string | null;
  created_at: string;
  updated_at: string;
}

function insert(orgId: string, inputs: readonly OpenSession[]): Statement {
  return {
    name: 'open_session',
    text: INSERT,
    values: [
      orgId,
      inputs.map((input) => input.sessionId),
      inputs.map((input) => input.agentName),
      inputs.map((input) => input.externalRunId),
      inputs.map((input) => toBytes(input.metadata)),
      inputs.map((input) => input.onCompensationFailure),
      inputs.map((input) => input.leaseSeconds),
      inputs.map((input) => input.maxAgeSeconds),
      inputs.map((input) => input.bodyHash),
      inputs.map((input) => input.parent?.sessionId ?? null),
      inputs.map((input) => input.parent?.position ?? null),
    ],
  };
}

function freshView(input: OpenSession, row: Inserted): SessionView {
  return {
    session_id: row.session_id,
    state: 'active',
    agent_name: input.agentName,
    external_run_id: input.externalRunId,
    metadata: input.metadata,
    on_compensation_failure: input.onCompensationFailure,
    lease_expires_at: row.lease_expires_at,
    rollback_to: null,
    parent: input.parent && { session_id: input.parent.sessionId, stack_position: input.parent.position },
    fully_compensated: false,
    created_at: row.created_at,
    updated_at: row.updated_at,
    undo_counts: NO_UNDO,
    effects_standing: [],
    failure: null,
    retry_at: null,
    data_erased_at: null,
  };
}

async function run(tx: Tx, orgId: string, input: OpenSession): Promise<OpenSessionResult> {
  const refused = input.parent && (await adopt(tx, orgId, input.sessionId, input.parent));
  if (refused) return { outcome: refused };
  const [row] = await tx.query<Inserted>(insert(orgId, [input]));
  if (row) return { outcome: 'created', session: freshView(input, row) };
  const [known] = await tx.query<{ same: boolean }>({
    text: 'SELECT body_hash = $3 AS same FROM undolog_sessions WHERE org_id = $1 AND session_id = $2',
    values: [orgId, input.sessionId, input.bodyHash],
  });
  const session = known?.same ? await readSession(tx, orgId, input.sessionId) : undefined;
  return session ? { outcome: 'same', session } : { outcome: 'exists' };
}

/** Opens a session; the same id and body again is the same session. */
export const openSession: Operation<OpenSession, OpenSessionResult> = {
  name: 'open_session',
  run,
  batch: {
    key: (input) => input.sessionId,
    lock: (input) => ({ sessionId: input.sessionId }),
    statements: (orgId, inputs) => [
      insert(
        orgId,
        inputs.filter((input) => input.parent === null),
      ),
    ],
    read([rows], inputs) {
      const created = new Map((rows as Inserted[]).map((row) => [row.session_id, row]));
      return inputs.map((input) => {
        const row = created.get(input.sessionId);
        return row ? { outcome: 'created', session: freshView(input, row) } : 'alone';
      });
    },
  },
};
