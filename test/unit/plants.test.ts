import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { PLANTS } from '../chaos/plants/plants.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

describe('a bug that the chaos suite must find', () => {
  test.each(PLANTS)('has its place in the sources: $name', ({ edits }) => {
    for (const { file, search, replace } of edits) {
      expect(readFileSync(ROOT + file, 'utf8').split(search), `${file}: ${search}`).toHaveLength(2);
      expect(replace).not.toBe(search);
    }
  });
});
