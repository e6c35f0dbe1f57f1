/**
 * The rules of this project that are about text, not types or imports. Each stands beside an example that breaks it, and a
 * run fails when a rule lets its own example pass: a rule that can't fail holds nothing.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const WORKSPACES = ['packages', 'services', 'migrations', 'demo', 'bench', 'test', 'scripts'];
const SKIPPED = /(^|\/)(node_modules|dist|fixtures)\//;

/** What ships and runs for others; the rest is tools, which own their process and its environment. */
const PRODUCT = /^(packages\/(?!backends\/)|services\/|migrations\/)/;
const EVERYTHING = /^/;
const NOWHERE = /$^/;

interface Rule {
  readonly name: string;
  readonly why: string;
  readonly appliesTo: RegExp;
  readonly except: RegExp;
  /** Looked for in the code, comments aside; with a number, in files of more lines than that. */
  readonly forbidden: RegExp | number;
  readonly example: string;
  readonly examplePath?: string;
}

const RULES: readonly Rule[] = [
  {
    name: 'the environment is read in config.ts',
    why: 'options in, environment out: one validated, frozen config is handed down',
    appliesTo: PRODUCT,
    except: /^packages\/(shared\/src\/runtime\/config|cli\/src\/main)\.ts$/,
    forbidden: /\bprocess\.env\b/,
    example: `const url = process.env['DATABASE_URL'];`,
  },
  {
    name: 'main.ts alone listens and exits',
    why: 'whatever else it is, a module can be imported without anything happening',
    appliesTo: PRODUCT,
    // The vendor of the command line's demo is a server, for as long as that command runs.
    except: /\/main\.ts$|^packages\/cli\/src\/demo-vendor\.ts$/,
    forbidden: /\.listen\(|\bprocess\.exit\(/,
    example: `createServer(handle).listen(8080);`,
  },
  {
    name: 'the queue room alone makes workers',
    why: 'it is the only importer of bullmq; main.ts decides when one starts',
    appliesTo: PRODUCT,
    except: /^packages\/shared\/src\/queue\//,
    forbidden: /\bnew Worker\(/,
    example: `const worker = new Worker(name, process);`,
  },
  {
    name: 'SQL is in the store and in the migrations',
    why: 'a stranger finds every statement in one folder, one file per operation',
    appliesTo: PRODUCT,
    except: /^(packages\/(shared|receiver)\/src\/store|migrations)\//,
    forbidden: /['"`]\s*(SELECT|INSERT INTO|UPDATE \w|DELETE FROM|WITH \w+ AS|TRUNCATE|LISTEN|NOTIFY|LOCK|SET)\b/,
    example: 'await db.query(`\n  SELECT state FROM undolog_sessions`);',
  },
  {
    name: 'time, ids and chance come from clock.ts',
    why: 'the domain gets them as arguments; what time decides, the database decides',
    appliesTo: PRODUCT,
    except: /^packages\/(shared\/src\/runtime\/clock|client\/src\/chance|cli\/src\/clock|dashboard\/src\/clock)\.ts$/,
    forbidden: /\bDate\.now\b|\bnew Date\(|\bperformance\.now\b|\bMath\.random\b|\brandomUUID\b/,
    example: `const startedAt = new Date();`,
  },
  {
    name: 'no wildcard barrels',
    why: 'an import names the file that it needs',
    appliesTo: EVERYTHING,
    except: NOWHERE,
    forbidden: /^export \* from/m,
    example: `export * from './states.js';`,
  },
  {
    name: 'no utils, helpers, common',
    why: 'a file is a duty with a job title',
    appliesTo: /(^|\/)(utils?|helpers?|common|misc)(\/|\.ts$)/,
    except: NOWHERE,
    forbidden: /^/,
    example: '',
    examplePath: 'packages/shared/src/helpers.ts',
  },
  {
    name: 'no file above 300 lines',
    why: 'it does two things',
    appliesTo: EVERYTHING,
    except: NOWHERE,
    forbidden: 300,
    example: '\n'.repeat(301),
  },
  {
    name: 'the unwinder stays within 200 lines',
    why: 'the heart must be read in one go',
    appliesTo: /^services\/compensator\/src\/unwinder\.ts$/,
    except: NOWHERE,
    forbidden: 200,
    example: '\n'.repeat(201),
    examplePath: 'services/compensator/src/unwinder.ts',
  },
];

/** Keeps the line breaks, so that line numbers stay true. A `//` behind a colon is part of an address. */
function withoutComments(text: string): string {
  return text.replace(/\/\*.*?\*\//gs, (comment) => comment.replace(/[^\n]/g, '')).replace(/(?<!:)\/\/[^\n]*/g, '');
}

/** The line at which the file breaks the rule, or undefined. */
function brokenAt(rule: Rule, path: string, text: string): number | undefined {
  if (!rule.appliesTo.test(path) || rule.except.test(path)) return undefined;
  if (typeof rule.forbidden === 'number') {
    const lines = text.split('\n').length - 1;
    return lines > rule.forbidden ? lines : undefined;
  }
  const code = withoutComments(text);
  const found = rule.forbidden.exec(code);
  return found === null ? undefined : code.slice(0, found.index).split('\n').length;
}

function sourceFiles(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => relative(ROOT, join(ROOT, folder, name)))
    .filter((path) => /\.(m?ts|tsx|css)$/.test(path) && !SKIPPED.test(path));
}

let faults = 0;
for (const path of WORKSPACES.flatMap(sourceFiles)) {
  const text = readFileSync(join(ROOT, path), 'utf8');
  for (const rule of RULES) {
    const line = brokenAt(rule, path, text);
    if (line === undefined) continue;
    faults++;
    console.error(`${path}:${line}: ${rule.name} (${rule.why})`);
  }
}
for (const rule of RULES) {
  if (brokenAt(rule, rule.examplePath ?? 'services/api/src/example.ts', rule.example) !== undefined) continue;
  faults++;
  console.error(`source rule "${rule.name}" lets its own example pass`);
}
if (faults === 0) console.log(`✔ ${RULES.length} source rules, each of which fails where it must`);
process.exitCode = Math.min(faults, 1);
