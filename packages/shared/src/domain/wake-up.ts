/** The next entry to wake a worker for. Ids only: whoever gets it asks Postgres for the rest. */
export interface WakeUp {
  readonly orgId: string;
  readonly sessionId: string;
  readonly undoId: string;
  /** Tells this wake-up from earlier ones of the same entry. */
  readonly fence: number;
}
