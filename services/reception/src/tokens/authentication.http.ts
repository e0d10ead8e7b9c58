import type { BodyLimits } from '@ecf/http';
import { type FreeSpaceGuard, publicCaller, readXmlDocument } from '@ecf/public-ingress';
import type { Request, Response } from 'express';
import { refusalKind } from '../errors.http.js';
import type { ReceptionReport } from '../metrics.js';
import type { IssuedToken, ProviderTokens } from './provider-tokens.js';
import type { Seeds } from './seeds.js';

export interface AuthenticateParts {
  readonly seeds: Pick<Seeds, 'issue' | 'redeem'>;
  readonly tokens: Pick<ProviderTokens, 'issue'>;
  readonly bodyLimits: BodyLimits;
  readonly freeSpace: Pick<FreeSpaceGuard, 'require'>;
  readonly report: ReceptionReport;
}

/** `GET /fe/autenticacion/api/semilla`: a new seed. */
export function issueSeed(parts: AuthenticateParts) {
  return (req: Request, res: Response): void => {
    const { env, call } = publicCaller(req);
    try {
      parts.freeSpace.require();
    } catch (error) {
      parts.report.refused(refusalKind(error), call);
      throw error;
    }
    parts.report.seed('issued');
    sendXml(res, parts.seeds.issue(env));
  };
}

/** `POST /fe/autenticacion/api/validacioncertificado`: a signed seed in, a token out, as JSON or XML by `Accept`. */
export function validateSeed(parts: AuthenticateParts) {
  return async (req: Request, res: Response): Promise<void> => {
    const { env, call } = publicCaller(req);
    const endRequest = parts.report.begin();
    try {
      parts.freeSpace.require();
      const bytes = await readXmlDocument(req, parts.bodyLimits);
      const issued = await parts.seeds.redeem(bytes, env, (signer) => parts.tokens.issue(signer, env));
      parts.report.seed('redeemed');
      sendToken(req, res, issued);
    } catch (error) {
      parts.report.seed('refused');
      parts.report.refused(refusalKind(error), call);
      // The limit on the body may have answered already.
      if (!res.headersSent) throw error;
    } finally {
      endRequest();
    }
  };
}

function sendToken(req: Request, res: Response, issued: IssuedToken): void {
  const [expira, expedido] = [sortable(issued.expiresAt), sortable(issued.issuedAt)];
  res.setHeader('cache-control', 'no-store');
  res.vary('Accept');
  if (req.accepts(['application/json', 'application/xml', 'text/xml']) === 'application/json') {
    res.json({ token: issued.token, expira, expedido });
    return;
  }
  sendXml(
    res,
    '<?xml version="1.0" encoding="utf-8"?><RespuestaAutenticacion>' +
      `<token>${issued.token}</token><expira>${expira}</expira><expedido>${expedido}</expedido></RespuestaAutenticacion>`,
  );
}

function sendXml(res: Response, xml: string): void {
  res.setHeader('content-type', 'application/xml; charset=utf-8');
  res.setHeader('cache-control', 'no-store');
  res.end(xml);
}

/** `yyyy-MM-ddTHH:mm:ssZ`, as the authority writes the dates of its tokens. */
function sortable(at: Date): string {
  return at.toISOString().replace(/\.\d{3}Z$/, 'Z');
}
