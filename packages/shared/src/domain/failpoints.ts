/** The places at which a process can be made to break, for the chaos suite; see ADR 32. */
export const FAILPOINTS = [
  'before_commit',
  'after_commit',
  'before_post',
  'after_post',
  'after_answer',
  'before_enqueue',
  'after_enqueue',
] as const;
export type Failpoint = (typeof FAILPOINTS)[number];

/** Called whenever a place is reached. */
export type Reach = (point: Failpoint) => void;

export const reachUnarmed: Reach = () => undefined;
