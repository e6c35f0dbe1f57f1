/** What the dead-letter queue tells: which session has halted, and where to read about it. Ids only. */
export interface DeadLetterNotice {
  readonly orgId: string;
  readonly sessionId: string;
  readonly deadLetterId: string;
}
