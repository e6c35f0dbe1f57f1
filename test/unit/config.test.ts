import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { ConfigError, loadConfig } from '@undolog/shared/runtime/config';

const env = { DATABASE_URL: 'postgres://postgres@127.0.0.1:5432/undolog' };
const key = randomBytes(32).toString('base64');

describe('the configuration', () => {
  test('is whole and frozen with only the database named', () => {
    const config = loadConfig(env);
    expect(Object.isFrozen(config)).toBe(true);
    expect(config).toMatchObject({
      port: 8080,
      healthPort: 8081,
      redisUrl: undefined,
      adminToken: undefined,
      egressAllow: '',
      concurrency: 50,
      sweepMs: 5000,
      rateLimitPerSecond: undefined,
      queuePrefix: 'bull',
      logLevel: 'info',
    });
  });

  test('counts a variable that is set to nothing as unset', () => {
    const config = loadConfig({ ...env, REDIS_URL: '', UNDOLOG_ADMIN_TOKEN: ' ', UNDOLOG_SWEEP_MS: '' });
    expect([config.redisUrl, config.adminToken, config.sweepMs]).toEqual([undefined, undefined, 5000]);
  });

  test('names every variable that is missing or wrong, and never a value', () => {
    const bad = { REDIS_URL: 'http://hunter2@h', PORT: '99999', UNDOLOG_CONCURRENCY: 'many', LOG_LEVEL: 'loud' };
    let message = '';
    try {
      loadConfig({ ...bad, UNDOLOG_ENCRYPTION_KEY: 'c2hvcnQ=' });
    } catch (error) {
      expect(error).toBeInstanceOf(ConfigError);
      message = (error as Error).stack!;
    }
    for (const name of ['DATABASE_URL is required', ...Object.keys(bad), 'UNDOLOG_ENCRYPTION_KEY']) {
      expect(message).toContain(name);
    }
    for (const value of ['hunter2', '99999', 'many', 'c2hvcnQ=']) expect(message).not.toContain(value);
  });

  test('refuses to run in production without an encryption key, and elsewhere says so', () => {
    expect(() => loadConfig({ ...env, NODE_ENV: 'production' })).toThrow('UNDOLOG_ENCRYPTION_KEY is required');
    expect(loadConfig({ ...env, NODE_ENV: 'production', UNDOLOG_ENCRYPTION_KEY: key }).encryptionKey).toHaveLength(32);
    expect(loadConfig(env).notices.join()).toContain('UNDOLOG_ENCRYPTION_KEY is unset');
    expect(loadConfig({ ...env, UNDOLOG_ENCRYPTION_KEY: key }).notices.join()).not.toContain('UNDOLOG_ENCRYPTION_KEY');
  });

  test('says at start when the queue runs on Postgres', () => {
    expect(loadConfig(env).notices.join()).toContain('REDIS_URL is unset');
    expect(loadConfig({ ...env, REDIS_URL: 'redis://127.0.0.1' }).notices.join()).not.toContain('REDIS_URL');
  });
});
