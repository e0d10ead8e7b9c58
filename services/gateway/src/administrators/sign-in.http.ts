import { ADMIN_OPERATIONS, type AdminOperation } from '@ecf/contracts';
import { ApiError } from '@ecf/kit';
import type { RequestHandler } from 'express';
import { callOf } from '../edge/edge.http.js';
import { createRouter } from '../edge/routing.js';
import { requireRole, type SignIn } from './sign-in.js';

const OPERATIONS = createRouter<AdminOperation>(ADMIN_OPERATIONS);

/** Names the operation for the access log, finds the administrator, and compares the role. */
export function adminSignIn(signIn: SignIn): RequestHandler {
  return async (req, res, next) => {
    const call = callOf(res);
    const routed = OPERATIONS.route(req.method, req.baseUrl + req.path);
    if (routed.kind === 'operation') call.adminOperation = routed.operation;
    const token = /^Bearer +(\S+) *$/i.exec(req.headers.authorization ?? '')?.[1] ?? '';
    const administrator = await signIn(token, call.sender ?? '');
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
