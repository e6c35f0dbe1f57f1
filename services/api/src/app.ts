import express, { type Express, type RequestHandler } from 'express';
import { answerRoute } from './answer-route.js';
import { docsRouter } from './docs-page.js';
import { KeyLookup } from './key-lookup.js';
import { authenticate, requireAdminToken } from './middleware/authenticate.js';
import { nameRoute, observe } from './middleware/observe.js';
import { notFound, problemHandler } from './middleware/problem.js';
import { limitRate } from './middleware/rate-limit.js';
import { requestId } from './middleware/request-id.js';
import { requireRole } from './middleware/require-role.js';
import { refuse, send } from './reply.js';
import type { Resources } from './resources.js';
import type { Route } from './route.js';
import { ORG_ROUTES } from './routes/all-routes.js';
import { healthRouter } from './routes/health.js';
import { asInstallation, createOrgRoute } from './routes/orgs.js';

const named = (route: Route): RequestHandler => (_request, response, next) => {
  nameRoute(response, route.path);
  next();
};

/** `{name}` as OpenAPI writes it to `:name` as Express does. */
function expressPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}

function mount(app: Express, route: Route, resources: Resources): void {
  app[route.method](expressPath(route.path), named(route), requireRole(route.roles), answerRoute(route, resources));
}

/** A path that exists answers 405 to the methods it does not have. */
function mountMethodFaults(app: Express, routes: readonly Route[]): void {
  for (const path of new Set(routes.map((route) => route.path))) {
    const known = routes.filter((route) => route.path === path);
    const allow = known.map((route) => route.method.toUpperCase()).join(', ');
    app.all(expressPath(path), (_request, response) => {
      const reply = refuse('method_not_allowed', `this path takes ${allow}`);
      send(response, { ...reply, headers: { allow } });
    });
  }
}

/** The API as an Express app; the caller listens. */
export function createApp(resources: Resources): Express {
  const { config, database, logger, metrics } = resources;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');
  app.use(requestId, observe(metrics, logger));

  const admin = [requireAdminToken(config.adminToken), asInstallation];
  app.post(createOrgRoute.path, named(createOrgRoute), ...admin, answerRoute(createOrgRoute, resources));

  app.use('/v1', authenticate(new KeyLookup(database)));
  if (config.rateLimitPerSecond !== undefined) app.use('/v1', limitRate(config.rateLimitPerSecond));
  for (const route of ORG_ROUTES) mount(app, route, resources);
  mountMethodFaults(app, [createOrgRoute, ...ORG_ROUTES]);

  app.use(healthRouter(resources), docsRouter());
  app.use(notFound);
  app.use(problemHandler(logger));
  return app;
}
