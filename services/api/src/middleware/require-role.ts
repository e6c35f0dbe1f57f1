import type { RequestHandler } from 'express';
import type { Role } from '@undolog/shared/wire/roles';
import { refuse, send } from '../reply.js';
import { callerOf } from './authenticate.js';

/** Checked before anything is looked up, so that a wrong role learns nothing about ids. */
export function requireRole(roles: readonly Role[]): RequestHandler {
  return (_request, response, next) => {
    const { role } = callerOf(response);
    if (role === 'admin' || roles.includes(role)) return next();
    send(response, refuse('forbidden', `this needs a key of role ${[...roles, 'admin'].join(' or ')}`));
  };
}
