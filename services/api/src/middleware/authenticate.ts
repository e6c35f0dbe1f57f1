import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Request, RequestHandler } from 'express';
import type { Database } from '@undolog/shared/store/database';
import { findSignIn } from '@undolog/shared/store/sign-ins';
import { hashOfSecret } from '../api-key.js';
import { cookieToken, faultOfProof } from '../dashboard/cookie.js';
import type { KeyLookup } from '../key-lookup.js';
import { refuse, send, type Reply } from '../reply.js';
import type { Caller } from '../route.js';

const BEARER = /^Bearer +([\x21-\x7e]+)$/i;

function bearerToken(request: IncomingMessage): string | undefined {
  return BEARER.exec(request.headers.authorization ?? '')?.[1];
}

export type Authenticated = Caller | { readonly refused: Reply };

/** Whose key the request carries; without one, who is signed in to the web page and sent it from there. */
export async function authenticate(keys: KeyLookup, database: Database, request: Request): Promise<Authenticated> {
  const token = bearerToken(request);
  if (token === undefined) return authenticateByCookie(database, request);
  const caller = await keys.find(token);
  return caller ?? { refused: refuse('unauthorized', 'this API key is not known or was revoked') };
}

async function authenticateByCookie(database: Database, request: Request): Promise<Authenticated> {
  const token = cookieToken(request);
  if (token === undefined) return { refused: refuse('unauthorized', 'send Authorization: Bearer with an API key') };
  const signInHash = hashOfSecret(token);
  const found = await findSignIn(database, signInHash);
  if (!found) return { refused: refuse('unauthorized', 'whoever was signed in here is so no longer') };
  const fault = faultOfProof(request, token);
  if (fault !== undefined) return { refused: refuse('csrf_refused', fault) };
  return { orgId: found.org_id, keyId: found.key_id, role: found.role, signInHash };
}

/** The owner of the installation, who makes orgs and belongs to none of them. */
const INSTALLATION: Caller = { orgId: '00000000-0000-0000-0000-000000000000', keyId: 'admin-token', role: 'admin' };

/** Compares hashes, which takes the same time however much of a guess is right. */
export function isAdminToken(adminToken: string | undefined, given: string | undefined): boolean {
  if (adminToken === undefined || given === undefined) return false;
  return timingSafeEqual(hashOfSecret(given), hashOfSecret(adminToken));
}

export function adminTokenCheck(adminToken: string | undefined): (request: IncomingMessage) => Authenticated {
  return (request) =>
    isAdminToken(adminToken, bearerToken(request))
      ? INSTALLATION
      : { refused: refuse('unauthorized', 'this needs the admin token') };
}

/** The token of a request that may come from a browser. */
export function bearerOrBasic(request: IncomingMessage): string | undefined {
  return bearerToken(request) ?? basicPassword(request);
}

const BASIC = /^Basic +([A-Za-z0-9+/=]+)$/i;

/** A browser asks its user for a name and a password; the password is the token, and the name is anything. */
function basicPassword(request: IncomingMessage): string | undefined {
  const [, encoded] = BASIC.exec(request.headers.authorization ?? '') ?? [];
  const text = encoded === undefined ? '' : Buffer.from(encoded, 'base64').toString('utf8');
  return text.includes(':') ? text.slice(text.indexOf(':') + 1) : undefined;
}

/** The same check for what is not under `/v1`. */
export function requireAdminToken(adminToken: string | undefined): RequestHandler {
  const check = adminTokenCheck(adminToken);
  return (request, response, next) => {
    const checked = check(request);
    if ('refused' in checked) send(response, checked.refused);
    else next();
  };
}
