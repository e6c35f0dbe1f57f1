import { readFile, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { ORG_ROUTES } from '@undolog/api/routes/all-routes';
import { createOrgRoute } from '@undolog/api/routes/orgs';
import { describeApi } from '@undolog/api/openapi';
import { EXIT } from '@undolog/cli/exit-codes';
import { runCommandLine } from '@undolog/cli/program';
import { ERROR_CODES } from '@undolog/shared/domain/error-codes';
import { UNDO_CODES } from '@undolog/shared/domain/undo-codes';
import type { ProcessFault } from '@undolog/shared/process/process-fault';
import { beforeAll, describe, expect, test } from 'vitest';
import { alertRules, read } from '../support/ops-files.js';

/** What `/readyz` may name; a process that names another one does not compile. */
const FAULTS: Record<ProcessFault | 'postgres_unreachable', true> = {
  postgres_unreachable: true,
  queue_mismatch: true,
  redis_evicting_policy: true,
  redis_unreachable: true,
  schema_not_migrated: true,
};

const headings = (section: string, hashes: string): string[] =>
  [...section.matchAll(new RegExp(`^${hashes} (.+)$`, 'gm'))].map(([, title]) => title!);

const { auth: NOT_SIGNED_IN, usage: USAGE } = EXIT;

/** The anchor that a heading has on the page. */
const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');

/** The word that a section is about. */
const wordOf = (title: string): string => /^`?([\w<>]+)`?/.exec(title)![1]!;

describe('docs/runbook.md', () => {
  let page: string;
  beforeAll(async () => {
    page = await read('docs/runbook.md');
  });

  const sectionsOf = (title: string): string[] => {
    const part = page.split(/^## /m).find((one) => one.startsWith(`${title}\n`));
    return headings(part ?? '', '###').map(wordOf);
  };

  test('has a section for every alert and every code of an undo, and for no other', async () => {
    const alerts = (await alertRules()).map(({ alert }) => alert);
    expect(sectionsOf('Alerts').toSorted()).toEqual(alerts.toSorted());
    expect(sectionsOf('Codes of undos').toSorted()).toEqual(['http_<status>', ...Object.keys(UNDO_CODES)].toSorted());
    expect(sectionsOf('Faults of a process').toSorted()).toEqual(Object.keys(FAULTS));
  });

  test('begins with what to do about a halted session, in ten steps', () => {
    const [, first] = page.split(/^## /m);
    expect(first).toMatch(/^A session is halted: what now/);
    expect([...first!.matchAll(/^\d+\. /gm)]).toHaveLength(10);
  });

  test('names no error, alert, code, metric or field that does not exist', async () => {
    const errors = sectionsOf('Errors of the API');
    expect(errors.filter((code) => !(code in ERROR_CODES))).toEqual([]);
    expect(errors.length).toBeGreaterThan(10);
    const known = [
      JSON.stringify(describeApi('')),
      ...Object.keys(UNDO_CODES),
      ...Object.keys(FAULTS),
      await read('ops/prometheus/alerts.yml'),
      await read('packages/shared/src/runtime/config.ts'),
      ...[...page.matchAll(/^```sql\n(.*?)^```/gms)].map(([, sql]) => sql),
    ].join('\n');
    const words = [...page.matchAll(/`([a-zA-Z]+(?:_[a-zA-Z]+)+)`|\b(Undolog[A-Z]\w+)\b/g)].map(([, a, b]) => a ?? b!);
    expect(words.length).toBeGreaterThan(50);
    expect([...new Set(words)].filter((word) => !new RegExp(`\\b${word}\\b`).test(known))).toEqual([]);
  });

  test('names only routes that there are', () => {
    const served = new Set(
      [createOrgRoute, ...ORG_ROUTES].map(({ method, path }) => `${method.toUpperCase()} ${path}`),
    );
    const named = [...page.matchAll(/\b(GET|POST|PUT|DELETE)\s+(\/v1\/[\w/{}-]+)/g)].map(
      ([, method, path]) => `${method} ${path}`,
    );
    expect(named.length).toBeGreaterThan(20);
    expect([...new Set(named)].filter((route) => !served.has(route))).toEqual([]);
  });

  test('gives only commands that the command line takes as they stand', async () => {
    const streams = { write: () => true };
    const words = (command: string): string[] =>
      [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) =>
        (quoted ?? bare!).replace('<number>', '1').replace('<hash>', 'a'.repeat(64)).replaceAll(/[<>…]/g, ''),
      );
    const run = (command: string): Promise<number> =>
      runCommandLine(words(command), {
        stdout: streams,
        stderr: streams,
        // Nobody is signed in, so a command that is taken ends before it speaks to anybody.
        env: { XDG_CONFIG_HOME: '/nowhere' },
        color: false,
        signal: new AbortController().signal,
        ask: undefined,
      });
    const commands = [...page.replaceAll(/\s+/g, ' ').matchAll(/`undolog ([^`]+)`/g)].map(([, command]) => command!);
    expect(commands.length).toBeGreaterThan(15);
    for (const command of new Set(commands)) expect([command, await run(command)]).toEqual([command, NOT_SIGNED_IN]);
    expect(await run('dlq skip 1')).toBe(USAGE);
    expect(await run('dlq drain --dry-run')).toBe(USAGE);
  });

  test('leads nowhere that is not there, and neither does an alert', async () => {
    const anchors = new Set(headings(page, '#{1,3}').map(anchorOf));
    const inside = [...page.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor]) => anchor!);
    const fromAlerts = (await alertRules()).map(({ annotations }) =>
      annotations.runbook.replace('docs/runbook.md#', ''),
    );
    expect([...inside, ...fromAlerts].filter((anchor) => !anchors.has(anchor))).toEqual([]);
    for (const [, path, anchor] of page.matchAll(/\]\(([^#)]+)(?:#([^)]+))?\)/g)) {
      const file = fileURLToPath(new URL(`../../docs/${path}`, import.meta.url));
      expect((await stat(file)).isFile()).toBe(true);
      if (anchor) expect(headings(await readFile(file, 'utf8'), '#{1,3}').map(anchorOf)).toContain(anchor);
    }
  });
});
