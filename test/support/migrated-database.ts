import { freshDatabase, type FreshDatabase } from '@undolog/backends/fresh-database';
import { migrateSchema } from '@undolog/migrations/migrate';
import { inject } from 'vitest';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** A database with the schema, and nobody connected. */
    readonly migratedTemplate: string;
  }
}

function serverOfTheRun(): string {
  const url = process.env['DATABASE_URL'];
  if (!url) throw new Error('DATABASE_URL is unset: run the tests through npm test');
  return url;
}

/** The migrations run once for all test files: a copy of what they made takes a fraction of the time. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const template = await freshDatabase(serverOfTheRun(), 'migrated');
  await migrateSchema(template.url);
  project.provide('migratedTemplate', template.name);
  return () => template.drop();
}

/** A database with the schema, for one test file. */
export function migratedDatabase(name: string): Promise<FreshDatabase> {
  return freshDatabase(serverOfTheRun(), name, inject('migratedTemplate'));
}
