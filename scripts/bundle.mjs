/**
 * `node scripts/bundle.mjs`: makes what runs: of each process's sources its `dist/main.js` (ADR 33), and the web page that
 * the api serves. Types are not looked at; `tsc -b` does that.
 */
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';
import { build as buildPage } from 'vite';

const PROCESSES = ['services/api', 'services/compensator', 'migrations'];

/** Stay packages: they find a part of theirs by its name or beside their code, or are loaded where somebody asks for them. */
const APART = ['knex', 'msgpackr-extract', /^@bull-board\//, /^@scalar\//, /^@opentelemetry\/(?!api$)/];

const at = (folder) => fileURLToPath(new URL(`../${folder}`, import.meta.url));

function bundle(folder) {
  return build({
    cwd: at(folder),
    input: 'src/main.ts',
    platform: 'node',
    external: APART,
    resolve: { conditionNames: ['@undolog/source', 'node'] },
    output: { dir: 'dist', chunkFileNames: '[name].js', sourcemap: true },
  });
}

await Promise.all([...PROCESSES.map(bundle), buildPage({ root: at('packages/dashboard'), logLevel: 'warn' })]);
