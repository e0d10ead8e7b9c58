import { ADMIN_OPERATIONS, type AdminOperation } from '@ecf/contracts';
import { ApiError } from '@ecf/kit';
import type { Request, RequestHandler } from 'express';
import { type ConsoleSessions, sessionSecret } from '../console/sessions.js';
import { callOf } from '../edge/edge.http.js';
import { createRouter } from '../edge/routing.js';
import type { SignedInAdministrator } from './ports.js';
import { requireRole, type SignIn } from './sign-in.js';

const OPERATIONS = createRouter<AdminOperation>(ADMIN_OPERATIONS);

/** Names the operation for the access log, finds the administrator, and compares the role. */
export function adminSignIn(signIn: SignIn, sessions: Pick<ConsoleSessions, 'signedIn'>): RequestHandler {
  return async (req, res, next) => {
    const call = callOf(res);
    const routed = OPERATIONS.route(req.method, req.baseUrl + req.path);
    if (routed.kind === 'operation') call.adminOperation = routed.operation;
    const administrator = await administratorOf(req, call.sender ?? '', signIn, sessions);
    if (administrator === null) {
      res.setHeader('www-authenticate', 'Bearer');
      throw new ApiError(
        401,
        'invalid_admin_token',
        'The administration needs Authorization: Bearer with the token of an administrator, or ADMIN_TOKEN of this deployment.',
      );
    }
    call.administrator = administrator;
    // No route may run whose role is not known.
    if (routed.kind === 'none')
      throw new ApiError(
        404,
        'unknown_route',
        `No operation is ${req.method} ${req.baseUrl}${req.path}; /admin/openapi.json lists all of them.`,
      );
    if (call.adminOperation !== undefined) requireRole(administrator, call.adminOperation);
    next();
  };
}

/** The administrator of the token; without one, of the session of the console. */
async function administratorOf(
  req: Request,
  sender: string,
  signIn: SignIn,
  sessions: Pick<ConsoleSessions, 'signedIn'>,
): Promise<SignedInAdministrator | null> {
  const secret = req.headers.authorization === undefined ? sessionSecret(req) : null;
  if (secret !== null) {
    const signedIn = await sessions.signedIn(secret, sender);
    if (signedIn.kind === 'administrator') return signedIn.administrator;
  }
  const token = /^Bearer +(\S+) *$/i.exec(req.headers.authorization ?? '')?.[1] ?? '';
  return signIn.withToken(token, sender);
}
