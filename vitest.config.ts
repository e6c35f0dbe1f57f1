import { defineConfig, defineProject } from 'vitest/config';
import { PlainCountReporter } from './test/support/plain-count-reporter.js';

// Our own packages are read from their sources, so that a test never meets a stale build. The processes that end-to-end
// tests start are bundled from them first.
const conditions = ['@undolog/source'];

// Where Vitest runs the global setups.
const environments = { __vitest__: { resolve: { conditions } } };

const SETUPS = {
  unit: [],
  integration: ['test/support/migrated-database.ts'],
  e2e: ['test/support/migrated-database.ts', 'test/support/bundled-processes.ts'],
};

/**
 * The groups run one after the other: what is proved by timing must not share the machine with the quick tests. Files
 * of one group share two workers, as most of them wait for servers more than they compute.
 */
const project = (name: keyof typeof SETUPS, groupOrder: number, timeoutMs: number) =>
  defineProject({
    resolve: { conditions },
    ssr: { resolve: { conditions } },
    environments,
    test: {
      name,
      include: [`test/${name}/**/*.test.ts`],
      testTimeout: timeoutMs,
      hookTimeout: 60_000,
      // A condition that holds at last has no second to do so in, least of all on a busy machine.
      expect: { poll: { timeout: 10_000 } },
      maxWorkers: name === 'e2e' ? 3 : 2,
      // Loading the same modules for every file takes longer than most tests. None replaces one, or leaves one changed.
      isolate: false,
      globalSetup: SETUPS[name],
      sequence: { groupOrder },
    },
  });

export default defineConfig({
  test: {
    projects: [project('unit', 0, 10_000), project('integration', 1, 30_000), project('e2e', 2, 60_000)],
    reporters: ['default', new PlainCountReporter()],
  },
});
