import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bodyOf, type AgentSession, type Org } from '../support/api-client.js';
import { runUndolog, settled, type Ran } from '../support/command-line.js';
import { openWorld, type World } from '../support/world.js';

let world: World;
let org: Org;
let env: Record<string, string>;
beforeAll(async () => {
  world = await openWorld({ name: 'cli' });
  org = await world.newOrg();
  env = { UNDOLOG_URL: world.api.url, UNDOLOG_API_KEY: org.apiKey };
});
afterAll(() => world.close());

const undolog = (...words: string[]): Promise<Ran> => runUndolog(words, env);
const ONCE = { retry: { max_retries: 0 }, wait_out_outages: false };

async function halted(path: string, id: string): Promise<{ session: AgentSession; letterId: string }> {
  world.vendor.script(path, { status: 400 });
  const session = await org.booked(['/fine', path], { session: { session_id: id, agent_name: 'cli' }, spec: ONCE });
  await session.fail('the card was declined');
  await session.reaches('halted');
  const [letter] = await org.deadLetters(id);
  return { session, letterId: letter!.dead_letter_id };
}

describe('a halted session on the command line', () => {
  it('is found, shown with what stands and what to do, and driven to its end', async () => {
    const { session, letterId } = await halted('/cli/broken', 'cli-1');
    const shown = await undolog('sessions', 'show', 'cli-1');
    expect(shown.exitCode).toBe(0);
    expect(settled(shown.stdout)).toMatchInlineSnapshot(`
      "cli-1 halted cli
      failed <time> reported the card was declined

      still standing
      POSITION TOOL REPORTED WHY
      2 book committed http_400
      1 book committed not_undone

      undo stack, the last call first
      POSITION TOOL UNDO COMPENSATION PROOF OR CODE ATTEMPTS
      2 book failed undo /cli/broken@1 http_400 400 refused
      1 book active undo /fine@1 –

      halted <time> at position 2 http_400
      the vendor refused (400), so nothing was undone; correct the arguments and retry, skip or resolve

      what you can do:
      COMMAND
      undolog dlq confirm <uuid> only ask the vendor
      undolog dlq retry <uuid> call again, under the same key, with a fresh budget
      undolog dlq retry <uuid> --args '{…}' call with other arguments; only if no call can have taken effect
      undolog dlq skip <uuid> --reason … leave it standing, and undo the rest
      undolog dlq resolve <uuid> --reason … you have seen to all of it by hand
      "
    `);
    const listed = await undolog('dlq', 'list', '--agent', 'cli');
    expect(settled(listed.stdout)).toMatchInlineSnapshot(`
      "DEAD LETTER SESSION POSITION COMPENSATION CODE ATTEMPTS WAITING HALTED
      <uuid> cli-1 2 undo /cli/broken@1 http_400 1 1 <time> open
      "
    `);
    const asJson = await undolog('dlq', 'show', letterId, '--json');
    expect(JSON.parse(asJson.stdout)).toMatchObject({ dead_letter_id: letterId, code: 'http_400', version: 1 });
    expect((await undolog('sessions', 'watch', 'cli-1')).exitCode).toBe(7);
    const retried = await undolog('dlq', 'retry', letterId, '--reason', 'fixed at the vendor');
    expect([retried.exitCode, retried.stdout]).toEqual([0, 'cli-1 is compensating\n']);
    const watched = await undolog('sessions', 'watch', 'cli-1');
    expect(watched.exitCode).toBe(0);
    expect(session.standing()).toEqual([]);
    const again = await undolog('dlq', 'retry', letterId);
    expect(again.exitCode).toBe(5);
    expect(again.stderr).toContain('dead_letter_closed');
  });

  it('is skipped, resolved, corrected and confirmed as the person says', async () => {
    const [skipped, resolved, corrected] = [
      await halted('/cli/skipped', 'cli-skip'),
      await halted('/cli/resolved', 'cli-resolve'),
      await halted('/cli/corrected', 'cli-correct'),
    ];
    expect((await undolog('dlq', 'skip', skipped.letterId)).exitCode).toBe(2);
    expect((await undolog('dlq', 'confirm', skipped.letterId)).stderr).toContain('no_confirm');
    expect((await undolog('dlq', 'skip', skipped.letterId, '--reason', 'keeps it')).exitCode).toBe(0);
    const evidence = ['--reason', 'by hand', '--evidence', '{"ticket":7}'];
    expect((await undolog('dlq', 'resolve', resolved.letterId, ...evidence)).exitCode).toBe(0);
    expect((await undolog('dlq', 'retry', corrected.letterId, '--args', '{oops')).exitCode).toBe(2);
    const args = '{"ref":{"$args":"/ref"},"order":9007199254740993}';
    expect((await undolog('dlq', 'retry', corrected.letterId, '--args', args)).exitCode).toBe(0);
    await corrected.session.reaches('compensated');
    expect(String(corrected.session.undos().find((call) => String(call.body).includes('order'))!.body)).toContain(
      '9007199254740993',
    );
    expect((await skipped.session.reaches('compensated')).fully_compensated).toBe(false);
    expect((await resolved.session.view()).state).toBe('resolved');
  });

  it('among many is drained after it was counted, and only if the person says yes', async () => {
    const path = '/cli/drain';
    world.vendor.always(path, { status: 400 });
    const sessions = await Promise.all(Array.from({ length: 12 }, () => org.booked([path], { spec: ONCE })));
    await Promise.all(sessions.map((session) => session.fail()));
    await Promise.all(sessions.map((session) => session.reaches('halted')));
    world.vendor.heal(path);
    const filter = ['--fn', await org.compensation(path, ONCE)];
    expect((await undolog('dlq', 'drain')).exitCode).toBe(2);
    expect((await undolog('dlq', 'drain', ...filter, '--dry-run')).stdout).toBe('12 dead letters match\n');
    expect((await undolog('dlq', 'drain', ...filter)).exitCode).toBe(2);
    const no = await runUndolog(['dlq', 'drain', ...filter], env, { ask: () => Promise.resolve('no') });
    expect([no.exitCode, no.stderr]).toEqual([0, 'nothing was done\n']);
    expect(world.vendor.ledger.at(path)).toHaveLength(12);
    const drained = await undolog('dlq', 'drain', ...filter, '--yes', '--json');
    expect([drained.exitCode, JSON.parse(drained.stdout)]).toEqual([0, { matched: 12, applied: 12, refused: [] }]);
    await Promise.all(sessions.map((session) => session.reaches('compensated')));
  });
});

describe('the command line', () => {
  it('answers with exit codes that a program can act on', async () => {
    const codes = async (words: string[], other: Partial<typeof env> = {}): Promise<number> =>
      (await runUndolog(words, { ...env, ...other })).exitCode;
    expect(await codes(['whoami'])).toBe(0);
    expect(await codes(['sessions', 'frobnicate'])).toBe(2);
    expect(await codes(['sessions', 'list', '--what'])).toBe(2);
    expect(await codes(['whoami'], { UNDOLOG_API_KEY: 'ul_wrong' })).toBe(3);
    expect(await runUndolog(['whoami'], { HOME: '/nowhere' })).toMatchObject({ exitCode: 3, stdout: '' });
    expect(await codes(['sessions', 'show', 'nobody'])).toBe(4);
    expect(await codes(['--help'])).toBe(0);
    const lost = await runUndolog(['sessions', 'list'], { ...env, UNDOLOG_URL: 'http://127.0.0.1:59999' });
    expect([lost.exitCode, lost.stdout]).toEqual([1, '']);
    expect(lost.stderr).toContain('ECONNREFUSED');
  });

  it('never lets data act on the terminal, in tables or in JSON', async () => {
    const evil = '\u001b[2J\u001b]0;owned\u0007\u009b31m\u202eevil\u2066<img onerror=x>\r\n\u0000';
    await org.compensation('/evil');
    const session = await org.open({ session_id: 'evil', metadata: evil });
    await session.register('/evil', { args: { ref: evil } });
    await org.post(`${session.path}/fail`, { reason: evil });
    await session.reaches('compensated');
    for (const words of [
      ['sessions', 'show', 'evil'],
      ['audit', 'list'],
      ['sessions', 'list'],
      ['dlq', 'list', '--all'],
    ]) {
      for (const more of [[], ['--json']]) {
        const { stdout, exitCode } = await undolog(...words, ...more);
        expect(exitCode).toBe(0);
        // oxlint-disable-next-line no-control-regex -- what must not be there.
        expect(stdout.replaceAll('\n', '')).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
        if (more.length > 0) expect(stdout).not.toContain('\u202e');
      }
    }
    const json = JSON.parse((await undolog('sessions', 'show', 'evil', '--json')).stdout) as { session: object };
    expect(json.session).toMatchObject({ metadata: evil, failure: { reason: evil } });
  });

  it('keeps a login for its user alone, and shows it to nobody', async () => {
    const home = await mkdtemp(join(tmpdir(), 'undolog-cli-'));
    const answers = [org.apiKey];
    const ask = (_question: string, secret?: boolean): Promise<string> => {
      expect(secret).toBe(true);
      return Promise.resolve(answers.shift()!);
    };
    const signedIn = await runUndolog(['login', '--url', world.api.url], { HOME: home }, { ask });
    expect(signedIn.exitCode).toBe(0);
    expect(signedIn.stdout + signedIn.stderr).not.toContain(org.apiKey);
    const file = join(home, '.config/undolog/config.json');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readFile(file, 'utf8')).toContain(org.apiKey);
    expect((await runUndolog(['whoami'], { HOME: home })).stdout).toContain(`${world.api.url} as admin`);
    await rm(home, { recursive: true });
  });

  it('makes, lists and revokes keys, and proves the audit log', async () => {
    const made = await undolog('keys', 'create', 'operator', '--name', 'night shift');
    const key = made.stdout.trim();
    expect((await runUndolog(['whoami'], { ...env, UNDOLOG_API_KEY: key })).stdout).toContain('as operator');
    const keys = JSON.parse((await undolog('keys', 'list', '--json')).stdout) as { key_id: string; name: string }[];
    const { key_id: id } = keys.find(({ name }) => name === 'night shift')!;
    expect((await undolog('keys', 'revoke', id)).exitCode).toBe(0);
    await expect.poll(async () => (await runUndolog(['whoami'], { ...env, UNDOLOG_API_KEY: key })).exitCode).toBe(3);
    await expect
      .poll(async () => (await undolog('audit', 'verify')).stderr, { timeout: 10_000 })
      .toContain('to keep elsewhere');
    const proved = await undolog('audit', 'verify');
    const head = /(\d+:[0-9a-f]{64})/.exec(proved.stderr)![1]!;
    expect((await undolog('audit', 'verify', '--head', head)).exitCode).toBe(0);
    const other = await undolog(
      'audit',
      'verify',
      '--head',
      head.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
    );
    expect([other.exitCode, other.stdout]).toEqual([1, expect.stringContaining('is not the one that you kept')]);
  });

  it('probes an endpoint, and says what UndoLog would make of its answers', async () => {
    const fnName = await org.compensation('/probe');
    const probed = await undolog('compensations', 'test', fnName, '1', '--yes', '--args', '{"ref":"nothing"}');
    expect(settled(probed.stdout)).toMatchInlineSnapshot(`
      "STEP ANSWER MEANS
      undo of what was never done 200 done ok
      the same twice under one key 200, 200 answered alike ok
      the record – none: a "done" is taken at its word ok
      "
    `);
    world.vendor.always('/probe', { status: 503 });
    const down = await undolog('compensations', 'test', fnName, '1', '--yes', '--json');
    expect(down.exitCode).toBe(1);
    expect(JSON.parse(down.stdout)).toMatchObject([{ status: 503, good: false }, {}, {}]);
    expect((await undolog('compensations', 'test', fnName, '1')).exitCode).toBe(2);
    expect((await undolog('compensations', 'list')).stdout).toContain(fnName);
  });

  it('plays a trip with a vendor of its own, and shows by the vendor’s record that nothing stands', async () => {
    const played = await undolog('demo');
    expect(played.exitCode, played.stderr).toBe(0);
    expect(settled(played.stdout)).toMatchInlineSnapshot(`
      "session <uuid>
      booked flight
      booked hotel
      failed no car left
      the session is compensated
      BOOKING IN THE VENDOR'S OWN RECORD
      flight cancelled
      hotel cancelled
      "
    `);
  });

  it('says whether all is well, and completes its own words', async () => {
    const doctor = await undolog('doctor', '--json');
    const { checks } = JSON.parse(doctor.stdout) as { checks: { name: string; ok: boolean }[] };
    expect(checks.map(({ name }) => name)).toEqual(['api', 'clock', 'key', 'dead letters', 'vendors']);
    expect(checks.slice(0, 3).every(({ ok }) => ok)).toBe(true);
    const words = (await undolog('completion', 'bash')).stdout;
    expect(words).toContain("'dlq') words='list show retry skip resolve confirm drain");
  });

  it('follows what happens, a line each, until it is stopped', async () => {
    const stop = new AbortController();
    const tail = runUndolog(['tail', '--json'], env, { signal: stop.signal });
    await new Promise((resolve) => setTimeout(resolve, 1500));
    const session = await org.open({ session_id: 'tailed' });
    expect(bodyOf(await org.post(`${session.path}/complete`))['state']).toBe('completed');
    await new Promise((resolve) => setTimeout(resolve, 1500));
    stop.abort();
    const lines = (await tail).stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines).toContainEqual(
      expect.objectContaining({ session_id: 'tailed', event: 'session', state: 'completed' }),
    );
  });
});
