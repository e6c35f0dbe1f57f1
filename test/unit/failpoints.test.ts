import { describe, expect, test } from 'vitest';
import { loadConfig } from '@undolog/shared/runtime/config';
import { armFailpoints, parseFailpoints } from '@undolog/shared/runtime/failpoints';

const env = { DATABASE_URL: 'postgres://postgres@127.0.0.1:5432/undolog' };

describe('a failpoint', () => {
  test('acts when its place is reached for the named time, and only then', () => {
    const reach = armFailpoints(parseFailpoints('before_commit=throw@2')!);
    reach('before_commit');
    reach('after_commit');
    expect(() => reach('before_commit')).toThrow('failpoint before_commit');
    reach('before_commit');
  });

  test('is nothing but a call of one empty function where none is armed', () => {
    expect(armFailpoints(loadConfig(env).failpoints)).toBe(armFailpoints([]));
  });

  test.each(['before_lunch=kill@1', 'before_post=dance@1', 'before_post=kill', 'before_post=kill@1;', 'kill@1'])(
    'that is written as %s is no failpoint, and the process does not start',
    (text) => {
      expect(parseFailpoints(text)).toBeUndefined();
      expect(() => loadConfig({ ...env, UNDOLOG_FAILPOINTS: text })).toThrow('UNDOLOG_FAILPOINTS must be');
    },
  );

  test('is refused in production', () => {
    const production = { ...env, NODE_ENV: 'production', UNDOLOG_ENCRYPTION_KEY: Buffer.alloc(32).toString('base64') };
    expect(() => loadConfig({ ...production, UNDOLOG_FAILPOINTS: 'before_post=kill@1' })).toThrow('refused');
    expect(loadConfig(production).failpoints).toEqual([]);
  });
});
