import { describe, expect, test } from 'vitest';
import { createVault } from '@undolog/shared/runtime/vault';
import { DatabaseUnavailable, type Database, type Tx } from '@undolog/shared/store/database';
import { GroupCommit } from '@undolog/shared/store/group-commit';
import type { Operation } from '@undolog/shared/store/operation';

interface Echo {
  readonly key: string;
  readonly alone?: boolean;
}

/** Answers its own key; `alone` inputs ask to be run by themselves. */
const echo: Operation<Echo, string> = {
  name: 'echo',
  run: (_tx, _orgId, input) => Promise.resolve(`alone ${input.key}`),
  batch: {
    key: (input) => input.key,
    lock: (input) => ({ sessionId: input.key }),
    statements: () => [{ text: 'echo' }],
    read: (_rows, inputs) => inputs.map((input) => (input.alone ? 'alone' : `shared ${input.key}`)),
  },
};

/** A database that only counts: what a flight carries is in its lock statement. */
function fakeDatabase(fly: (sessionIds: string[]) => Promise<void>): Database {
  const tx: Tx = { vault: createVault(undefined), query: () => Promise.resolve([]) };
  return {
    ...tx,
    transaction: (work) => work(tx),
    async flight(statements) {
      await fly(statements[0]!.values![1] as string[]);
      return statements.map(() => []);
    },
    async flightInTwo(statements, conclude) {
      await fly(statements[0]!.values![1] as string[]);
      const rows = statements.map(() => []);
      return (await conclude(rows)) && rows;
    },
    close: () => Promise.resolve(),
  };
}

const options = { maxFlightsPerOrg: 1, maxInputsPerFlight: 10 };
const later = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('group commit', () => {
  test('what arrives together shares a transaction, what arrives during one shares the next; equal keys never do', async () => {
    const flights: string[][] = [];
    const commits = new GroupCommit(
      fakeDatabase(async (ids) => {
        flights.push(ids);
        await later();
      }),
      options,
    );
    const submit = (key: string) => commits.submit(echo, 'org', { key });
    const early = Promise.all(['a', 'b', 'b'].map(submit));
    await later();
    const late = Promise.all(['c', 'd'].map(submit));
    expect([...(await early), ...(await late)]).toEqual(['a', 'b', 'b', 'c', 'd'].map((key) => `shared ${key}`));
    expect(flights).toEqual([
      ['a', 'b'],
      ['b', 'c', 'd'],
    ]);
  });

  test('orgs never share a transaction', async () => {
    const flights: string[][] = [];
    const commits = new GroupCommit(
      fakeDatabase(async (ids) => {
        flights.push(ids);
        await later();
      }),
      options,
    );
    await Promise.all(
      ['x', 'y'].flatMap((org) => ['a', 'b', 'c'].map((key) => commits.submit(echo, org, { key: org + key }))),
    );
    for (const ids of flights) expect(new Set(ids.map((id) => id[0]))).toHaveProperty('size', 1);
  });

  test('when a shared transaction fails for its contents, each operation runs alone', async () => {
    const commits = new GroupCommit(
      fakeDatabase(() => Promise.reject(new Error('poison'))),
      options,
    );
    const submit = (key: string) => commits.submit(echo, 'org', { key });
    expect(await Promise.all(['a', 'b'].map(submit))).toEqual(['alone a', 'alone b']);
  });

  test('C92: when Postgres does not answer, the outcome is unknown to all of them and nothing is run again', async () => {
    const commits = new GroupCommit(
      fakeDatabase(() => Promise.reject(new DatabaseUnavailable('gone'))),
      options,
    );
    const submit = (key: string) => commits.submit(echo, 'org', { key });
    const results = await Promise.allSettled(['a', 'b'].map(submit));
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });

  test('what was committed is never run again, even if its answer can not be read', async () => {
    let ranAlone = 0;
    const unreadable: Operation<Echo, string> = {
      ...echo,
      run: () => Promise.resolve(`alone ${++ranAlone}`),
      batch: {
        ...echo.batch!,
        read: () => {
          throw new Error('unreadable');
        },
      },
    };
    const commits = new GroupCommit(fakeDatabase(later), options);
    const results = await Promise.allSettled(['a', 'b'].map((key) => commits.submit(unreadable, 'org', { key })));
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(ranAlone).toBe(0);
  });

  test('an operation that needs more than the shared statement runs alone, and drain waits for it', async () => {
    const commits = new GroupCommit(fakeDatabase(later), options);
    let answer = '';
    void commits.submit(echo, 'org', { key: 'a', alone: true }).then((value) => (answer = value));
    await commits.drain();
    await later();
    expect(answer).toBe('alone a');
  });
});
