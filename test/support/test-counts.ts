export interface TestCounts {
  passed: number;
  failed: number;
  skipped: number;
}

/** The last line of `npm test`, which machines read: `12 passed, 0 failed, 1 skipped`. */
export function verdictLine({ passed, failed, skipped }: TestCounts): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}
