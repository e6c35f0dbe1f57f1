import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import express, { Router, type RequestHandler } from 'express';

/** Kept, but used only once the server has said that it is still the same. */
function askEachTime(response: { setHeader(name: string, value: string): unknown }): void {
  response.setHeader('cache-control', 'no-cache');
}

const notThere: RequestHandler = (_request, response) => {
  response.status(404).set('cache-control', 'no-store').type('text/plain').send('There is no such file.\n');
};

/**
 * `/dashboard` and below: the files of the page, and its one document for every other address. Files under `assets` have
 * their hash in their name and are kept by browsers; the document is asked for each time.
 */
export function pageRouter(folder: string): Router {
  const document: RequestHandler = async (_request, response) => {
    response.set('cache-control', 'no-store');
    const page = await readFile(join(folder, 'index.html')).catch(() => undefined);
    if (page) response.type('text/html').send(page);
    else response.status(404).type('text/plain').send('The web page was not built. `npm run build` builds it.\n');
  };
  const files = { index: false, redirect: false } as const;
  const router = Router({ caseSensitive: true });
  router.use('/dashboard/assets', express.static(join(folder, 'assets'), { ...files, immutable: true, maxAge: '1y' }));
  router.use('/dashboard/assets', notThere);
  router.use('/dashboard', express.static(folder, { ...files, cacheControl: false, setHeaders: askEachTime }));
  router.get(['/dashboard', '/dashboard/*path'], document);
  return router;
}
