import { setTimeout as sleep } from 'node:timers/promises';
import type { BackendServer } from './backend-server.js';
import { freePort } from './free-port.js';
import type { OwnedFolder } from './owned-folder.js';
import { startProgram, waitUntilReady, type OwnedProcess, type ProgramStart } from './owned-process.js';

const PORT_TRIES = 5;
/** What a killed server leaves behind needs a moment to notice; until then its data can't be opened again. */
const RESTART_TRIES = 40;
const RESTART_PAUSE_MS = 250;

/** What one kind of server needs to be run by us. */
export interface ServerRecipe {
  /** For a person: `Postgres 15.16 of /usr/lib/postgresql/15/bin`. */
  readonly description: string;
  readonly folder: OwnedFolder;
  /** Ends it in order. */
  readonly stopSignal: NodeJS.Signals;
  /** Ends it at once; nobody reads its data again, so it need not be written out. */
  readonly dropSignal: NodeJS.Signals;
  urlAt(port: number): string;
  programAt(port: number): Omit<ProgramStart, 'folder'>;
  /** Resolves when the server answers there. */
  answersAt(port: number): Promise<unknown>;
  /** Of its log, the line that says why it did not start. */
  lastWord(lines: readonly string[]): string | undefined;
}

/** A server of ours: created once, then stopped and started on the same port and data until it is removed. */
class PrivateServer implements BackendServer {
  port = 0;
  private readonly recipe: ServerRecipe;
  private process: OwnedProcess | undefined;

  constructor(recipe: ServerRecipe) {
    this.recipe = recipe;
  }

  get description(): string {
    return this.recipe.description;
  }

  get url(): string {
    return this.recipe.urlAt(this.port);
  }

  /** The first start; a port that someone else took in between is exchanged. */
  async create(): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      this.port = await freePort();
      if (await this.launch()) return;
      if (tries === PORT_TRIES) throw await this.lastWords();
    }
  }

  async start(): Promise<void> {
    for (let tries = 1; !(await this.launch()); tries += 1) {
      if (tries === RESTART_TRIES) throw await this.lastWords();
      await sleep(RESTART_PAUSE_MS);
    }
  }

  async stop(signal: NodeJS.Signals = this.recipe.stopSignal): Promise<void> {
    await this.process?.stop(signal);
  }

  async remove(): Promise<void> {
    await this.stop(this.recipe.dropSignal);
    await this.recipe.folder.remove();
  }

  private async launch(): Promise<boolean> {
    const { recipe, port } = this;
    this.process = await startProgram({ ...recipe.programAt(port), folder: recipe.folder });
    const readiness = await waitUntilReady(this.process, () => recipe.answersAt(port));
    if (readiness === 'too_late') await this.stop(recipe.dropSignal);
    return readiness === 'ready';
  }

  private async lastWords(): Promise<Error> {
    const lines = ((await this.process?.readLog()) ?? '').trim().split('\n');
    return new Error(`${this.description} did not start: ${this.recipe.lastWord(lines)}`);
  }
}

/**
 * Starts a server of ours and lets `finish` make it ready for use. Rejects with the server's last words if it does not
 * come up, and has then removed its folder.
 */
export async function launchServer(
  recipe: ServerRecipe,
  finish: (port: number) => Promise<void> = () => Promise.resolve(),
): Promise<BackendServer> {
  const server = new PrivateServer(recipe);
  try {
    await server.create();
    await finish(server.port);
    return server;
  } catch (error) {
    await server.remove();
    throw error;
  }
}
