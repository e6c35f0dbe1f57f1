/**
 * Writes the pages of `docs/` that repeat a table of the code, so that they can't drift from it. With `--check` it
 * writes nothing and fails when a page is not what it should be.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format } from 'prettier';
import { ERROR_CODES } from '@undolog/shared/domain/error-codes';
import { OUTCOMES } from '@undolog/shared/domain/outcomes';
import type { OutcomeRow } from '@undolog/shared/domain/outcome-row';
import { UNDO_CODES } from '@undolog/shared/domain/undo-codes';
import { VARIABLES } from '@undolog/shared/runtime/config';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

const NOTE = '<!-- Written by `npm run generate`. Change the code, not this page. -->';

function line(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n');
}

function errorsPage(): string {
  const rows = Object.entries(ERROR_CODES).map(([code, { status, title, meaning }]) => [
    `\`${code}\``,
    String(status),
    title,
    meaning,
  ]);
  return `${NOTE}

# Errors

Every error of the API is a problem (RFC 9457, \`application/problem+json\`) with \`type\`, \`title\`, \`status\`, \`detail\`
and \`code\`; for bad input also \`errors: [{path, message}]\`, where \`path\` is a JSON pointer into the body or query. The
\`code\` is what programs should look at: it never changes its meaning. \`type\` is \`urn:undolog:error:\` and the code.

${table(['code', 'status', 'title', 'meaning'], rows)}

Under an \`Idempotency-Key\` every answer to a body that was read is kept for 24 h, refusals with 400, 404, 409 and 422
included; 401, 403, 413, 415, 429 and 5xx are not, nor is a body that is not JSON.
`;
}

function configurationPage(): string {
  const rows = Object.entries(VARIABLES).map(([name, { unset, doc }]) => [`\`${name}\``, doc, unset]);
  return `${NOTE}

# Configuration

\`start:api\`, \`start:compensator\` and \`migrate\` read these variables and nothing else. One that is set to nothing counts
as unset. A process that finds one missing or not valid names all such variables and does not start.

${table(['variable', 'meaning', 'when unset'], rows)}
`;
}

function asCode(word: string | undefined): string {
  return word === undefined ? '' : `\`${word}\``;
}

function outcomesPage(): string {
  const rows = Object.entries<Readonly<Record<string, OutcomeRow>>>(OUTCOMES).flatMap(([group, members]) => [
    [`**${group}**`, '', '', ''],
    ...Object.values(members).map(({ when, does, state, code: why, proof, reason }) => {
      const told = why ?? proof ?? reason;
      return [when, does, asCode(state), asCode(told)];
    }),
  ]);
  const codes = Object.entries({ 'http_<status>': 'What the last call was answered with.', ...UNDO_CODES });
  return `${NOTE}

# Outcomes

Everything that can come of an undo entry. An end-to-end test plays each row, from a request to the vendor's own books.
\`failed\` and \`unconfirmed\` halt the session (under the policy \`continue\` once the entries below are settled) and open
a dead letter; \`running\` and \`active\` wait, and so do the entries below; after the others the unwind goes on. A row
that ends in \`http_…\` has the status of the last call. Which calls are retried, and how often, is told by \`retry\` and
\`outcomes\` of the compensation; why some are not, by
[ADR 22](adr/0022-when-a-call-is-not-sent-again.md).

${table(['when', 'what UndoLog does', 'state', 'code, proof or reason'], rows)}

## Codes

${table(
  ['code', 'meaning'],
  codes.map(([word, meaning]) => [asCode(word), meaning]),
)}
`;
}

const PAGES = {
  'docs/errors.md': errorsPage,
  'docs/configuration.md': configurationPage,
  'docs/outcomes.md': outcomesPage,
};

const check = process.argv.includes('--check');
for (const [path, render] of Object.entries(PAGES)) {
  const file = join(ROOT, path);
  const wanted = await format(render(), { parser: 'markdown', printWidth: 120, proseWrap: 'preserve' });
  const present = await readFile(file, 'utf8').catch(() => '');
  if (present === wanted) continue;
  if (check) {
    console.error(`${path} is not what the code says: run \`npm run generate\``);
    process.exitCode = 1;
  } else {
    await writeFile(file, wanted);
    console.log(`wrote ${path}`);
  }
}
