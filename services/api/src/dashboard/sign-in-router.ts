import { Router, type Request, type Response } from 'express';
import { exactValue } from '@undolog/shared/domain/exact-value';
import { endSignIn, findSignIn, openSignIn, type SignInView } from '@undolog/shared/store/sign-ins';
import { signInBody } from '@undolog/shared/wire/sign-ins';
import { hashOfSecret, makeSecret } from '../api-key.js';
import { ANSWER_WITHIN_MS, within } from '../deadline.js';
import { KeyLookup } from '../key-lookup.js';
import type { GuessLimiter } from '../middleware/rate-limit.js';
import { readBody } from '../middleware/read-body.js';
import { answer, noContent, refuse, send, type Reply } from '../reply.js';
import { check } from '../request-input.js';
import type { Resources } from '../resources.js';
import { cookieToken, csrfTokenOf, dropCookie, faultOfProof, foreignSender, keepCookie } from './cookie.js';

const MAX_SIGN_IN_BYTES = 4096;

const NOT_SIGNED_IN = 'nobody is signed in here, or no longer';

function tell(view: SignInView, token: string): Reply {
  return answer(200, { ...view, csrf_token: csrfTokenOf(token) });
}

function serve(respond: (request: Request) => Promise<Reply | undefined>) {
  return async (request: Request, response: Response): Promise<void> => {
    const reply = await within(ANSWER_WITHIN_MS, respond(request));
    if (reply) send(response, reply);
    else response.destroy();
  };
}

/**
 * `/dashboard/session`: who is signed in to the web page. A key is exchanged for a cookie with a random token, which
 * Postgres keeps as its hash: every api process knows it, and neither the page nor the browser keeps the key.
 */
export function signInRouter({ database }: Resources, guesses: GuessLimiter): Router {
  const keys = new KeyLookup(database);

  async function signIn(request: Request): Promise<Reply | undefined> {
    const foreign = foreignSender(request);
    if (foreign !== undefined) return refuse('csrf_refused', foreign);
    const body = await readBody(request, { maxBytes: MAX_SIGN_IN_BYTES });
    if (!body || 'refused' in body) return body?.refused;
    const checked = check(signInBody, exactValue(body.node));
    if ('refused' in checked) return checked.refused;
    const oneTooMany = await guesses.begin(request.ip);
    if (oneTooMany) return oneTooMany;
    const key = await keys.find(checked.value.api_key);
    if (!key) return refuse('unauthorized', 'this API key is not known or was revoked');
    await guesses.wasRight(request.ip);
    if (key.role === 'agent') {
      return refuse('forbidden', "this is an agent's key; the page needs one of role operator or admin");
    }
    const earlier = cookieToken(request);
    if (earlier !== undefined) await endSignIn(database, hashOfSecret(earlier));
    const token = makeSecret();
    const opened = await openSignIn(database, hashOfSecret(token), key);
    if (!opened) return refuse('unauthorized', 'this API key was revoked');
    return { ...tell(opened, token), headers: { 'set-cookie': keepCookie(request, token) } };
  }

  async function whoIsSignedIn(request: Request): Promise<Reply> {
    const token = cookieToken(request);
    const found = token === undefined ? undefined : await findSignIn(database, hashOfSecret(token));
    if (token === undefined || !found) return refuse('unauthorized', NOT_SIGNED_IN);
    const foreign = foreignSender(request);
    return foreign === undefined ? tell(found, token) : refuse('csrf_refused', foreign);
  }

  async function signOut(request: Request): Promise<Reply> {
    const token = cookieToken(request);
    const fault = token === undefined ? foreignSender(request) : faultOfProof(request, token);
    if (fault !== undefined) return refuse('csrf_refused', fault);
    if (token !== undefined) await endSignIn(database, hashOfSecret(token));
    return { ...noContent(), headers: { 'set-cookie': dropCookie(request) } };
  }

  const router = Router({ caseSensitive: true });
  router.route('/dashboard/session').post(serve(signIn)).get(serve(whoIsSignedIn)).delete(serve(signOut));
  return router;
}
