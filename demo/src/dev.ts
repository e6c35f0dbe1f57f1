/**
 * `npm run dev`: an api and two compensators on fresh or named backends, as the demo starts them, and nothing else. It
 * prints where they are and runs until Ctrl-C; what was started vanishes with it.
 */
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startUndoLog } from './processes.js';
import { createOrg } from './undolog-client.js';

const stopAsked = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
const logDirectory = await mkdtemp(join(tmpdir(), 'undolog-dev-'));
const undolog = await startUndoLog({ logDirectory, log: (line) => console.error(line) });
try {
  const { apiKey } = await createOrg(undolog.apiUrl, undolog.adminToken, 'dev');
  console.log(`
api          ${undolog.apiUrl}   (docs: ${undolog.apiUrl}/docs)
api key      ${apiKey}   (role admin, org dev)
admin token  ${undolog.adminToken}
database     ${undolog.databaseUrl}
redis        ${undolog.redisUrl ?? 'none: the queue runs on the database'}
logs         ${logDirectory}

Ctrl-C stops and removes it all but the logs.`);
  await stopAsked;
} finally {
  await undolog.stop();
}
