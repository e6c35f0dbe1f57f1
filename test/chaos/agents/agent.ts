import { UndoLogError, type RegisteredEffect } from '@undolog/client';
import type { History } from './history.js';
import type { CallPlan, SessionPlan } from './plans.js';
import { argsOf, type Tenant } from './tenant.js';

export interface AgentPlace {
  readonly tenant: Tenant;
  readonly history: History;
  readonly vendorUrl: string;
}

/** A session is undone some seconds after its agent was last heard of. */
const LEASE_SECONDS = 30;
const DEAD_LEASE_SECONDS = 4;
/** For a call that nobody reports: it lands well within. */
const LANDS_WITHIN_MS = 10_000;
const STAMPEDE = 100;
const ROLLBACK_LOOKS = 120;
const LOOK_MS = 500;

/** One run of an agent, as its plan says; whatever it is told, it writes into the history before it goes on. */
export class Agent {
  readonly #place: AgentPlace;
  readonly #plan: SessionPlan;
  readonly #about: { readonly org: string; readonly session: string };
  #calls = 0;

  constructor(place: AgentPlace, plan: SessionPlan) {
    this.#place = place;
    this.#plan = plan;
    this.#about = { org: place.tenant.orgId, session: plan.id };
  }

  /** Resolves when the agent has done its part. A session that ended under its hands is one that ended. */
  async run(): Promise<void> {
    try {
      await this.#act();
    } catch (error) {
      const code = error instanceof UndoLogError ? error.code : 'no_answer';
      this.#note('gave_up', { code });
    }
  }

  #note(event: string, more: object = {}): void {
    this.#place.history.note(event, { ...this.#about, ...more });
  }

  async #act(): Promise<void> {
    const { id, policy, ending, calls } = this.#plan;
    const { agent } = this.#place.tenant;
    const lease = ending === 'dies' ? DEAD_LEASE_SECONDS : LEASE_SECONDS;
    await agent.sessions.create({ session_id: id, on_compensation_failure: policy, lease_seconds: lease });
    this.#note('opened', { ending });
    const late = ending === 'lands_late' ? calls.length - 1 : calls.length;
    const positions: number[] = [];
    for (const call of calls.slice(0, late)) {
      const registered = await this.#register(call);
      positions.push(registered.stack_position);
      if (call.report !== 'says_not_applied') await this.#book(registered);
      await this.#report(registered, call);
    }
    await this.#end(positions);
  }

  async #register(call: CallPlan): Promise<RegisteredEffect> {
    const { agent, canaries } = this.#place.tenant;
    const number = ++this.#calls;
    const ref = `${this.#plan.id}#${number}`;
    const registered = await agent.sessions.register(this.#plan.id, {
      tool_name: 'book',
      args: argsOf(ref, canaries[1]!, call.poison),
      effect_class: 'compensable',
      call_id: `call-${number}`,
      ...(call.step !== undefined && { step_index: call.step }),
      ...(call.report !== 'commits' && { call_timeout_ms: LANDS_WITHIN_MS }),
      compensation: {
        fn_name: call.manner,
        version: '1',
        args: { ref: { $args: '/ref' }, note: { $args: '/note' }, password: { $args: '/password' } },
      },
    });
    const { effect_id: effect, undo_id: undo, stack_position: position, idempotency_key: key, decision } = registered;
    this.#note('registered', { effect, undo, position, key, decision, ref, manner: call.manner, report: call.report });
    if (decision !== 'execute') throw new UndoLogError(409, { code: `told_${decision}` }, undefined);
    return registered;
  }

  /** The forward call; the vendor honours the key, so it may be made again. */
  async #book({ effect_id: effect, idempotency_key: key }: RegisteredEffect): Promise<void> {
    const { tenant, vendorUrl } = this.#place;
    const ref = `${this.#plan.id}#${this.#calls}`;
    await fetch(`${vendorUrl}/${tenant.orgId}/book`, {
      method: 'POST',
      headers: { 'idempotency-key': key, 'undolog-session-id': this.#plan.id, 'undolog-effect-id': effect },
      body: JSON.stringify({ ref }),
    }).then((answer) => answer.arrayBuffer());
  }

  async #report({ effect_id: effect }: RegisteredEffect, { report }: CallPlan): Promise<void> {
    const { agent } = this.#place.tenant;
    switch (report) {
      case 'says_nothing':
        return;
      case 'says_unknown':
      case 'says_not_applied':
        return this.#reportFailure(effect, report === 'says_unknown' ? 'unknown' : 'not_applied');
      case 'commits':
        await agent.effects.commit(effect, { result: { booked: true } });
        return this.#note('committed', { effect });
      default:
        report satisfies never;
    }
  }

  async #reportFailure(effect: string, outcome: 'unknown' | 'not_applied'): Promise<void> {
    const { state } = await this.#place.tenant.agent.effects.fail(effect, { error: 'the tool broke', outcome });
    this.#note('reported', { effect, outcome, state });
  }

  async #end(positions: readonly number[]): Promise<void> {
    const { ending, id } = this.#plan;
    const { sessions } = this.#place.tenant.agent;
    switch (ending) {
      case 'dies':
        return this.#note('died');
      case 'completes':
        return this.#complete();
      case 'fails':
        return this.#fail();
      case 'cancelled':
        await sessions.cancel(id, { reason: 'a person changed their mind' });
        return this.#note('failed');
      case 'lands_late':
        return this.#landLate();
      case 'stampede':
        return this.#stampede();
      case 'rolls_back':
        return this.#rollBack(Math.min(...positions));
      default:
        ending satisfies never;
    }
  }

  async #complete(): Promise<void> {
    await this.#place.tenant.agent.sessions.complete(this.#plan.id);
    this.#note('completed');
  }

  async #fail(): Promise<void> {
    this.#note('failing');
    await this.#place.tenant.agent.sessions.fail(this.#plan.id, { reason: 'the car is sold out' });
    this.#note('failed');
  }

  async #landLate(): Promise<void> {
    const registered = await this.#register(this.#plan.calls.at(-1)!);
    await this.#fail();
    await this.#book(registered);
    const commit = this.#place.tenant.agent.effects.commit(registered.effect_id, { result: { booked: true } });
    const code = await commit.then(
      () => 'taken',
      (error: unknown) => (error instanceof UndoLogError ? error.code : 'no_answer'),
    );
    this.#note('committed_late', { effect: registered.effect_id, code });
  }

  async #stampede(): Promise<void> {
    const { sessions } = this.#place.tenant.agent;
    const { id } = this.#plan;
    this.#note('failing');
    const all = Array.from({ length: STAMPEDE }, (_, n) =>
      n % 2 === 0 ? sessions.fail(id, { reason: `one of many: ${n}` }) : sessions.complete(id),
    );
    const told = await Promise.allSettled(all);
    const accepted = (parity: number) => told.some(({ status }, n) => n % 2 === parity && status === 'fulfilled');
    if (accepted(0)) this.#note('failed');
    if (accepted(1)) this.#note('completed');
  }

  async #rollBack(toPosition: number): Promise<void> {
    const { sessions } = this.#place.tenant.agent;
    this.#note('rolling_back', { position: toPosition });
    await sessions.rollback(this.#plan.id, { to_position: toPosition });
    this.#note('rolled_back', { position: toPosition });
    for (let look = 0; look < ROLLBACK_LOOKS; look++) {
      const { state } = await sessions.get(this.#plan.id);
      if (state === 'active') return this.#complete();
      if (state !== 'compensating') return;
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }
}
