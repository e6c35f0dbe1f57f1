import { CLAIM_LEASE_MS } from '@undolog/compensator/held-claims';
import type { StageOptions } from '../stage/stage.js';
import type { Tier } from '../tiers.js';
import type { MannerName } from '../vendor/manners.js';

/** An exact text of a source, which stands there once, and what comes in its place. */
export interface Edit {
  readonly file: string;
  readonly search: string;
  readonly replace: string;
}

export interface Plant {
  readonly name: string;
  readonly edits: readonly Edit[];
  /** What brings it to light; everything else happens as usual. */
  readonly manner?: MannerName;
  readonly more?: Partial<Tier & Pick<StageOptions, 'failpoints' | 'freezeMs'>>;
}

const SHARED = 'packages/shared/src';
const NEVER = 'before_post=throw@9999999';

/** Bugs that others have had; the suite must find every one of them. */
export const PLANTS: readonly Plant[] = [
  {
    name: 'enqueue and answer before the commit',
    edits: [
      {
        file: `${SHARED}/store/database.ts`,
        search: `assertCommitted(await client.query('COMMIT'));`,
        // Only once the fight has begun: an org must be there to fight for.
        replace: `const commit = () => client.query('COMMIT');
        if (process.env.UNDOLOG_FAILPOINTS) setTimeout(() => commit().catch(() => undefined), 40);
        else assertCommitted(await commit());`,
      },
    ],
  },
  {
    name: 'no fence check',
    edits: [
      {
        file: `${SHARED}/store/settle-entries.ts`,
        search: `WHERE u.fence = i.fence AND u.state = 'running' AND u.claimed_until IS NOT NULL`,
        replace: `WHERE u.state = 'running' AND u.claimed_until IS NOT NULL`,
      },
      {
        file: 'services/compensator/src/held-claims.ts',
        search: 'return monotonicMs() - claim.renewedAtMs < TRUSTED_MS || this.#renew(claim);',
        replace: 'return true;',
      },
    ],
    manner: 'slow',
    // Whoever froze must come back while the one that took over is calling, and nobody else may die of anything.
    more: {
      faults: ['compensators frozen'],
      failpoints: NEVER,
      freezeMs: CLAIM_LEASE_MS + 200,
      kills: 0,
      sessions: 600,
      agentsAtATime: 32,
      killEveryMs: Infinity,
    },
  },
  {
    name: 'a new key per try',
    edits: [
      {
        file: `${SHARED}/domain/effect-key.ts`,
        search: 'return `undo-${undoId}`;',
        replace: 'return `undo-${undoId}-${Math.random()}`;',
      },
    ],
  },
  {
    name: 'a job id that is used again',
    edits: [
      {
        file: `${SHARED}/queue/job.ts`,
        search: 'jobId: task ? `${undoId}-${task}` : `${undoId}-${fence}`',
        replace: 'jobId: undoId',
      },
      {
        file: `${SHARED}/queue/compensation-worker.ts`,
        search: 'removeOnComplete: NOT_KEPT',
        replace: 'removeOnComplete: { count: 100_000 }',
      },
    ],
  },
  {
    name: 'the org ignored',
    edits: [
      {
        file: `${SHARED}/vendor/compensation-cache.ts`,
        search: 'JSON.stringify([orgId, fnName, version])',
        replace: 'JSON.stringify([fnName, version])',
      },
    ],
  },
  {
    name: 'no sweep',
    edits: [
      {
        file: 'services/compensator/src/sweeper.ts',
        search: 'for (const duty of duties)',
        replace: 'for (const duty of [])',
      },
    ],
  },
  {
    name: 'redirects followed',
    edits: [
      {
        file: `${SHARED}/vendor/compensation-call.ts`,
        search: `import { Agent } from 'undici';`,
        replace: `import { Agent, interceptors } from 'undici';`,
      },
      {
        file: `${SHARED}/vendor/compensation-call.ts`,
        search: 'return clientOf(agent, NO_CREDENTIALS',
        replace: 'return clientOf(agent.compose(interceptors.redirect({ maxRedirections: 3 })), NO_CREDENTIALS',
      },
    ],
    manner: 'redirected',
  },
  {
    name: '422 tried again',
    edits: [
      {
        file: `${SHARED}/domain/classify.ts`,
        search: 'if (status === 429)',
        replace: 'if (status === 429 || status === 422)',
      },
    ],
    manner: 'refused',
  },
  {
    name: 'last in, first out by time',
    edits: [
      {
        file: `${SHARED}/store/advance-unwind.ts`,
        search: 'ORDER BY u.stack_position DESC LIMIT 1\n  ) n',
        replace: 'ORDER BY u.registered_at DESC LIMIT 1\n  ) n',
      },
      {
        file: `${SHARED}/store/advance-unwind.ts`,
        search: 'AND u.stack_position <= coalesce(d.unwind_from, 2147483647)',
        replace: '',
      },
    ],
  },
  {
    name: 'a lost answer counted as done',
    edits: [
      {
        file: `${SHARED}/domain/classify.ts`,
        search: `return { kind: 'unknown', permanent: false, code: 'outcome_unknown' };`,
        replace: `return { kind: 'done', accepted: false };`,
      },
    ],
  },
  {
    name: 'an old key sent again',
    edits: [
      {
        file: 'services/compensator/src/may-send.ts',
        search: 'if (!isKeyExpired(entry, spec) ||',
        replace: 'if (true ||',
      },
    ],
    manner: 'forgets_keys',
  },
  {
    name: 'secrets in the log',
    edits: [
      {
        file: `${SHARED}/vendor/compensation-call.ts`,
        search: 'headers.push(name, sent);',
        replace: 'headers.push(name, sent); console.error(name, sent);',
      },
    ],
  },
  {
    name: 'an audit entry forgotten now and then',
    edits: [
      {
        file: `${SHARED}/store/settle-entries.ts`,
        search: `FROM mine WHERE decision NOT IN ('retry', 'parked')`,
        replace: `FROM mine WHERE decision NOT IN ('retry', 'parked') AND random() < 0.9`,
      },
    ],
  },
];
