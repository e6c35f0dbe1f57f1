import { parseArgs } from 'node:util';

export interface DemoOptions {
  readonly json: boolean;
  readonly keep: boolean;
  readonly seed: number;
  readonly trips: number;
}

export const USAGE = 'npm run demo -- [--seed N] [--trips N] [--json] [--keep]';

const MAX_TRIPS = 10_000;
const MAX_SEED = 2 ** 32 - 1;

/** Reads the command line; throws, with a message for people, when it makes no sense. */
export function parseOptions(argv: readonly string[]): DemoOptions {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      json: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
      seed: { type: 'string', default: '4' },
      trips: { type: 'string', default: '100' },
    },
  });
  return {
    json: values.json,
    keep: values.keep,
    seed: wholeNumber('--seed', values.seed, 0, MAX_SEED),
    trips: wholeNumber('--trips', values.trips, 1, MAX_TRIPS),
  };
}

function wholeNumber(flag: string, text: string, low: number, high: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < low || value > high) {
    throw new Error(`${flag} takes a whole number from ${low} to ${high}, not ${text}`);
  }
  return value;
}
