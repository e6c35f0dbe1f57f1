/**
 * Holds the import rules of .dependency-cruiser.mjs against the code, and then against a fixture in which every one of
 * them is broken: if the fixture breaks one rule less, that rule has stopped working.
 */
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const FIXTURE = join(ROOT, 'test/fixtures/import-rules');
const RULES = join(ROOT, '.dependency-cruiser.mjs');
const DEPCRUISE = join(ROOT, 'node_modules/.bin/depcruise');
const WORKSPACES = ['packages', 'services', 'migrations', 'demo', 'bench', 'test', 'scripts'];

interface Report {
  readonly summary: { readonly violations: { readonly rule: { readonly name: string } }[] };
}

function cruise(cwd: string, output: string, folders: readonly string[]): { status: number | null; stdout: string } {
  const args = ['--config', RULES, '--output-type', output, ...folders];
  return spawnSync(DEPCRUISE, args, {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 2 ** 28,
  });
}

const code = cruise(ROOT, 'err-long', WORKSPACES);
process.stdout.write(code.stdout);

const fixture = JSON.parse(
  cruise(FIXTURE, 'json', ['packages', 'services', 'migrations', 'demo', 'test']).stdout,
) as Report;
const broken = new Set(fixture.summary.violations.map(({ rule }) => rule.name));
const { default: config } = (await import(RULES)) as { default: { forbidden: { name: string }[] } };
const toothless = config.forbidden.map(({ name }) => name).filter((name) => !broken.has(name));
for (const name of toothless) console.error(`import rule ${name}: the fixture must break it, and nothing was reported`);
if (toothless.length === 0) console.log(`✔ each of the ${config.forbidden.length} import rules fails where it must`);

process.exitCode = code.status !== 0 || toothless.length > 0 ? 1 : 0;
