/**
 * What agents hand over and what vendors gave back is sealed before it is written. The vault is the only way in and
 * out of a sealed column; its keys are elsewhere (`runtime/vault.ts`).
 */

/** The columns that are kept sealed. */
export type SealedColumn =
  | 'effect_args'
  | 'effect_result'
  | 'effect_error'
  | 'undo_args'
  | 'spec'
  | 'kept_answer'
  | 'secret'
  | 'signing_secret'
  | 'webhook';

/** Where a value belongs. It is sealed for one place and opens nowhere else: not in another org, row or column. */
export interface Place {
  readonly orgId: string;
  readonly column: SealedColumn;
  /** Names the row within its org. */
  readonly row: string;
}

/** Why a value can't be read: its key is not here (and may come back), or it is not what was written. */
export const UNSEAL_FAULTS = ['encryption_key_missing', 'value_damaged'] as const;
export type UnsealFault = (typeof UNSEAL_FAULTS)[number];

export type Unsealed =
  { readonly ok: true; readonly text: string } | { readonly ok: false; readonly fault: UnsealFault };

/** Stands for a text whose repeats must be recognised, and tells nothing about it to who has not the key. */
export interface Fingerprint {
  /** As it is kept. */
  readonly bytes: Uint8Array;
  /** Whether `kept` stands for the same text. @throws {UnreadableValue} when it was made with a key that is not here. */
  matches(kept: Uint8Array): boolean;
}

export interface Vault {
  /** Without a key, values are kept as they are. */
  readonly hasKey: boolean;
  seal(place: Place, text: string): Uint8Array;
  unseal(place: Place, bytes: Uint8Array): Unsealed;
  fingerprint(orgId: string, text: string): Fingerprint;
}

/** Thrown where nothing can be done without the value. */
export class UnreadableValue extends Error {
  override readonly name = 'UnreadableValue';
  readonly fault: UnsealFault;
  constructor(fault: UnsealFault) {
    super(fault);
    this.fault = fault;
  }
}
