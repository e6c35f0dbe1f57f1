import { z } from 'zod';
import { isAddressRange } from './egress-policy.js';
import { parseFailpoints, type ArmedFailpoint } from './failpoints.js';

/**
 * The only reader of the environment. Every variable stands in one table with its meaning, its bounds and its default;
 * `docs/configuration.md` is generated from the same table. A variable that is set to nothing counts as unset.
 */

const KEY_BYTES = 32;
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,10}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().min(min).max(max));

const urlOf = (...protocols: string[]) =>
  z.string().refine(
    (text) => {
      if (!URL.canParse(text)) return false;
      return protocols.includes(new URL(text).protocol);
    },
    `must be a ${protocols.map((protocol) => `${protocol}//`).join(' or ')} address`,
  );

const encryptionKey = z
  .base64(`must be ${KEY_BYTES} bytes in base64`)
  .transform((text) => Uint8Array.from(Buffer.from(text, 'base64')))
  .refine((bytes) => bytes.length === KEY_BYTES, `must be ${KEY_BYTES} bytes in base64`);

const encryptionKeys = z
  .string()
  .max(10_000)
  .transform((text) => text.split(',').map((part) => part.trim()))
  .pipe(z.array(encryptionKey));

const addressRanges = z
  .string()
  .max(10_000)
  .transform((text) => text.split(/[\s,]+/))
  .pipe(z.array(z.string().refine(isAddressRange, 'must be addresses or CIDRs, separated by commas')));

const failpoints = z
  .string()
  .max(10_000)
  .transform(parseFailpoints)
  .refine((armed) => armed !== undefined, 'must be such as before_post=kill@3, separated by commas');

export const VARIABLES = {
  DATABASE_URL: {
    schema: urlOf('postgres:', 'postgresql:'),
    unset: 'required',
    doc: 'Postgres 15 or newer, the truth of everything.',
  },
  REDIS_URL: {
    schema: urlOf('redis:', 'rediss:').optional(),
    unset: 'the queue runs on `DATABASE_URL`',
    doc: 'Redis for the queue. All processes of one installation must agree on it.',
  },
  PORT: { schema: wholeNumber(0, 65_535).default(8080), unset: '8080', doc: 'Where the api listens.' },
  UNDOLOG_HEALTH_PORT: {
    schema: wholeNumber(0, 65_535).default(8081),
    unset: '8081',
    doc: 'Where either process answers `/healthz`, `/readyz` and `/metrics` without a key. Keep it off the internet.',
  },
  UNDOLOG_ADMIN_TOKEN: {
    schema: z.string().min(8).max(1000).optional(),
    unset: '`POST /v1/orgs` and `/metrics` on `PORT` always answer 401',
    doc: 'The bearer token that makes orgs and reads `/metrics` on `PORT`.',
  },
  UNDOLOG_ENCRYPTION_KEY: {
    schema: encryptionKey.optional(),
    unset: 'said so at start; with `NODE_ENV=production` the processes refuse to start',
    doc: '32 bytes in base64 that encrypt arguments, results and secrets at rest; see [security](security.md).',
  },
  UNDOLOG_ENCRYPTION_KEY_PREVIOUS: {
    schema: encryptionKeys.default([]),
    unset: 'none',
    doc: 'The key before the present one, or several, separated by commas: they only decrypt.',
  },
  UNDOLOG_EGRESS_ALLOW: {
    schema: z.string().max(10_000).default(''),
    unset: 'none',
    doc: 'CIDRs, separated by commas, of private addresses that a compensation may call.',
  },
  UNDOLOG_CONCURRENCY: {
    schema: wholeNumber(1, 1000).default(50),
    unset: '50',
    doc: 'How many undo entries of one host of an org one compensator runs at a time; of one org twice, of all orgs four times as many.',
  },
  UNDOLOG_BREAKER_SESSIONS: {
    schema: wholeNumber(0, 1000).default(5),
    unset: '5',
    doc: 'Undos of this many sessions must fail at a host of an org before its entries wait for it; 0: they never wait.',
  },
  UNDOLOG_SWEEP_MS: {
    schema: wholeNumber(100, 3_600_000).default(5000),
    unset: '5000',
    doc: 'How often the compensator looks for expired leases and for work that the queue has lost, in milliseconds.',
  },
  UNDOLOG_RETENTION_DAYS: {
    schema: wholeNumber(1, 36_500).optional(),
    unset: 'kept for ever',
    doc: 'Sessions that ended (`completed`, `compensated`, `resolved`) so many days ago are deleted with their effects, entries and dead letters. Halted ones never are; the audit log is kept.',
  },
  UNDOLOG_RATE_LIMIT: {
    schema: wholeNumber(1, 1_000_000).optional(),
    unset: 'no limit',
    doc: 'Requests per second that one API key may send to one api process; above it, 429.',
  },
  UNDOLOG_TRUSTED_PROXIES: {
    schema: addressRanges.default([]),
    unset: 'none: the sender of a connection is the client, and the way was not https',
    doc: 'CIDRs, separated by commas, of reverse proxies in front of the api whose `X-Forwarded-For`, `-Proto` and `-Host` are believed; see [security](security.md#the-web-page).',
  },
  UNDOLOG_DB_POOL: {
    schema: wholeNumber(2, 500).default(10),
    unset: '10',
    doc: 'Postgres connections of one process.',
  },
  UNDOLOG_QUEUE_PREFIX: {
    schema: z
      .string()
      .regex(/^[\w-]{1,50}$/, 'must be 1 to 50 letters, digits, _ or -')
      .default('bull'),
    unset: '`bull`',
    doc: 'Prefix of the queue in Redis. All processes of one installation must agree on it.',
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    schema: urlOf('http:', 'https:').optional(),
    unset: 'no traces',
    doc: 'An OpenTelemetry collector that takes OTLP over HTTP. Its other standard variables (`OTEL_SERVICE_NAME`, `OTEL_TRACES_SAMPLER`, `OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_BSP_…`) count too.',
  },
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: {
    schema: urlOf('http:', 'https:').optional(),
    unset: '`OTEL_EXPORTER_OTLP_ENDPOINT` with `/v1/traces`',
    doc: 'The whole address for spans, where it is another one.',
  },
  OTEL_SDK_DISABLED: {
    schema: z.string().max(100).optional(),
    unset: 'not disabled',
    doc: '`true`: no traces, whatever the other variables say.',
  },
  LOG_LEVEL: {
    schema: z.enum(LOG_LEVELS).default('info'),
    unset: '`info`',
    doc: `One of ${LOG_LEVELS.map((level) => `\`${level}\``).join(', ')}.`,
  },
  NODE_ENV: {
    schema: z.string().max(100).optional(),
    unset: 'not production',
    doc: '`production` makes `UNDOLOG_ENCRYPTION_KEY` required, and refuses `UNDOLOG_FAILPOINTS`.',
  },
  UNDOLOG_FAILPOINTS: {
    schema: failpoints.default([]),
    unset: 'none',
    doc: 'Places at which the process breaks, for the chaos suite alone; see [reliability](reliability.md).',
  },
} as const satisfies Record<string, { schema: z.ZodType; unset: string; doc: string }>;

export interface Config {
  readonly databaseUrl: string;
  readonly redisUrl: string | undefined;
  readonly port: number;
  readonly healthPort: number;
  readonly adminToken: string | undefined;
  readonly encryptionKey: Uint8Array | undefined;
  readonly previousEncryptionKeys: readonly Uint8Array[];
  /** The text of the allow-list; `egress-policy.ts` reads it. */
  readonly egressAllow: string;
  readonly concurrency: number;
  readonly breakerSessions: number;
  readonly sweepMs: number;
  /** Undefined: ended sessions are kept for ever. */
  readonly retentionDays: number | undefined;
  readonly rateLimitPerSecond: number | undefined;
  /** Addresses and CIDRs. */
  readonly trustedProxies: readonly string[];
  readonly databaseConnections: number;
  readonly queuePrefix: string;
  /** Spans are sent to the collector that OpenTelemetry's variables name. */
  readonly tracing: boolean;
  readonly logLevel: (typeof LOG_LEVELS)[number];
  readonly failpoints: readonly ArmedFailpoint[];
  /** What an operator should read in the log at start. */
  readonly notices: readonly string[];
}

export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  constructor(message: string) {
    super(message);
    // It ends the process at start, where the message says all and a stack only hides it.
    this.stack = `ConfigError: ${message}`;
  }
}

type Values = { [Name in keyof typeof VARIABLES]: z.output<(typeof VARIABLES)[Name]['schema']> };

function readAll(env: Readonly<Record<string, string | undefined>>): Values {
  const faults: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, { schema }] of Object.entries(VARIABLES)) {
    const text = env[name]?.trim();
    const parsed = schema.safeParse(text === '' ? undefined : text);
    if (parsed.success) values[name] = parsed.data;
    else if (text) faults.push(`${name} ${parsed.error.issues[0]?.message ?? 'is not valid'}`);
    else faults.push(`${name} is required`);
  }
  if (values['NODE_ENV'] === 'production' && !values['UNDOLOG_ENCRYPTION_KEY'] && !env['UNDOLOG_ENCRYPTION_KEY']) {
    faults.push('UNDOLOG_ENCRYPTION_KEY is required with NODE_ENV=production');
  }
  if (values['NODE_ENV'] === 'production' && env['UNDOLOG_FAILPOINTS']) {
    faults.push('UNDOLOG_FAILPOINTS is refused with NODE_ENV=production');
  }
  if (faults.length > 0) throw new ConfigError(faults.join('; '));
  return values as Values;
}

function isTraced(values: Values): boolean {
  const endpoint = values.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? values.OTEL_EXPORTER_OTLP_ENDPOINT;
  return endpoint !== undefined && values.OTEL_SDK_DISABLED?.toLowerCase() !== 'true';
}

function noticesOf(values: Values): string[] {
  const notices: string[] = [];
  if (!values.UNDOLOG_ENCRYPTION_KEY) {
    notices.push('UNDOLOG_ENCRYPTION_KEY is unset: arguments and results are stored unencrypted, secrets are refused');
  }
  if (values.UNDOLOG_FAILPOINTS.length > 0) notices.push('UNDOLOG_FAILPOINTS is set: this process breaks on purpose');
  if (!values.REDIS_URL) notices.push('REDIS_URL is unset: the queue runs on DATABASE_URL');
  if (values.UNDOLOG_EGRESS_ALLOW) notices.push(`private addresses allowed for calls: ${values.UNDOLOG_EGRESS_ALLOW}`);
  return notices;
}

/** @throws {ConfigError} naming every variable that is missing or not valid, never its value. */
export function loadConfig(env: Readonly<Record<string, string | undefined>> = process.env): Config {
  const values = readAll(env);
  return Object.freeze({
    databaseUrl: values.DATABASE_URL,
    redisUrl: values.REDIS_URL,
    port: values.PORT,
    healthPort: values.UNDOLOG_HEALTH_PORT,
    adminToken: values.UNDOLOG_ADMIN_TOKEN,
    encryptionKey: values.UNDOLOG_ENCRYPTION_KEY,
    previousEncryptionKeys: values.UNDOLOG_ENCRYPTION_KEY_PREVIOUS,
    egressAllow: values.UNDOLOG_EGRESS_ALLOW,
    concurrency: values.UNDOLOG_CONCURRENCY,
    breakerSessions: values.UNDOLOG_BREAKER_SESSIONS,
    sweepMs: values.UNDOLOG_SWEEP_MS,
    retentionDays: values.UNDOLOG_RETENTION_DAYS,
    rateLimitPerSecond: values.UNDOLOG_RATE_LIMIT,
    trustedProxies: values.UNDOLOG_TRUSTED_PROXIES,
    databaseConnections: values.UNDOLOG_DB_POOL,
    queuePrefix: values.UNDOLOG_QUEUE_PREFIX,
    tracing: isTraced(values),
    logLevel: values.LOG_LEVEL,
    failpoints: values.UNDOLOG_FAILPOINTS,
    notices: Object.freeze(noticesOf(values)),
  });
}
