import { pino, stdTimeFunctions, type DestinationStream, type Logger as PinoLogger } from 'pino';

export type Logger = PinoLogger;

/**
 * Members that must never reach a log, at the top and one level down. Callers don't pass arguments or results in the
 * first place; this list is the second line.
 */
const NEVER_LOGGED = [
  'args',
  'result',
  'body',
  'metadata',
  'reason',
  'headers',
  'authorization',
  'api_key',
  'secret',
  'token',
  'password',
];

/**
 * A database error carries the values of the failing row in `detail` and `where`; only what names the fault is kept.
 * Causes are followed a few steps, as the outer error often only says that Postgres did not answer.
 */
function errorForLog(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return typeof error === 'string' ? error : typeof error;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  const constraint = 'constraint' in error && typeof error.constraint === 'string' ? error.constraint : undefined;
  return {
    type: error.name,
    message: error.message,
    ...(code === undefined ? {} : { code }),
    ...(constraint === undefined ? {} : { constraint }),
    stack: error.stack,
    ...(error.cause === undefined || depth >= 3 ? {} : { cause: errorForLog(error.cause, depth + 1) }),
  };
}

/** JSON lines on stdout. Ids of sessions and entries belong into them; arguments, results and secrets never. */
export function createLogger(options: { service: string; level: string; destination?: DestinationStream }): Logger {
  const settings = {
    level: options.level,
    base: { service: options.service },
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: (error: unknown) => errorForLog(error) },
    redact: { paths: NEVER_LOGGED.flatMap((name) => [name, `*.${name}`]), censor: '[redacted]' },
  };
  return options.destination ? pino(settings, options.destination) : pino(settings);
}
