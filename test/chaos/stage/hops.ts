import { FaultProxy } from '../../support/fault-proxy.js';

const NAMES = ['api_postgres', 'compensator_postgres', 'api_redis', 'compensator_redis', 'vendor'] as const;
export type HopName = (typeof NAMES)[number] | `api_${number}`;

/** The hops between the parts of a stage, each of which can be made faulty. */
export class Hops {
  readonly #hops = new Map<HopName, FaultProxy>();

  async open(name: HopName, targetUrl: string): Promise<string> {
    const hop = new FaultProxy(targetUrl);
    await hop.listen();
    this.#hops.set(name, hop);
    return this.urlOf(name);
  }

  get(name: HopName): FaultProxy {
    const hop = this.#hops.get(name);
    if (!hop) throw new Error(`no hop ${name}`);
    return hop;
  }

  urlOf(name: HopName): string {
    return this.get(name).url.replace(/\/$/, '');
  }

  heal(): void {
    for (const hop of this.#hops.values()) {
      hop.fault = 'pass';
      hop.delayMs = 0;
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#hops.values()].map((hop) => hop.close()));
  }
}
