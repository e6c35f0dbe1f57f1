import { readFileSync } from 'node:fs';
import { Router } from 'express';
import helmet from 'helmet';
import { describeApi } from './openapi.js';
import { JSON_TYPE, send } from './reply.js';
import { readScalarBundle } from './scalar-bundle.js';

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>UndoLog API</title>
  </head>
  <body>
    <div id="app"></div>
    <script src="/docs/scalar.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`;

// Nothing is fetched from elsewhere: no fonts, no proxy, no telemetry.
const START = `Scalar.createApiReference('#app', {
  url: '/openapi.json',
  withDefaultFonts: false,
  telemetry: false,
  showDeveloperTools: 'never',
  hideClientButton: true,
  agent: { disabled: true },
  mcp: { disabled: true },
});
`;

/** The page styles itself from its script; beyond that only this server's own files are allowed. */
const contentSecurityPolicy = {
  useDefaults: false,
  directives: {
    defaultSrc: ["'none'"],
    scriptSrc: ["'self'"],
    styleSrc: ["'self'", "'unsafe-inline'"],
    imgSrc: ["'self'", 'data:'],
    fontSrc: ["'self'", 'data:'],
    connectSrc: ["'self'"],
    workerSrc: ["'self'", 'blob:'],
    baseUri: ["'none'"],
    formAction: ["'none'"],
    frameAncestors: ["'none'"],
  },
};

function versionOfPackage(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

/** `/openapi.json`, and `/docs` for people. */
export function docsRouter(): Router {
  let openapi: string | undefined;
  const router = Router({ caseSensitive: true });
  router.get('/openapi.json', (_request, response) => {
    openapi ??= JSON.stringify(describeApi(versionOfPackage()));
    send(response, { status: 200, contentType: JSON_TYPE, text: openapi });
  });
  router.use('/docs', helmet({ contentSecurityPolicy, strictTransportSecurity: false }));
  router.get('/docs', (_request, response) => {
    send(response, { status: 200, contentType: 'text/html; charset=utf-8', text: PAGE });
  });
  router.get('/docs/start.js', (_request, response) => {
    send(response, { status: 200, contentType: 'text/javascript; charset=utf-8', text: START });
  });
  router.get('/docs/scalar.js', async (_request, response) => {
    const headers = { 'cache-control': 'public, max-age=86400' };
    send(response, {
      status: 200,
      contentType: 'text/javascript; charset=utf-8',
      text: await readScalarBundle(),
      headers,
    });
  });
  return router;
}
