import pg from 'pg';

const { builtins } = pg.types;

/** `2026-12-01 09:30:00.12+00`, as Postgres prints it under TimeZone=UTC, to `2026-12-01T09:30:00.120000Z`. */
export function toRfc3339(text: string): string {
  const seconds = text.slice(0, 19).replace(' ', 'T');
  const fraction = text.slice(20).replace('+00', '');
  return `${seconds}.${fraction.padEnd(6, '0')}Z`;
}

/** Reads columns without losing anything: timestamps keep their microseconds, counters stay numbers. */
export const columnTypes: pg.CustomTypesConfig = {
  getTypeParser(oid, format) {
    if (oid === builtins.TIMESTAMPTZ) return toRfc3339 as never;
    if (oid === builtins.INT8) return Number as never;
    return pg.types.getTypeParser(oid, format as 'text') as never;
  },
};
