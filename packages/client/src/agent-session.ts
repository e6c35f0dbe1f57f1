import type { UndoLogApi } from './api.js';
import { NotApplied, NotExecuted, UndoLogError, WillBeUndone } from './errors.js';
import type { EffectClass, OpenSession, RegisteredEffect, Session, SessionStateAnswer, Undo } from './types.js';

export interface SessionOptions extends OpenSession {
  /** False: nobody says for the session that its agent lives; it must call often enough. */
  readonly heartbeat?: boolean;
  /** What of an error goes into the session's record; by default its name and message. */
  readonly describeError?: (error: unknown) => string;
}

/** What the tool gets that is to be run. */
export interface ToolCall<A> {
  readonly args: A;
  /** For the request to the vendor, so that a repeat of it takes effect once. */
  readonly idempotencyKey: string;
  readonly effectId: string;
  /** Aborted when the session has ended while the tool was running. */
  readonly signal: AbortSignal;
}

export interface CallOptions<A, R> {
  /** Called only once UndoLog has said `execute`. Throw `NotApplied` where nothing can have happened. */
  readonly run: (call: ToolCall<A>) => Promise<R>;
  /** How the call is undone; needed unless it is `irreversible` or `safe`. */
  readonly undo?: Undo;
  /** `compensable` with an undo, else it has to be said. */
  readonly effectClass?: EffectClass;
  /** The agent's own id of the call: the same call under it is not run a second time. */
  readonly callId?: string;
  readonly stepIndex?: number;
  /** For how long the call may still land if nobody reports it. */
  readonly callTimeoutMs?: number;
}

const MAX_REASON_CHARS = 1000;

function describe(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

/** One run of an agent. Its tools run through `call`, so that each is known together with its undo before it runs. */
export class AgentSession {
  readonly id: string;
  readonly #client: UndoLogApi;
  readonly #ended = new AbortController();
  readonly #describe: (error: unknown) => string;
  #heart: ReturnType<typeof setInterval> | undefined;

  /** @internal use `client.session` or `client.openSession`. */
  constructor(
    client: UndoLogApi,
    opened: Session,
    { heartbeat = true, describeError = describe }: Pick<SessionOptions, 'heartbeat' | 'describeError'>,
  ) {
    this.#client = client;
    this.id = opened.session_id;
    this.#describe = describeError;
    if (heartbeat && opened.lease_expires_at !== null) this.#beat(opened);
  }

  /** Aborted once the session has ended, by whomever. */
  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /** A third of the lease, so that two beats may be lost. */
  #beat({ created_at: from, lease_expires_at: until }: Session): void {
    const leaseMs = Date.parse(until!) - Date.parse(from);
    this.#heart = setInterval(
      () => {
        this.#client.sessions.heartbeat(this.id).catch((error: unknown) => {
          if (error instanceof UndoLogError && error.code === 'session_not_active') this.#end(error);
        });
      },
      Math.max(leaseMs / 3, 200),
    );
    // A heartbeat keeps no program alive. (Browsers have no such handle.)
    (this.#heart as { unref?: () => void }).unref?.();
  }

  #end(why?: Error): void {
    clearInterval(this.#heart);
    this.#ended.abort(why ?? new Error('the session has ended'));
  }

  /**
   * Registers a tool call with its undo, runs it if UndoLog says so, and reports what came of it.
   *
   * @returns the tool's result; for a call that was made before under the same `callId`, the kept one.
   * @throws {NotExecuted} when the tool was not run. {WillBeUndone} when it was, but its session has ended. Else what the
   * tool threw.
   */
  async call<A, R>(tool: string, args: A, options: CallOptions<A, R>): Promise<R> {
    const registered = await this.#register(tool, args, options);
    switch (registered.decision) {
      case 'execute':
        return this.#execute(registered, args, options.run);
      case 'replay':
        return registered.result as R;
      case 'in_flight':
        throw new NotExecuted('in_flight', `the call ${options.callId} is under way already`);
      case 'refuse':
        throw new NotExecuted('refuse', `the call ${options.callId} was made before, and has failed`);
      default:
        return registered.decision satisfies never;
    }
  }

  async #register<A, R>(tool: string, args: A, options: CallOptions<A, R>): Promise<RegisteredEffect> {
    const { undo, effectClass = 'compensable', callId, stepIndex, callTimeoutMs } = options;
    const body = {
      tool_name: tool,
      args,
      effect_class: effectClass,
      ...(undo && { compensation: undo }),
      ...(callId !== undefined && { call_id: callId }),
      ...(stepIndex !== undefined && { step_index: stepIndex }),
      ...(callTimeoutMs !== undefined && { call_timeout_ms: callTimeoutMs }),
    };
    try {
      return await this.#client.sessions.register(this.id, body);
    } catch (error) {
      if (!(error instanceof UndoLogError) || error.status >= 500) throw error;
      if (error.code === 'session_not_active') this.#end(error);
      throw new NotExecuted('refuse', error.message, { cause: error });
    }
  }

  async #execute<A, R>(
    { effect_id: effectId, idempotency_key: idempotencyKey }: RegisteredEffect,
    args: A,
    run: (call: ToolCall<A>) => Promise<R>,
  ): Promise<R> {
    let result: R;
    try {
      result = await run({ args, idempotencyKey, effectId, signal: this.signal });
    } catch (error) {
      const outcome = error instanceof NotApplied ? 'not_applied' : 'unknown';
      // What can't be reported counts as unknown, and so it is undone.
      await this.#client.effects.fail(effectId, { error: this.#why(error), outcome }).catch(() => undefined);
      throw error;
    }
    try {
      await this.#client.effects.commit(effectId, result === undefined ? {} : { result });
    } catch (error) {
      if (!(error instanceof UndoLogError) || error.decision !== 'undo') throw error;
      this.#end(error);
      throw new WillBeUndone(result, { cause: error });
    }
    return result;
  }

  #why(error: unknown): string {
    return this.#describe(error).slice(0, MAX_REASON_CHARS);
  }

  async complete(options: { leave_unknown?: boolean } = {}): Promise<SessionStateAnswer> {
    const answer = await this.#client.sessions.complete(this.id, options);
    this.#end();
    return answer;
  }

  /** Ends the session without success; everything it did is undone. */
  async fail(why: unknown): Promise<SessionStateAnswer> {
    const answer = await this.#client.sessions.fail(this.id, { reason: this.#why(why) });
    this.#end();
    return answer;
  }
}
