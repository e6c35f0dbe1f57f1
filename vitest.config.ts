import { defineConfig, defineProject } from 'vitest/config';
import { PlainCountReporter } from './test/support/plain-count-reporter.js';

// Our own packages are read from their sources, so that a test never meets a stale build. The processes that end-to-end
// tests start are bundled from them first.
const conditions = ['@undolog/source'];

/**
 * The groups run one after the other: what is proved by timing must not share the machine with the quick tests. Files
 * of one group share two workers, as most of them wait for servers more than they compute.
 */
const project = (name: string, groupOrder: number, timeoutMs: number) =>
  defineProject({
    resolve: { conditions },
    ssr: { resolve: { conditions } },
    test: {
      name,
      include: [`test/${name}/**/*.test.ts`],
      testTimeout: timeoutMs,
      hookTimeout: 60_000,
      maxWorkers: name === 'e2e' ? 3 : 2,
      // End-to-end tests speak to processes: nothing that a file leaves in its worker could reach another.
      isolate: name !== 'e2e',
      globalSetup: name === 'e2e' ? ['test/support/bundled-processes.ts'] : [],
      sequence: { groupOrder },
    },
  });

export default defineConfig({
  test: {
    projects: [project('unit', 0, 10_000), project('integration', 1, 30_000), project('e2e', 2, 60_000)],
    reporters: ['default', new PlainCountReporter()],
  },
});
