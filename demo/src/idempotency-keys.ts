/** What a vendor answers; kept under the request's key, so that a repeat gets the very same answer. */
export interface VendorAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export type KeyState =
  | { readonly state: 'absent' }
  | { readonly state: 'in_flight' }
  | { readonly state: 'complete'; readonly answer: VendorAnswer }
  /** The key came before with another request; answering the old one would be a lie. */
  | { readonly state: 'other_request' };

interface KeyRecord {
  readonly request: string;
  answer: VendorAnswer | undefined;
}

/** The vendor's side of idempotency: a key is absent, in flight or complete, and never runs twice. */
export class IdempotencyKeys {
  readonly #records = new Map<string, KeyRecord>();

  /** Looks the key up and, when it is absent, takes it. `request` is the path and body that the key stands for. */
  take(key: string, request: string): KeyState {
    const record = this.#records.get(key);
    if (record === undefined) {
      this.#records.set(key, { request, answer: undefined });
      return { state: 'absent' };
    }
    if (record.request !== request) return { state: 'other_request' };
    return record.answer === undefined ? { state: 'in_flight' } : { state: 'complete', answer: record.answer };
  }

  complete(key: string, answer: VendorAnswer): void {
    const record = this.#records.get(key);
    if (record === undefined) throw new Error(`the key ${key} was never taken`);
    record.answer = answer;
  }
}
