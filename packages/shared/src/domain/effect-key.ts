/** The idempotency key of the forward call, for the agent to hand to the vendor; derived, so that it needs no column. */
export function effectKey(effectId: string): string {
  return `effect-${effectId}`;
}

/** The one idempotency key of an undo entry: the same on every try, crash, resume and re-drive. */
export function undoKey(undoId: string): string {
  return `undo-${undoId}`;
}
