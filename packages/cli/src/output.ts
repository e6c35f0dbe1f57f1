import Table from 'cli-table3';
import pc from 'picocolors';
import { visible } from '@undolog/client/visible-text';
import { visibleJson } from './exact-json.js';

type Colors = ReturnType<typeof pc.createColors>;
export type Shade = 'good' | 'bad' | 'unsure' | 'busy' | 'dim' | 'strong' | 'plain';

/** A piece of data with its colour. */
export interface Cell {
  readonly text: string;
  readonly shade: Shade;
}

export type Value = Cell | string | number | null | undefined;

export interface Streams {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown; readonly isTTY?: boolean };
}

const BARE = {
  top: '', 'top-mid': '', 'top-left': '', 'top-right': '', bottom: '', 'bottom-mid': '', 'bottom-left': '',
  'bottom-right': '', left: '', 'left-mid': '', mid: '', 'mid-mid': '', right: '', 'right-mid': '', middle: '  ',
} as const; // prettier-ignore

export function cell(text: string, shade: Shade): Cell {
  return { text, shade };
}

const STATE_SHADES: Readonly<Record<string, Shade>> = {
  compensated: 'good', completed: 'good', resolved: 'good', done: 'good', closed: 'dim', skipped: 'dim', pending: 'dim',
  failed: 'bad', halted: 'bad', open: 'bad', refused: 'bad', unconfirmed: 'unsure', unknown: 'unsure', retry: 'unsure',
  active: 'busy', compensating: 'busy', running: 'busy', half_open: 'unsure',
}; // prettier-ignore

/** A state in its colour; its word says the same to whoever sees none. */
export function state(word: string): Cell {
  return cell(word, STATE_SHADES[word] ?? 'plain');
}

/** The only way to the terminal: data is made harmless here, and colours are added after. Data to stdout, the rest to stderr. */
export class Output {
  readonly json: boolean;
  readonly #streams: Streams;
  readonly #colors: Colors;

  constructor(streams: Streams, options: { readonly json: boolean; readonly color: boolean }) {
    this.#streams = streams;
    this.json = options.json;
    this.#colors = pc.createColors(options.color && !options.json);
  }

  #paint(value: Value): string {
    if (value === null || value === undefined) return this.#colors.dim('–');
    if (typeof value !== 'object') return visible(String(value));
    const text = visible(value.text);
    switch (value.shade) {
      case 'good':
        return this.#colors.green(text);
      case 'bad':
        return this.#colors.red(text);
      case 'unsure':
        return this.#colors.yellow(text);
      case 'busy':
        return this.#colors.cyan(text);
      case 'dim':
        return this.#colors.dim(text);
      case 'strong':
        return this.#colors.bold(text);
      case 'plain':
        return text;
      default:
        return value.shade satisfies never;
    }
  }

  /** One line of words and data. */
  line(...parts: readonly Value[]): void {
    this.#streams.stdout.write(`${parts.map((part) => this.#paint(part)).join(' ')}\n`);
  }

  table(heads: readonly string[], rows: readonly (readonly Value[])[]): void {
    const style = { head: [], border: [], 'padding-left': 0, 'padding-right': 0 };
    const table = new Table({ chars: BARE, style });
    table.push(heads.map((head) => this.#colors.dim(head.toUpperCase())));
    for (const row of rows) table.push(row.map((value) => this.#paint(value)));
    const lines = table.toString().split('\n');
    this.#streams.stdout.write(`${lines.map((line) => line.trimEnd()).join('\n')}\n`);
  }

  /** The whole answer, for programs. */
  data(value: unknown): void {
    this.#streams.stdout.write(`${visibleJson(value, 2)}\n`);
  }

  /** One of many, a line each. */
  row(value: unknown): void {
    this.#streams.stdout.write(`${visibleJson(value)}\n`);
  }

  /** For the person only: progress, advice, what went wrong. */
  note(text: string): void {
    this.#streams.stderr.write(`${text.split('\n').map(visible).join('\n')}\n`);
  }

  get isWatched(): boolean {
    return !this.json && this.#streams.stderr.isTTY === true;
  }
}
