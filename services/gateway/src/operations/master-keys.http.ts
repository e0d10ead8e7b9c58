import { type MasterKeyState, SEALING_SERVICES } from '@ecf/contracts';
import { toIsoDominican } from '@ecf/domain';
import { ApiError, type SealingKeys } from '@ecf/kit';
import express, { type Request, type Response } from 'express';
import { actedBy } from '../audit/acting.http.js';
import type { AuditLog } from '../audit/ports.js';
import { otherMethods } from '../edge/other-methods.js';
import type { ServiceOperations } from './ports.js';

export interface MasterKeyRouteOptions {
  readonly operations: Pick<ServiceOperations, 'masterKeys'>;
  readonly sealingKeys: Pick<SealingKeys, 'keyIds'>;
  readonly audit: Pick<AuditLog, 'append'>;
  readonly clock: () => Date;
}

/**
 * `GET /admin/master-keys`: what each service has under older keys, and the keys of its instances.
 * `POST /admin/master-keys/reseal`: seals one block in each service anew; to be repeated until no older value is left.
 */
export function masterKeyRoutes({ operations, sealingKeys, audit, clock }: MasterKeyRouteOptions): express.Router {
  const routes = express.Router({ caseSensitive: true });
  const key_id = sealingKeys.keyIds[0] as string;
  const sealing = SEALING_SERVICES.flatMap((service) => {
    const owner = operations.masterKeys[service];
    return owner === undefined ? [] : [{ service, owner }];
  });

  async function state(): Promise<MasterKeyState> {
    const services = sealing.map(async ({ service, owner }) => ({ service, ...(await owner.sealedState({ key_id })) }));
    return { key_id, services: await Promise.all(services) };
  }

  routes
    .route('/master-keys')
    .get(async (_req: Request, res: Response) => {
      res.json(await state());
    })
    .all(otherMethods('GET'));
  routes
    .route('/master-keys/reseal')
    .post(async (req: Request, res: Response) => {
      const before = await state();
      requireNewestEverywhere(before);
      if (before.services.every(({ older }) => older === 0)) {
        res.json(before);
        return;
      }
      // First: what began has its entry, whatever ends afterwards.
      const details = { key_id, older: before.services.reduce((sum, { older }) => sum + older, 0) };
      const act = { action: 'master_key.reseal', target: '/master-keys', details };
      await audit.append([{ at: toIsoDominican(clock()), ...actedBy(req, res), ...act }]);
      for (const { owner } of sealing) await owner.reseal({ key_id });
      res.json(await state());
    })
    .all(otherMethods('POST'));
  return routes;
}

/** An instance that seals with another key would continue making values under it. */
function requireNewestEverywhere({ key_id, services }: MasterKeyState): void {
  const others = services.flatMap(({ service, instances }) =>
    instances.filter(({ key_ids }) => key_ids[0] !== key_id).map(({ id }) => `${service} ${id}`),
  );
  if (others.length === 0) return;
  const detail = `These instances do not seal with the newest key ${key_id}: ${others.join(', ')}. Put that key first in MASTER_KEY, make SEALING_KEYS of it where they are used, and start them again. An instance that was killed counts for half a minute.`;
  throw new ApiError(409, 'conflict', detail);
}
