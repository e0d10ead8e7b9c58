import { type NumberRange, newRangesSchema, putRangesQuerySchema } from '@ecf/contracts';
import { sendDocument, validate } from '@ecf/http';
import type { SealingKeys } from '@ecf/kit';
import express, { type Request, type Response } from 'express';
import { ownEnvironments, requireForProduction, requireOwnEnvironments } from '../access/own-rights.js';
import { actedBy } from '../audit/acting.http.js';
import { accountId, found, json, managerOf, rnc } from '../edge/input.http.js';
import { otherMethods } from '../edge/other-methods.js';
import { logoFacts } from './bodies.js';
import { certificateParts, uploaded } from './certificate-form.http.js';
import { certificateBody, type OpenCertificate, sealUploaded } from './certificate-upload.js';
import { type CheckLogo, readUploadedLogo } from './logo-upload.http.js';
import type { NumbersLeft } from './numbers-left.js';
import type { ApiKeyStore, TaxpayerStates, TaxpayerStore } from './ports.js';
import { removedRanges, requireRemovable, sizeOf, type UsedRange } from './removed-ranges.js';

export interface TaxpayerSettingOptions {
  taxpayers: Pick<TaxpayerStore, 'find' | 'putCertificate' | 'putLogo' | 'deleteLogo' | 'putRanges'>;
  states: Pick<TaxpayerStates, 'logo'>;
  apiKeys: Pick<ApiKeyStore, 'hasFor'>;
  sealingKeys: SealingKeys;
  openCertificate: OpenCertificate;
  checkLogo: CheckLogo;
  numbersLeft: NumbersLeft;
  clock: () => Date;
}

/**
 * PUT, GET          …/taxpayers/{rnc}/certificate
 * PUT, GET, DELETE  …/taxpayers/{rnc}/logo
 * PUT, GET          …/taxpayers/{rnc}/ranges
 */
export function taxpayerSettingRoutes(base: string, options: TaxpayerSettingOptions): express.Router {
  const { taxpayers, states, apiKeys, sealingKeys, openCertificate, checkLogo, numbersLeft, clock } = options;
  const routes = express.Router({ caseSensitive: true });
  const taxpayerOf = async (req: Request, res: Response) =>
    found(await taxpayers.find(accountId(req, res), rnc(req, res)), 'taxpayer');

  /** The ranges with numbers that the issuer used; none where the deployment has no emission service. */
  async function usedOf(issuer: string, ranges: readonly NumberRange[]): Promise<UsedRange[]> {
    const left = await numbersLeft(issuer, ranges);
    const used = left.map(({ next: _, remaining, ...range }) => ({
      ...range,
      used: sizeOf(range) - (remaining ?? sizeOf(range)),
    }));
    return used.filter((range) => range.used > 0);
  }

  routes
    .route(`${base}/taxpayers/:rnc/certificate`)
    .put(certificateParts, async (req: Request, res: Response) => {
      const account_id = accountId(req, res);
      const taxpayer = await taxpayerOf(req, res);
      if (await apiKeys.hasFor(account_id, 'eCF'))
        requireForProduction(managerOf(res), 'a certificate of this account, which signs for eCF too');
      const sealed = await sealUploaded(
        { ...uploaded(req), account_id, rnc: taxpayer.rnc },
        { openCertificate, sealingKeys, now: clock() },
      );
      const stored = await taxpayers.putCertificate(account_id, taxpayer.rnc, sealed, actedBy(req, res));
      res.json(certificateBody(found(found(stored, 'taxpayer').certificate, 'certificate')));
    })
    .get(async (req: Request, res: Response) => {
      res.json(certificateBody(found((await taxpayerOf(req, res)).certificate, 'certificate')));
    })
    .all(otherMethods('GET', 'PUT'));
  routes
    .route(`${base}/taxpayers/:rnc/logo`)
    .put(async (req: Request, res: Response) => {
      const account_id = accountId(req, res);
      const taxpayer = await taxpayerOf(req, res);
      if (await apiKeys.hasFor(account_id, 'eCF'))
        requireForProduction(managerOf(res), 'a logo of this account, which is printed for eCF too');
      const logo = await readUploadedLogo(req, account_id, checkLogo);
      const stored = await taxpayers.putLogo(account_id, taxpayer.rnc, logo, actedBy(req, res));
      res.json(logoFacts(found(found(stored, 'taxpayer').logo, 'logo')));
    })
    .get(async (req: Request, res: Response) => {
      const { bytes, contentType } = found(await states.logo((await taxpayerOf(req, res)).rnc), 'logo');
      sendDocument(req, res, bytes, contentType);
    })
    .delete(async (req: Request, res: Response) => {
      const account_id = accountId(req, res);
      const taxpayer = await taxpayerOf(req, res);
      if (await apiKeys.hasFor(account_id, 'eCF'))
        requireForProduction(managerOf(res), 'a logo of this account, which is printed for eCF too');
      const deleted = await taxpayers.deleteLogo(account_id, taxpayer.rnc, actedBy(req, res));
      found(deleted === 'none' ? null : deleted, 'logo');
      res.status(204).end();
    })
    .all(otherMethods('GET', 'PUT', 'DELETE'));
  routes
    .route(`${base}/taxpayers/:rnc/ranges`)
    .put(json, async (req: Request, res: Response) => {
      const ranges = validate(newRangesSchema, req.body, 'body');
      const manager = managerOf(res);
      requireOwnEnvironments(
        manager,
        ranges.map(({ env }) => env),
      );
      const environments = ownEnvironments(manager);
      const { remove } = validate(putRangesQuerySchema, req.query, 'query');
      const taxpayer = await taxpayerOf(req, res);
      const before = taxpayer.ranges.filter(({ env }) => environments.includes(env));
      const removed = removedRanges(before, ranges);
      if (remove !== 'true') requireRemovable(ranges, removed, await usedOf(taxpayer.rnc, removed));
      const change = { ranges, environments, removed };
      const put = taxpayers.putRanges(accountId(req, res), taxpayer.rnc, change, actedBy(req, res));
      const stored = found(await put, 'taxpayer').ranges;
      res.json(stored.filter(({ env }) => environments.includes(env)));
    })
    .get(async (req: Request, res: Response) => {
      const { rnc: issuer, ranges } = await taxpayerOf(req, res);
      const environments = ownEnvironments(managerOf(res));
      res.json(
        await numbersLeft(
          issuer,
          ranges.filter(({ env }) => environments.includes(env)),
        ),
      );
    })
    .all(otherMethods('GET', 'PUT'));
  return routes;
}
