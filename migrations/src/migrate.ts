import knex from 'knex';
import { SCHEMA_VERSIONS, type SchemaVersion } from './versions/index.js';

/** Any fixed number will do, as long as no other program on the database takes it. */
const MIGRATION_LOCK = 7_310_531_204;

const source = {
  getMigrations: (): Promise<SchemaVersion[]> => Promise.resolve([...SCHEMA_VERSIONS]),
  getMigrationName: (version: SchemaVersion): string => version.name,
  getMigration: (version: SchemaVersion): Promise<SchemaVersion> => Promise.resolve(version),
};

/**
 * Brings the database to the newest schema version; several at once take turns.
 *
 * The turn is an advisory lock, which Postgres releases when its holder dies. Knex's own lock is a row that a killed
 * run leaves behind, so it is freed once the turn is ours.
 *
 * @returns the names of the versions that ran, empty when the database was up to date.
 */
export async function migrateSchema(databaseUrl: string): Promise<string[]> {
  const turn = knex({ client: 'pg', connection: databaseUrl, pool: { min: 1, max: 1 } });
  const work = knex({
    client: 'pg',
    connection: databaseUrl,
    pool: { min: 0, max: 2 },
    migrations: { migrationSource: source, tableName: 'undolog_migrations' },
  });
  try {
    await turn.raw('SELECT pg_advisory_lock(?)', [MIGRATION_LOCK]);
    await work.migrate.forceFreeMigrationsLock();
    const [, names] = (await work.migrate.latest()) as [number, string[]];
    return names;
  } finally {
    await work.destroy();
    await turn.destroy();
  }
}
