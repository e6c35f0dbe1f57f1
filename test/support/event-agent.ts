import { expect } from 'vitest';
import { bodyOf, type Answer, type Org, type Registered } from './api-client.js';

export interface EventResult<B = Record<string, unknown>> {
  readonly id: string | null;
  readonly status: number;
  readonly body: B;
  readonly replayed?: true;
}

let sources = 0;

/** A source of events of its own, whose ids count up. */
export class EventAgent {
  readonly #org: Org;
  readonly source = `test-${process.pid}-${++sources}`;
  #sent = 0;

  constructor(org: Org) {
    this.#org = org;
  }

  event(type: string, data: object, more: object = {}): object {
    const id = String(++this.#sent);
    return { specversion: '1.0', id, source: this.source, type: `undolog.${type}`, data, ...more };
  }

  registration(sessionId: string, fnName: string, ref: string): object {
    return this.event('effect.registered', {
      session_id: sessionId,
      tool_name: 'book',
      args: { ref },
      effect_class: 'compensable',
      compensation: { fn_name: fnName, version: '1', args: { ref: { $args: '/ref' } } },
    });
  }

  send(events: readonly object[], headers: Record<string, string> = {}): Promise<Answer> {
    const typed = { 'content-type': 'application/cloudevents-batch+json', ...headers };
    return this.#org.settled(() => this.#org.post('/v1/events', JSON.stringify(events), typed));
  }

  /** What became of each; those that were not reached in time are sent again, as a careful agent does. */
  async results(...events: object[]): Promise<EventResult[]> {
    const answer = await this.send(events);
    expect(answer.status, answer.text).toBe(200);
    const { results } = bodyOf<{ results: EventResult[] }>(answer);
    const missed = events.filter((_, index) => results[index]!.status === 503);
    if (missed.length === 0) return results;
    const later = await this.results(...missed);
    return results.map((result) => (result.status === 503 ? later.shift()! : result));
  }
}

export function registeredOf(result: EventResult): Registered {
  expect(result.body, JSON.stringify(result)).toMatchObject({ decision: 'execute' });
  return result.body as unknown as Registered;
}
