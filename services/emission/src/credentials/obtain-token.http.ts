import { isRnc } from '@ecf/domain';
import type { ServiceRoute } from '@ecf/http';
import { identityOf } from '@ecf/http/identity';
import { InvalidRequest } from '@ecf/kit';
import { accountCaller } from '@ecf/taxpayer-replica';
import type { Request, Response } from 'express';
import type { ObtainToken } from './obtain-token.js';

/** `GET /obtain_token` */
export function obtainTokenRoute(obtainToken: ObtainToken): ServiceRoute {
  return [
    'get',
    '/obtain_token',
    'account',
    async (req: Request, res: Response) => {
      const identity = identityOf(req);
      const rnc = req.headers['rnc-issuing'];
      if (rnc !== undefined && (typeof rnc !== 'string' || !isRnc(rnc)))
        throw new InvalidRequest([{ loc: ['header', 'rnc-issuing'], msg: 'an RNC has 9 or 11 digits', type: 'rnc' }]);
      const { env } = identity;
      const token = await obtainToken({ caller: accountCaller(identity), env, issuerRnc: rnc ?? null });
      res.setHeader('cache-control', 'no-store');
      res.type('application/json').end(JSON.stringify(token));
    },
  ];
}
