import { randomUUID } from 'node:crypto';
import { type AdministratorBody, newAdministratorSchema } from '@ecf/contracts';
import { toIsoDominican } from '@ecf/domain';
import { validate } from '@ecf/http';
import { ApiError } from '@ecf/kit';
import express, { type Request, type Response } from 'express';
import { timeOrNull } from '../accounts/bodies.js';
import { actedBy } from '../audit/acting.http.js';
import { administratorId, expiryOf, found, json, pageOf } from '../edge/input.http.js';
import { otherMethods } from '../edge/other-methods.js';
import type { Administrator, AdministratorStore } from './ports.js';
import { hashAdminToken, makeAdminToken } from './sign-in.js';

export interface AdministratorRouteOptions {
  administrators: AdministratorStore;
  clock: () => Date;
}

/**
 * POST, GET    /admin/administrators
 * GET, DELETE  /admin/administrators/{id}
 */
export function administratorRoutes({ administrators, clock }: AdministratorRouteOptions): express.Router {
  const routes = express.Router({ caseSensitive: true });
  routes
    .route('/administrators')
    .post(json, async (req: Request, res: Response) => {
      const { name, role, expires_at } = validate(newAdministratorSchema, req.body, 'body');
      const token = makeAdminToken();
      const rights = { name, role, expiresAt: expiryOf(expires_at, clock()) };
      const created = await administrators.create(
        { id: randomUUID(), ...rights, hash: hashAdminToken(token) },
        actedBy(req, res),
      );
      if (created === 'taken')
        throw new ApiError(
          409,
          'conflict',
          `${name}, in this or another case, is or was the name of an administrator, and the audit log names its acts by it; use another name.`,
        );
      res.status(201).json({ id: created.id, token });
    })
    .get(async (req: Request, res: Response) => {
      res.json((await administrators.list(pageOf(req))).map(administratorBody));
    })
    .all(otherMethods('GET', 'POST'));
  routes
    .route('/administrators/:administratorId')
    .get(async (req: Request, res: Response) => {
      res.json(administratorBody(found(await administrators.find(administratorId(req)), 'administrator')));
    })
    .delete(async (req: Request, res: Response) => {
      found(await administrators.delete(administratorId(req), clock(), actedBy(req, res)), 'administrator');
      res.status(204).end();
    })
    .all(otherMethods('GET', 'DELETE'));
  return routes;
}

function administratorBody({ id, name, role, createdAt, expiresAt }: Administrator): AdministratorBody {
  return { id, name, role, created_at: toIsoDominican(createdAt), expires_at: timeOrNull(expiresAt) };
}
