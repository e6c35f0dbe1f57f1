import type { SerializedError } from 'vitest';
import type { Reporter, TestModule, TestRunEndReason, TestSuite } from 'vitest/node';
import { type TestCounts, verdictLine } from './test-counts.js';

function hasFailedByItself(suite: TestSuite | TestModule): boolean {
  return suite.errors().length > 0;
}

/**
 * Counts what Vitest's own summary says in colours, for readers that want one plain line.
 *
 * Whatever went wrong counts as a failure, so that the line can't say less than the exit code: a file that could not be
 * loaded, a hook that failed, an error that no test owned, a run that was broken off. `npm test` (test/run.ts) takes the
 * counts as a message and prints the line when everything is stopped; without it the line is printed here.
 */
export class PlainCountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[], reason: TestRunEndReason): void {
    const counts: TestCounts = { passed: 0, failed: errors.length, skipped: 0 };
    for (const module of modules) {
      if (hasFailedByItself(module)) counts.failed++;
      for (const suite of module.children.allSuites()) if (hasFailedByItself(suite)) counts.failed++;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        counts[state === 'passed' || state === 'failed' ? state : 'skipped']++;
      }
    }
    if (reason !== 'passed' && counts.failed === 0) counts.failed = 1;
    if (process.send) process.send(counts);
    else process.stdout.write(`${verdictLine(counts)}\n`);
  }
}
