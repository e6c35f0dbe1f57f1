/** What a run left behind, as the checker reads it. Nothing here is the product's word, but for its database. */

/** One call as the vendor met it. `line`: its place in the vendor's log, which is the order of things. */
export interface VendorCall {
  readonly line: number;
  readonly atMs: number;
  readonly kind: 'book' | 'undo' | 'record' | 'bookings' | 'trap';
  readonly org: string;
  /** Of an undo, the manner; of a question, whose record. */
  readonly name: string;
  readonly key: string;
  readonly ref: string;
  readonly token: string | null;
  readonly session: string | null;
  readonly effect: string | null;
  readonly body: string;
  readonly decided: { readonly says: string; readonly status: number | null; readonly applied: boolean } | undefined;
  readonly closed: { readonly line: number; readonly atMs: number; readonly delivered: boolean } | undefined;
}

/** What an agent or an operator sent or was told. */
export interface HistoryLine {
  readonly atMs: number;
  readonly event: string;
  readonly org: string;
  readonly session: string;
  readonly effect: string;
  readonly undo: string;
  readonly key: string;
  readonly ref: string;
  readonly decision: string;
  readonly outcome: string;
  /** Of the effect, as it was told. */
  readonly state: string;
  readonly report: string;
  readonly manner: string;
  readonly position: number;
  readonly seen: boolean;
}

export interface SessionRow {
  readonly org_id: string;
  readonly session_id: string;
  readonly state: string;
  readonly failed_ms: number | null;
}

export interface EntryRow {
  readonly org_id: string;
  readonly undo_id: string;
  readonly session_id: string;
  readonly effect_id: string;
  readonly stack_position: number;
  readonly generation: number;
  readonly state: string;
  readonly proof: string | null;
  readonly reason: string | null;
  readonly fn_name: string | null;
  readonly superseded_by: string | null;
}

export interface EffectRow {
  readonly org_id: string;
  readonly effect_id: string;
  readonly session_id: string;
  readonly state: string;
  readonly reported: string | null;
  readonly executed_ms: number;
  readonly committed: boolean;
}

export interface AttemptRow {
  readonly undo_id: string;
  readonly attempt: number;
  readonly at_ms: number;
  readonly status: number | null;
}

export interface LetterRow {
  readonly org_id: string;
  readonly session_id: string;
  readonly state: string;
  readonly code: string;
}

export interface MoveRow {
  readonly at_ms: number;
  readonly org_id: string;
  readonly thing: 'session' | 'effect' | 'undo';
  readonly id: string;
  readonly from_state: string;
  readonly to_state: string;
}

export interface AuditRow {
  readonly org_id: string;
  readonly action: string;
  readonly session_id: string | null;
  readonly undo_id: string | null;
}

export interface SealRow {
  readonly org_id: string;
  readonly number: number;
  readonly entries: number;
  readonly found: number;
  readonly hash: string;
  readonly made_again: string;
}

/** What the harness did. */
export interface RunFacts {
  readonly plannedSessions: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly canaries: readonly string[];
  readonly healedAtMs: number;
  /** Nothing was broken from the first to the second. */
  readonly quietMs: readonly [number, number];
}

export interface Evidence {
  readonly run: RunFacts;
  readonly calls: readonly VendorCall[];
  readonly history: readonly HistoryLine[];
  readonly sessions: readonly SessionRow[];
  readonly entries: readonly EntryRow[];
  readonly effects: readonly EffectRow[];
  readonly attempts: readonly AttemptRow[];
  readonly letters: readonly LetterRow[];
  /** In the order in which they were made. */
  readonly moves: readonly MoveRow[];
  readonly audit: readonly AuditRow[];
  readonly seals: readonly SealRow[];
  readonly unsealed: number;
  /** Places where a canary was found. */
  readonly leaks: readonly string[];
}

/** What an invariant found: how many things it looked at, and those that are wrong, in words. */
export interface Finding {
  readonly looked: number;
  readonly violations: readonly string[];
}

export interface Invariant {
  readonly name: string;
  readonly promise: string;
  check(evidence: Evidence): Finding;
}

/** Looks at each and collects the words. */
export function judge<T>(items: readonly T[], wrong: (item: T) => string | undefined): Finding {
  return { looked: items.length, violations: items.flatMap((item) => wrong(item) ?? []) };
}

export function together(...findings: readonly Finding[]): Finding {
  return {
    looked: findings.reduce((sum, { looked }) => sum + looked, 0),
    violations: findings.flatMap(({ violations }) => violations),
  };
}

export function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}

/** A session, of its org; two orgs have sessions of the same ids. */
export function sessionOf(row: { readonly org_id: string; readonly session_id: string }): string {
  return `${row.org_id} ${row.session_id}`;
}
