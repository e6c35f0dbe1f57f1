import { openSync, writeSync } from 'node:fs';

/** What the agents and the operators of a run sent and were told; each line is out before the next thing is done. */
export class History {
  readonly #file: number;

  constructor(path: string) {
    this.#file = openSync(path, 'a');
  }

  note(event: string, of: object): void {
    writeSync(this.#file, `${JSON.stringify({ at: Date.now(), event, ...of })}\n`);
  }
}
