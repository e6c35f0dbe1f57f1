import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Request } from 'express';
import { SIGNED_IN_SECONDS } from '@undolog/shared/store/sign-ins';

const TOKEN_PATTERN = /^[\w-]{43}$/;

/** Under https a browser gives a cookie of this name only to the very host that set it, and only through https. */
function nameOf(request: Request): string {
  return request.secure ? '__Host-undolog' : 'undolog';
}

/** The token that the request's cookie holds, if it has one of ours. */
export function cookieToken(request: Request): string | undefined {
  const start = `${nameOf(request)}=`;
  const parts = request.headers.cookie?.split(';').map((part) => part.trim()) ?? [];
  const token = parts.find((part) => part.startsWith(start))?.slice(start.length);
  return token !== undefined && TOKEN_PATTERN.test(token) ? token : undefined;
}

function cookie(request: Request, token: string, seconds: number): string {
  const secure = request.secure ? '; Secure' : '';
  return `${nameOf(request)}=${token}; Max-Age=${seconds}; Path=/; HttpOnly; SameSite=Strict${secure}`;
}

export const keepCookie = (request: Request, token: string): string => cookie(request, token, SIGNED_IN_SECONDS);
export const dropCookie = (request: Request): string => cookie(request, '', 0);

/** Made from the cookie's token, which no script can read, so it needs no place of its own. */
export function csrfTokenOf(token: string): string {
  return createHmac('sha256', token).update('csrf').digest('base64url');
}

const SAFE_METHODS = new Set(['GET', 'HEAD']);

/** Another site, or another server of this site, made the browser send the request; the words say why we think so. */
export function foreignSender(request: Request): string | undefined {
  const { origin, 'sec-fetch-site': site } = request.headers;
  // `none`: a person entered the address.
  const own = site === undefined || site === 'same-origin' || (site === 'none' && SAFE_METHODS.has(request.method));
  if (!own) return 'another page made the browser send this';
  if (origin === undefined) return undefined;
  const [sender, here] = [origin, `${origin.split(':', 1)[0]}://${request.host}`];
  const same = URL.canParse(sender) && URL.canParse(here) && new URL(sender).host === new URL(here).host;
  return same ? undefined : 'Origin is not the address that was asked; a proxy in between must pass Host on';
}

/** Why the page can't have sent a request that has its cookie; undefined: it has proved that it did. */
export function faultOfProof(request: Request, token: string): string | undefined {
  const foreign = foreignSender(request);
  const sent = request.get('x-undolog-csrf');
  // A reader need not prove anything; whoever gives a proof nevertheless is told that it is of another sign-in.
  if (foreign !== undefined || (sent === undefined && SAFE_METHODS.has(request.method))) return foreign;
  const given = Buffer.from(sent ?? '');
  const wanted = Buffer.from(csrfTokenOf(token));
  const good = given.length === wanted.length && timingSafeEqual(given, wanted);
  return good ? undefined : 'send the csrf_token of GET /dashboard/session as X-Undolog-CSRF';
}
