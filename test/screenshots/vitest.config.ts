import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const conditions = ['@undolog/source'];

/** Pictures for the documents, not proofs: they are made by `npm run screenshots` and looked at. */
export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  environments: { __vitest__: { resolve: { conditions } } },
  test: {
    globalSetup: [fileURLToPath(new URL('../support/migrated-database.ts', import.meta.url))],
    include: ['test/screenshots/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
