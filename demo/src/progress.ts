import cliProgress from 'cli-progress';

export interface Progress {
  log(line: string): void;
  /** Starts counting; returns the function that counts one more. */
  start(title: string, total: number): () => void;
  finish(): void;
}

/** Progress on stderr: a bar on a terminal, a line per stage everywhere else. */
export function createProgress(stream: NodeJS.WriteStream): Progress {
  let bar: cliProgress.SingleBar | undefined;

  return {
    log: (line) => {
      stream.write(`${line}\n`);
    },
    start(title, total) {
      if (!stream.isTTY) {
        stream.write(`${title}: ${total} trips\n`);
        return () => {};
      }
      const format = `${title.padEnd(30)} {bar} {value}/{total} trips`;
      bar = new cliProgress.SingleBar({ stream, format, hideCursor: true }, cliProgress.Presets.shades_classic);
      bar.start(total, 0);
      return () => bar?.increment();
    },
    finish() {
      bar?.stop();
      bar = undefined;
    },
  };
}
