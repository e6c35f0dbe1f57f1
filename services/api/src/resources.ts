import type { WakeUp } from '@undolog/shared/domain/wake-up';
import type { QueueViews } from '@undolog/shared/queue/queue-views';
import type { Config } from '@undolog/shared/runtime/config';
import type { Readiness } from '@undolog/shared/runtime/health-server';
import type { Logger } from '@undolog/shared/runtime/logger';
import type { Metrics } from '@undolog/shared/runtime/metrics';
import type { Tracing } from '@undolog/shared/runtime/tracing';
import type { Database } from '@undolog/shared/store/database';
import type { GroupCommit } from '@undolog/shared/store/group-commit';
import type { VendorAccess } from './ask-vendor.js';

/** What the routes work with. `main.ts` opens it, `createApp` is handed it, tests bring their own. */
export interface Resources {
  readonly config: Pick<Config, 'adminToken' | 'rateLimitPerSecond' | 'trustedProxies'>;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly tracing: Tracing | undefined;
  readonly database: Database;
  readonly commits: GroupCommit;
  readonly queue: { wake(wakeUp: WakeUp): void };
  /** Why a compensation may not call this address, or undefined when it may. */
  readonly faultOfUrl: (url: string) => Promise<string | undefined>;
  readonly vendor: VendorAccess;
  /** Opens the queues for a look; whoever does so closes them when `closing` is aborted. */
  readonly viewQueues: () => QueueViews;
  readonly readiness: () => Promise<Readiness>;
  /** Aborted when the process stops: answers that would go on for ever end. */
  readonly closing: AbortSignal;
}
