import express from 'express';
import { adminAccountRoutes } from '../accounts/accounts.http.js';
import { type AccountSettingOptions, accountSettings } from '../accounts/routes.js';
import { administratorRoutes } from '../administrators/administrators.http.js';
import type { AdministratorStore } from '../administrators/ports.js';
import { adminSignIn } from '../administrators/sign-in.http.js';
import type { SignIn } from '../administrators/sign-in.js';
import { auditRoutes } from '../audit/audit.http.js';
import type { AuditLog } from '../audit/ports.js';
import type { ConsoleSessions } from '../console/sessions.js';
import { adminDeliveries } from './deliveries.http.js';
import { masterKeyRoutes } from './master-keys.http.js';
import { adminOperation } from './operations.http.js';
import type { ServiceOperations } from './ports.js';
import { adminState } from './state.http.js';

export interface AdminOptions extends AccountSettingOptions {
  administrators: AdministratorStore;
  audit: Pick<AuditLog, 'append' | 'page'>;
  signIn: SignIn;
  sessions: Pick<ConsoleSessions, 'signedIn'>;
  operations: ServiceOperations;
}

/**
 * POST, GET  /admin/accounts                                     GET, PATCH   /admin/accounts/{id}
 * POST, GET  /admin/accounts/{id}/taxpayers                      GET, PATCH   …/taxpayers/{rnc}
 * the settings of an account (`accounts/routes.ts`) below /admin/accounts/{id}
 * and the routes of this folder, of `administrators/` and of `audit/`
 */
export function adminRoutes(options: AdminOptions): express.Router {
  const routes = express.Router({ caseSensitive: true, mergeParams: true });
  const { signIn, sessions, operations, acting, recorded } = options;
  routes.use(adminSignIn(signIn, sessions));
  routes.use(administratorRoutes(options));
  routes.use(auditRoutes(options));
  routes.use(adminAccountRoutes(options));
  routes.use(accountSettings('/accounts/:id', options));
  if (operations.deliveries !== null) routes.use(adminDeliveries(operations.deliveries, acting));
  routes.use(masterKeyRoutes(options));
  routes.use(adminOperation(operations, acting, recorded));
  routes.use(adminState(operations, recorded));
  return routes;
}
