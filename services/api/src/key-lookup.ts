import { findKeys } from '@undolog/shared/store/api-keys';
import type { Database } from '@undolog/shared/store/database';
import { hashOfSecret, looksLikeKey } from './api-key.js';
import type { Caller } from './route.js';

interface Waiter {
  resolve(caller: Caller | undefined): void;
  reject(error: unknown): void;
}

/**
 * Finds who a key belongs to. Nothing is cached over time, so a revoked key is refused at once; but requests that come
 * while a look-up is under way share the next one, so that its cost is spread over all of them.
 *
 * Lifecycle: idle → (first key) look-up leaves in this tick's end → keys that arrive meanwhile wait → next look-up.
 */
export class KeyLookup {
  readonly #database: Database;
  #waiting = new Map<string, Waiter[]>();
  #busy = false;

  constructor(database: Database) {
    this.#database = database;
  }

  /** @throws {DatabaseUnavailable} when Postgres did not answer. */
  find(apiKey: string): Promise<Caller | undefined> {
    if (!looksLikeKey(apiKey)) return Promise.resolve(undefined);
    const secretHash = hashOfSecret(apiKey).toString('latin1');
    return new Promise((resolve, reject) => {
      const waiters = this.#waiting.get(secretHash);
      if (waiters) waiters.push({ resolve, reject });
      else this.#waiting.set(secretHash, [{ resolve, reject }]);
      if (this.#busy) return;
      this.#busy = true;
      setImmediate(() => void this.#lookUp());
    });
  }

  async #lookUp(): Promise<void> {
    while (this.#waiting.size > 0) {
      const asked = this.#waiting;
      this.#waiting = new Map();
      try {
        const hashes = [...asked.keys()].map((secretHash) => Buffer.from(secretHash, 'latin1'));
        const found = await findKeys(this.#database, hashes);
        const callers = new Map<string, Caller>(
          found.map(({ secretHash, orgId, keyId, role }) => [secretHash.toString('latin1'), { orgId, keyId, role }]),
        );
        for (const [secretHash, waiters] of asked) {
          for (const waiter of waiters) waiter.resolve(callers.get(secretHash));
        }
      } catch (error) {
        for (const waiter of [...asked.values()].flat()) waiter.reject(error);
      }
    }
    this.#busy = false;
  }
}
