import { describe, expect, test } from 'vitest';
import type { Evidence, HistoryLine, VendorCall } from '../chaos/checker/evidence.js';
import { check, INVARIANTS, NOTHING_SEEN } from '../chaos/checker/invariants.js';

const ORG = 'org-1';
const SESSION = 's-1';

function callOf(more: Partial<VendorCall> & Pick<VendorCall, 'line' | 'kind'>): VendorCall {
  const { line } = more;
  const effect = more.effect ?? 'e1';
  return {
    atMs: 1000 + line,
    org: ORG,
    name: 'ok',
    key: `undo-u${effect.slice(1)}`,
    ref: `s-1#${effect.slice(1)}`,
    token: `canary-token-of-${ORG}`,
    session: SESSION,
    effect,
    body: 'the hash',
    decided: { says: 'done', status: 200, applied: true },
    closed: { line: line + 1, atMs: 1000 + line, delivered: true },
    ...more,
  };
}

const line = (event: string, more: Partial<HistoryLine> = {}): HistoryLine =>
  ({ atMs: 500, event, org: ORG, session: SESSION, report: 'commits', ...more }) as HistoryLine;

const registered = (n: number): HistoryLine =>
  line('registered', { effect: `e${n}`, undo: `u${n}`, position: n, key: `effect-e${n}`, decision: 'execute' });

const entryOf = (n: number, more: object = {}) => ({
  org_id: ORG,
  undo_id: `u${n}`,
  session_id: SESSION,
  effect_id: `e${n}`,
  stack_position: n,
  generation: 1,
  state: 'compensated',
  proof: 'answered',
  reason: null,
  fn_name: 'ok',
  superseded_by: null,
  ...more,
});

const effectOf = (n: number) => ({
  org_id: ORG,
  effect_id: `e${n}`,
  session_id: SESSION,
  state: 'compensated',
  reported: null,
  executed_ms: 500,
  committed: true,
});

const moveOf = (from: string, to: string) => ({
  at_ms: 1000,
  org_id: ORG,
  thing: 'session' as const,
  id: SESSION,
  from_state: from,
  to_state: to,
});

const audited = (action: string, undo: string | null = null) => ({
  org_id: ORG,
  action,
  session_id: SESSION,
  undo_id: undo,
});

const COMPLETED = { org_id: ORG, session_id: 's-2', state: 'completed', failed_ms: null };

/** A run in which two calls were made, and undone from the top down after a failure. */
const SOUND: Evidence = {
  run: {
    plannedSessions: 2,
    faults: { 'Redis flushed': 1 },
    canaries: [`canary-token-of-${ORG}`],
    healedAtMs: 2000,
    quietMs: [0, 10_000],
  },
  calls: [
    callOf({ line: 0, kind: 'book', key: 'effect-e1', effect: 'e1' }),
    callOf({ line: 2, kind: 'book', key: 'effect-e2', effect: 'e2' }),
    callOf({ line: 4, kind: 'undo', effect: 'e2' }),
    callOf({ line: 6, kind: 'undo', effect: 'e1' }),
  ],
  history: [
    line('opened'),
    registered(1),
    registered(2),
    line('committed', { effect: 'e1' }),
    line('failed', { atMs: 900 }),
    line('acting'),
    line('settled', { atMs: 3000 }),
  ],
  sessions: [{ org_id: ORG, session_id: SESSION, state: 'compensated', failed_ms: 900 }, COMPLETED],
  entries: [entryOf(1), entryOf(2)],
  effects: [effectOf(1), effectOf(2)],
  attempts: [{ undo_id: 'u9', attempt: 1, at_ms: 100, status: 422 }],
  letters: [],
  moves: [moveOf('active', 'failed'), moveOf('failed', 'compensating'), moveOf('halted', 'compensating')],
  audit: [
    audited('undo.compensated', 'u2'),
    audited('undo.compensated', 'u1'),
    audited('session.compensated'),
    { ...audited('session.completed'), session_id: 's-2' },
  ],
  seals: [{ org_id: ORG, number: 1, entries: 4, found: 4, hash: 'aa', made_again: 'aa' }],
  unsealed: 0,
  leaks: [],
};

function broken(evidence: Evidence): string[] {
  return check(evidence).flatMap(({ invariant, violations }) => (violations.length > 0 ? [invariant.name] : []));
}

const [bookOne, bookTwo, undoTwo, undoOne] = SOUND.calls as [VendorCall, VendorCall, VendorCall, VendorCall];
const withCalls = (...calls: VendorCall[]): Partial<Evidence> => ({ calls: [bookOne, bookTwo, ...calls] });
const withHistory = (...lines: HistoryLine[]): Partial<Evidence> => ({ history: [...SOUND.history, ...lines] });
const LOST = [{ ...COMPLETED, state: 'compensating' }, COMPLETED];

/** Each of them is wrong in one way. */
const WRONG: readonly (readonly [invariant: string, what: string, change: Partial<Evidence>])[] = [
  ['I1', 'a registration is lost', withHistory({ ...registered(3), effect: 'e3', undo: 'u3' })],
  ['I1', 'a commit is lost', { effects: [{ ...effectOf(1), committed: false }, effectOf(2)] }],
  ['I1', 'a failure was told before it was committed', withHistory(line('failed', { atMs: -5000 }))],
  ['I1', 'a completion is lost', withHistory(line('completed'))],
  ['I2', 'a call came before its acknowledgement', { calls: [{ ...bookOne, atMs: 1 }, bookTwo, undoTwo, undoOne] }],
  ['I3', 'the lower one came first', withCalls({ ...undoOne, line: 4 }, { ...undoTwo, line: 6 })],
  ['I4', 'a key is no entry’s', withCalls(undoTwo, undoOne, { ...undoOne, key: 'undo-x', line: 8 })],
  ['I4', 'a key has two bodies', withCalls(undoTwo, undoOne, { ...undoOne, body: 'another', line: 8 })],
  ['I4', 'a key was applied twice', withCalls(undoTwo, undoOne, { ...undoOne, line: 8 })],
  [
    'I5',
    'two keys were in flight',
    withCalls({ ...undoTwo, closed: { line: 9, atMs: 1009, delivered: true } }, undoOne),
  ],
  [
    'I6',
    'a booking stands',
    withCalls(undoTwo, { ...undoOne, decided: { says: 'done', status: 200, applied: false } }),
  ],
  ['I6', 'nobody was told of a halt', { sessions: [{ ...COMPLETED, state: 'halted', session_id: 's-3' }] }],
  ['I7', 'a session has not ended', { sessions: [...SOUND.sessions, { ...LOST[0]!, session_id: 's-3' }] }],
  ['I7', 'it took too long', { run: { ...SOUND.run, healedAtMs: -60_000 } }],
  ['I8', 'it left halted by itself', { moves: [...SOUND.moves, moveOf('halted', 'compensating')] }],
  ['I9', 'a completed session was undone', withCalls(undoTwo, undoOne, { ...undoOne, session: 's-2', line: 8 })],
  ['I10', 'another org’s address was called', withCalls(undoTwo, { ...undoOne, org: 'org-2' })],
  ['I10', 'another org’s secret was sent', withCalls(undoTwo, { ...undoOne, token: 'canary-token-of-org-2' })],
  ['I10', 'a trap was called', withCalls(undoTwo, undoOne, { ...undoOne, kind: 'trap' })],
  ['I10', 'a stranger could read', withHistory(line('snooped', { seen: true }))],
  ['I11', 'a state went where it may not', { moves: [...SOUND.moves, moveOf('resolved', 'active')] }],
  ['I11', 'the audit log tells something else', { audit: SOUND.audit.slice(1) }],
  [
    'I12',
    'nobody ever said done',
    withCalls({ ...undoTwo, decided: { ...undoTwo.decided!, says: 'nothing' } }, undoOne),
  ],
  ['I12', 'the record never showed it', { entries: [entryOf(1, { proof: 'confirmed' }), entryOf(2)] }],
  ['I13', 'a canary was seen', { leaks: ['a canary is in the log'] }],
  ['I14', 'an entry was changed', { seals: [{ ...SOUND.seals[0]!, made_again: 'bb' }] }],
  ['I14', 'a seal is missing', { seals: [{ ...SOUND.seals[0]!, number: 2 }] }],
  ['I15', 'it called again', { attempts: [...SOUND.attempts, { undo_id: 'u9', attempt: 2, at_ms: 200, status: 422 }] }],
  ['P', 'too few sessions ended', { run: { ...SOUND.run, plannedSessions: 3 } }],
  ['P', 'no fault was hit', { run: { ...SOUND.run, faults: {} } }],
  ['T', 'the first undo came late', { calls: SOUND.calls.map((one) => ({ ...one, atMs: one.atMs + 4000 })) }],
];

describe('the checker of the chaos suite', () => {
  test('finds nothing in a run that is sound', () => {
    expect(check(SOUND).flatMap(({ violations }) => violations)).toEqual([]);
  });

  test.each(WRONG)('breaks %s when %s', (invariant, _what, change) => {
    expect(broken({ ...SOUND, ...change })).toContain(invariant);
  });

  test('has no invariant that never breaks', () => {
    expect(new Set(WRONG.map(([invariant]) => invariant))).toEqual(new Set(INVARIANTS.map(({ name }) => name)));
  });

  test('takes an invariant that had nothing to look at for a broken one', () => {
    const seen = check({ ...SOUND, calls: [] });
    expect(seen.find(({ invariant }) => invariant.name === 'I3')?.violations).toEqual([NOTHING_SEEN]);
  });
});
