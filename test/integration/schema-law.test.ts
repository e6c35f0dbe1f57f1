import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SCHEMA_VERSIONS } from '@undolog/migrations/versions/index';
import { EFFECT_CLASSES } from '@undolog/shared/domain/effect-class';
import { FAILURE_POLICIES } from '@undolog/shared/domain/failure';
import { ROLES } from '@undolog/shared/domain/roles';
import { EFFECT_STATES, SESSION_STATES, UNDO_STATES, UNWINDING_SESSION_STATES } from '@undolog/shared/domain/states';
import { ATTEMPT_OUTCOMES } from '@undolog/shared/domain/verdict';
import { REQUIRED_SCHEMA } from '@undolog/shared/store/schema-version';
import { openStoreWorld, type StoreWorld } from '../support/store-world.js';

let world: StoreWorld;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ world, close } = await openStoreWorld('schema_law'));
});
afterAll(() => close());

/** The CHECK constraints of a table as they stand after every migration, each as Postgres writes it. */
async function checksOf(table: string): Promise<string[]> {
  const rows = await world.database.query<{ check: string }>({
    text: `SELECT pg_get_constraintdef(oid) AS check FROM pg_constraint
      WHERE conrelid = to_regclass($1) AND contype = 'c'`,
    values: [table],
  });
  return rows.map(({ check }) => check);
}

function wordsIn(check: string): string[] {
  return [...check.matchAll(/'([^']*)'/g)].map(([, word]) => word!);
}

/** The words of the constraint that says nothing but which words the column may hold. */
async function wordsAllowed(table: string, column: string): Promise<string[]> {
  const lists = (await checksOf(table)).filter((check) => check.startsWith(`CHECK ((${column} = ANY (ARRAY[`));
  expect(lists, `lists of ${table}.${column}`).toHaveLength(1);
  return wordsIn(lists[0]!);
}

describe('the database holds the same law as the code', () => {
  test.each([
    ['undolog_sessions', 'state', SESSION_STATES],
    ['undolog_effect_log', 'state', EFFECT_STATES],
    ['undolog_undo_stack', 'state', UNDO_STATES],
    ['undolog_attempts', 'outcome', ATTEMPT_OUTCOMES],
    ['undolog_effect_log', 'effect_class', EFFECT_CLASSES],
    ['undolog_sessions', 'on_compensation_failure', FAILURE_POLICIES],
    ['undolog_api_keys', 'role', ROLES],
  ] as const)('%s.%s takes the words of the code and no other', async (table, column, words) => {
    expect(new Set(await wordsAllowed(table, column))).toEqual(new Set(words));
  });

  test.each([
    ['undolog_sessions', SESSION_STATES],
    ['undolog_effect_log', EFFECT_STATES],
    ['undolog_undo_stack', UNDO_STATES],
  ] as const)('no constraint of %s speaks of a state that does not exist', async (table, states) => {
    const spoken = (await checksOf(table)).filter((check) => /\bstate\b/.test(check)).flatMap(wordsIn);
    expect(spoken.length).toBeGreaterThan(states.length);
    expect(states).toEqual(expect.arrayContaining(spoken));
  });

  test('a session has a time for the next look of the sweep exactly while the code calls it unwinding', async () => {
    const checks = (await checksOf('undolog_sessions')).filter((check) => check.includes('wake_at'));
    expect(checks).toHaveLength(1);
    expect(checks[0]).toMatch(/^CHECK \(\(\(state = ANY \(.*\)\) = \(wake_at IS NOT NULL\)\)\)$/);
    expect(new Set(wordsIn(checks[0]!))).toEqual(new Set(UNWINDING_SESSION_STATES));
  });
});

test('the schema that the services ask for is the newest migration', () => {
  expect(REQUIRED_SCHEMA).toBe(SCHEMA_VERSIONS.at(-1)!.name);
});
