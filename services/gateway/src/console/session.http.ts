import { type ConsoleSessionBody, SESSION_COOKIE, signInSchema } from '@ecf/contracts';
import { validate } from '@ecf/http';
import { ApiError } from '@ecf/kit';
import express, { type Request, type Response } from 'express';
import type { ApiKeyStore } from '../accounts/ports.js';
import { callOf } from '../edge/edge.http.js';
import { json } from '../edge/input.http.js';
import { otherMethods } from '../edge/other-methods.js';
import { type ConsoleSessions, type SignedIn, sessionSecret } from './sessions.js';

/** `POST, GET, DELETE /console/session`. */
export function sessionRoutes(sessions: ConsoleSessions, apiKeys: Pick<ApiKeyStore, 'find'>): express.Router {
  const routes = express.Router({ caseSensitive: true });

  async function bodyOf(signedIn: SignedIn): Promise<ConsoleSessionBody> {
    if (signedIn.kind === 'administrator') {
      const { id, name, role } = signedIn.administrator;
      return { kind: 'administrator', id, name, role, environments: [] };
    }
    const { accountId, keyId, environments } = signedIn.holder;
    const name = (await apiKeys.find(accountId, keyId))?.name ?? '';
    return { kind: 'account', id: keyId, name, role: null, environments: [...environments] };
  }

  routes
    .route('/console/session')
    .post(json, async (req: Request, res: Response) => {
      const { api_key, admin_token } = validate(signInSchema, req.body, 'body');
      const sender = callOf(res).sender ?? '';
      const begun =
        api_key === undefined
          ? await sessions.beginWithAdminToken(admin_token ?? '', sender)
          : await sessions.beginWithApiKey(api_key, sender);
      if (begun === null)
        throw new ApiError(
          401,
          'invalid_admin_token',
          'This token is neither ADMIN_TOKEN of the deployment nor that of an administrator, or it has ended; sign in with a valid one.',
        );
      const before = sessionSecret(req);
      if (before !== null) await sessions.end(before);
      res.cookie(SESSION_COOKIE, begun.secret, cookieOf(req));
      res.json(await bodyOf(begun.signedIn));
    })
    .get(async (req, res) => {
      const secret = sessionSecret(req);
      if (secret === null) throw new ApiError(401, 'session_ended', 'There is no session; sign in at /console/.');
      res.json(await bodyOf(await sessions.signedIn(secret, callOf(res).sender ?? '')));
    })
    .delete(async (req, res) => {
      const secret = sessionSecret(req);
      if (secret !== null) await sessions.end(secret);
      res.clearCookie(SESSION_COOKIE, cookieOf(req)).status(204).end();
    })
    .all(otherMethods('GET', 'HEAD', 'POST', 'DELETE'));
  return routes;
}

/** Sent back over TLS only, where the page came over TLS: then its origin says so. */
function cookieOf(req: Request) {
  const secure = req.headers.origin?.startsWith('https:') === true;
  return { path: '/', httpOnly: true, sameSite: 'strict' as const, secure };
}
