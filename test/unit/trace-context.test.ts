import { expect, test } from 'vitest';
import { childTraceparent } from '@undolog/shared/runtime/trace-context';

const TRACE = '0af7651916cd43dd8448eb211c80319c';

test('an undo is a new span in the trace of its registration, sampled as that was', () => {
  const parent = `00-${TRACE}-b7ad6b7169203331-00`;
  const [one, other] = [childTraceparent(parent), childTraceparent(parent)];
  expect(one).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-00$`));
  expect(one).not.toContain('b7ad6b7169203331');
  expect(one).not.toBe(other);
});

test.each([
  null,
  '',
  'garbage',
  `00-${'0'.repeat(32)}-b7ad6b7169203331-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  `ff-${TRACE}-b7ad6b7169203331-01`,
  `00-${TRACE.toUpperCase()}-b7ad6b7169203331-01`,
  `00-${TRACE}-b7ad6b7169203331-01\r\nx: y`,
])('without a valid parent (%j) it starts a trace of its own', (parent) => {
  const child = childTraceparent(parent);
  expect(child).toMatch(/^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-01$/);
  expect(child).not.toContain(TRACE);
});
