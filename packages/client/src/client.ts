import { AgentSession, type SessionOptions } from './agent-session.js';
import { UndoLogApi } from './api.js';

export { AgentSession, type CallOptions, type SessionOptions, type ToolCall } from './agent-session.js';
export type { IfMatch } from './api.js';
export type { DrainProgress } from './drain.js';
export { NoAnswer, NotApplied, NotExecuted, UndoLogError, WillBeUndone } from './errors.js';
export { RawJson } from './raw-json.js';
export type { StreamOptions } from './stream.js';
export type { Options, Request } from './transport.js';
export type * from './operator-types.js';
export type * from './types.js';

/** UndoLog for agents: the routes, and sessions whose tools run only when they may. */
export class UndoLog extends UndoLogApi {
  /** Opens a session and runs `work` in it: what returns completes it, what throws fails it, and is thrown again. */
  async session<T>(options: SessionOptions, work: (session: AgentSession) => Promise<T>): Promise<T> {
    const session = await this.openSession(options);
    let result: T;
    try {
      result = await work(session);
    } catch (error) {
      // If nobody can be told, the lease runs out, and the session is undone all the same.
      await session.fail(error).catch(() => undefined);
      throw error;
    }
    await session.complete();
    return result;
  }

  /** The same without an end of its own: whoever opens it completes or fails it. */
  async openSession(options: SessionOptions = {}): Promise<AgentSession> {
    const { heartbeat, describeError, ...body } = options;
    const opened = await this.sessions.create(body);
    return new AgentSession(this, opened, {
      ...(heartbeat !== undefined && { heartbeat }),
      ...(describeError && { describeError }),
    });
  }
}
