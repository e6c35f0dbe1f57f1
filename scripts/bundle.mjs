/**
 * `node scripts/bundle.mjs`: makes of each process's sources what runs, its `dist/main.js` (ADR 33). Types are not looked
 * at; `tsc -b` does that.
 */
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';

const PROCESSES = ['services/api', 'services/compensator', 'migrations'];

/** Stay packages: they find a part of theirs by its name or beside their code, or are loaded where somebody asks for them. */
const APART = ['knex', 'msgpackr-extract', /^@bull-board\//, /^@scalar\//, /^@opentelemetry\/(?!api$)/];

function bundle(folder) {
  return build({
    cwd: fileURLToPath(new URL(`../${folder}`, import.meta.url)),
    input: 'src/main.ts',
    platform: 'node',
    external: APART,
    resolve: { conditionNames: ['@undolog/source', 'node'] },
    output: { dir: 'dist', chunkFileNames: '[name].js', sourcemap: true },
  });
}

await Promise.all(PROCESSES.map(bundle));
