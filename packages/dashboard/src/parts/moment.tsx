import { momentOf, useNow } from '../clock';
import { usePreferences, type Zone } from '../shell/preferences';

const SHOWN = {
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
} as const;

const FORMATS: Readonly<Record<Zone, Intl.DateTimeFormat>> = {
  // Swedish writes dates as ISO 8601 does.
  local: new Intl.DateTimeFormat('sv-SE', SHOWN),
  utc: new Intl.DateTimeFormat('sv-SE', { ...SHOWN, timeZone: 'UTC' }),
};

export function writeMoment(timestamp: string, zone: Zone): string {
  const text = FORMATS[zone].format(momentOf(timestamp));
  return zone === 'utc' ? `${text} UTC` : text;
}

const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const;

/** One unit is enough to see how urgent it is: `3 min`, `2 d`. */
export function writeDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const [unit, size] = UNITS.find(([, length]) => whole >= length) ?? UNITS.at(-1)!;
  return `${Math.floor(whole / size)} ${unit}`;
}

export function writeMilliseconds(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return ms < 60_000 ? `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s` : writeDuration(ms / 1000);
}

/** A point in time in the reader's zone; the exact one, in UTC, when it is pointed at. */
export function Moment({ at }: { readonly at: string }) {
  const { zone } = usePreferences();
  return (
    <time dateTime={at} title={at}>
      {writeMoment(at, zone)}
    </time>
  );
}

/** How long ago it was, or how long until it is. */
export function Age({ at }: { readonly at: string }) {
  const seconds = (useNow() - momentOf(at).getTime()) / 1000;
  const { zone } = usePreferences();
  return (
    <time dateTime={at} title={writeMoment(at, zone)}>
      {seconds < -1 ? `in ${writeDuration(-seconds)}` : `${writeDuration(seconds)} ago`}
    </time>
  );
}
