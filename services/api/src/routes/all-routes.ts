import type { Route } from '../route.js';
import { auditRoutes } from './audit.js';
import { compensationPauseRoutes } from './compensation-pause.js';
import { compensationRoutes } from './compensations.js';
import { deadLetterActionRoutes } from './dead-letter-actions.js';
import { deadLetterBulkRoutes } from './dead-letter-bulk.js';
import { deadLetterConfirmRoutes } from './dead-letter-confirm.js';
import { deadLetterRoutes } from './dead-letters.js';
import { eventRoutes } from './events.js';
import { effectReportRoutes } from './effect-reports.js';
import { keyRoutes } from './keys.js';
import { overviewRoutes } from './overview.js';
import { registerEffectRoute } from './register-effect.js';
import { secretRoutes } from './secrets.js';
import { sessionDataRoutes } from './session-data.js';
import { sessionEndRoutes } from './session-ends.js';
import { sessionRollbackRoutes } from './session-rollback.js';
import { sessionRoutes } from './sessions.js';
import { streamRoutes } from './stream.js';
import { webhookRoutes } from './webhooks.js';

/** Every route that needs a key of an org, the busiest first: the router asks them in this order. */
export const ORG_ROUTES: readonly Route[] = [
  registerEffectRoute,
  ...effectReportRoutes,
  ...eventRoutes,
  ...sessionRoutes,
  ...sessionEndRoutes,
  ...sessionRollbackRoutes,
  ...sessionDataRoutes,
  ...compensationRoutes,
  ...compensationPauseRoutes,
  ...deadLetterRoutes,
  ...deadLetterActionRoutes,
  ...deadLetterConfirmRoutes,
  ...deadLetterBulkRoutes,
  ...overviewRoutes,
  ...auditRoutes,
  ...streamRoutes,
  ...keyRoutes,
  ...secretRoutes,
  ...webhookRoutes,
];
