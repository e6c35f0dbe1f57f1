import { defineConfig } from 'vitest/config';
import { PlainCountReporter } from '../support/plain-count-reporter.js';

// Apart from the projects of `npm test`: it needs a container engine and builds an image.
export default defineConfig({
  test: {
    name: 'compose',
    dir: import.meta.dirname,
    include: ['*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 900_000,
    reporters: ['default', new PlainCountReporter()],
  },
});
