import { RawJson, UndoLog } from '@undolog/client';
import { MANNERS, type MannerName } from '../vendor/manners.js';

/** An org of the run, and everybody's way to the api with its keys. */
export interface Tenant {
  readonly orgId: string;
  /** Words that nobody may ever see outside of the vendor's calls. */
  readonly canaries: readonly string[];
  readonly agent: UndoLog;
  readonly operator: UndoLog;
  readonly operatorKey: string;
}

/** Long enough for every outage of a run, so that an agent gives up on nothing. */
const TRIES = 60;
const TRY_MS = 5000;

/** A client that asks another api at each try. */
export function clientOf(apiKey: string, pickApi: () => string): UndoLog {
  return new UndoLog({
    baseUrl: 'http://an.api',
    apiKey,
    timeoutMs: TRY_MS,
    maxRetries: TRIES,
    fetch: (url, init) => fetch((url as string).replace('http://an.api', pickApi()), init),
  });
}

const CONFIRMING = new Set<MannerName>(['accepted', 'confirmed', 'lying']);

/** Shorter than the wait before the second call. */
const KEY_TTL_SECONDS = 3;

function retryOf(manner: MannerName): object {
  switch (manner) {
    case 'deadly':
    case 'replayed_500':
      return { max_retries: 3, initial_ms: 50, max_ms: 500 };
    case 'forgets_keys':
      return { max_retries: 3, initial_ms: 5000, max_ms: 5000, jitter: 'none' };
    default:
      return { max_retries: 20, initial_ms: 50, max_ms: 500 };
  }
}

/** How the undo of each manner is registered; the same names in every org, with addresses of its own. */
function compensationOf(manner: MannerName, base: string): Record<string, unknown> {
  return {
    url: `${base}/undo/${manner}`,
    timeout_ms: 1500,
    headers: { 'x-vendor-token': { secret: 'vendor_token' } },
    retry: retryOf(manner),
    ...(manner === 'forgets_keys' && { key_ttl_seconds: KEY_TTL_SECONDS }),
    outcomes: {
      done: [404, 410],
      retry: [409],
      body: [{ pointer: '/status', equals: 'error', is: 'permanent' }],
    },
    ...(CONFIRMING.has(manner) && {
      confirm: {
        url: `${base}/record/{args.ref}`,
        done_when: { pointer: '/state', equals: 'cancelled' },
        budget_ms: 3000,
        interval_ms: 250,
      },
    }),
    ...(manner === 'looked_up' && {
      lookup: { url: `${base}/bookings/{effect.idempotency_key}`, absent_on_status: [404], settle_ms: 500 },
    }),
  };
}

export async function openTenant(options: {
  readonly name: string;
  readonly adminToken: string;
  readonly vendorUrl: string;
  readonly pickApi: () => string;
}): Promise<Tenant> {
  const { name, adminToken, vendorUrl, pickApi } = options;
  const answer = await fetch(`${pickApi()}/v1/orgs`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name }),
  });
  if (answer.status !== 201) throw new Error(`no org: ${answer.status} ${await answer.text()}`);
  const { org_id: orgId, api_key: apiKey } = (await answer.json()) as { org_id: string; api_key: string };
  const admin = clientOf(apiKey, pickApi);
  const canaries = ['token', 'password'].map((word) => `canary-${word}-of-${orgId}`);
  await putSecret(pickApi(), apiKey, canaries[0]!);
  for (const manner of Object.keys(MANNERS) as MannerName[]) {
    await admin.compensations.put(manner, '1', compensationOf(manner, `${vendorUrl}/${orgId}`));
  }
  const [agent, operator] = await Promise.all(
    (['agent', 'operator'] as const).map((role) => admin.keys.create({ role })),
  );
  return {
    orgId,
    canaries,
    agent: clientOf(agent!.api_key, pickApi),
    operator: clientOf(operator!.api_key, pickApi),
    operatorKey: operator!.api_key,
  };
}

async function putSecret(api: string, apiKey: string, value: string): Promise<void> {
  const answer = await fetch(`${api}/v1/secrets/vendor_token`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ value }),
  });
  if (answer.status !== 204) throw new Error(`no secret: ${answer.status} ${await answer.text()}`);
}

/** Arguments that have broken others before: they must come to the vendor as they are, and break nothing. */
const POISONS = ['"\\u0000"', '"\\ud800"', '{"__proto__":{"constructor":1}}', '9007199254740993.0', '"\'; DROP TABLE"'];

/** The arguments of a call, with a note that nobody can make anything of. */
export function argsOf(ref: string, password: string, odd: number | undefined): RawJson {
  const note = odd === undefined ? 'null' : POISONS[odd % POISONS.length]!;
  return new RawJson(`{"ref":${JSON.stringify(ref)},"password":${JSON.stringify(password)},"note":${note}}`);
}
