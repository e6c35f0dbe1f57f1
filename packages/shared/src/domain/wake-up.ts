/** What to wake a worker for. Ids only: whoever gets it asks Postgres for the rest. */
export interface WakeUp {
  readonly orgId: string;
  readonly sessionId: string;
  /** The entry that is next; null: the session, for the sake of its parent or its children. */
  readonly undoId: string | null;
  /** Tells this wake-up from earlier ones of the same entry. */
  readonly fence: number;
  /** The effect of this entry is to be looked for, in a session that goes on; by default the entry is to be undone. */
  readonly task?: 'lookup';
  /** For whoever traces: the unwinds that this is part of. Carried beside the job's data, and nothing depends on it. */
  readonly trace?: string;
}
