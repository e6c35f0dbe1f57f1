import type { Knex } from 'knex';
import { initialSchema } from './0001-initial-schema.js';

export interface SchemaVersion extends Knex.Migration {
  readonly name: string;
}

/** In the order in which they run; a version that was released is never edited. */
export const SCHEMA_VERSIONS: readonly SchemaVersion[] = [initialSchema];
