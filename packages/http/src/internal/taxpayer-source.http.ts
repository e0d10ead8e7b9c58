import { createHash } from 'node:crypto';
import { type AccountTaxpayers, accountTaxpayersSchema, type TaxpayerState, taxpayerStateSchema } from '@ecf/contracts';
import { traceHeaders } from '@ecf/kit';
import { IDENTITY_HEADER, type Identities } from '../identity/identity.js';

/** Queries the gateway about taxpayers that changed recently. */
export interface TaxpayerSource {
  /** All taxpayers of an account, complete up to the revision given with them. */
  account(accountId: string): Promise<AccountTaxpayers>;
  /** Null if no account has the RNC. */
  taxpayer(rnc: string): Promise<TaxpayerState | null>;
}

/** Queries the gateway for the logos of taxpayers. */
export interface LogoSource {
  /** The PNG or JPEG of a taxpayer; null without one. */
  logo(rnc: string): Promise<StoredLogo | null>;
}

/** A logo that the gateway checked when it was stored. */
export interface StoredLogo {
  readonly type: 'png' | 'jpg';
  readonly bytes: Uint8Array;
  /** SHA-256 of the bytes in hexadecimal. */
  readonly sha256: string;
}

export interface HttpTaxpayerSourceOptions {
  /** Address of the gateway. */
  gatewayUrl: string;
  /** The identities of the calling service. */
  identities: Identities;
  timeoutMs?: number;
}

/** The gateway's internal routes, over HTTP with a signed identity. */
export function createHttpTaxpayerSource(options: HttpTaxpayerSourceOptions): TaxpayerSource & LogoSource {
  /** Null for 404. */
  async function get(path: string): Promise<Response | null> {
    const url = new URL(path, options.gatewayUrl);
    const identity = await options.identities.sign(
      { kind: 'service', request_id: '' },
      { audience: 'gateway', method: 'GET', path: url.pathname },
    );
    const response = await fetch(url, {
      headers: { [IDENTITY_HEADER]: identity, ...traceHeaders() },
      signal: AbortSignal.timeout(options.timeoutMs ?? 5_000),
      redirect: 'error',
    });
    if (response.status === 404) return null;
    if (!response.ok) throw new Error(`the gateway answered ${response.status} to ${path}`);
    return response;
  }

  const query = async (path: string): Promise<unknown> => (await get(path))?.json() ?? null;

  return {
    async account(accountId) {
      const answer = await query(`/internal/accounts/${encodeURIComponent(accountId)}/taxpayers`);
      return answer === null
        ? { account_id: accountId, revision: 0, taxpayers: [] }
        : accountTaxpayersSchema.parse(answer);
    },
    async taxpayer(rnc) {
      const answer = await query(`/internal/taxpayers/${encodeURIComponent(rnc)}`);
      return answer === null ? null : taxpayerStateSchema.parse(answer);
    },
    async logo(rnc) {
      const response = await get(`/internal/taxpayers/${encodeURIComponent(rnc)}/logo`);
      if (response === null) return null;
      const type = response.headers.get('content-type') === 'image/png' ? 'png' : 'jpg';
      const bytes = Buffer.from(await response.arrayBuffer());
      return { type, bytes, sha256: createHash('sha256').update(bytes).digest('hex') };
    },
  };
}

/** The gateway as a source of taxpayers; null without an address: then only events count. */
export function gatewayTaxpayerSource(
  gatewayUrl: string | undefined,
  options: Omit<HttpTaxpayerSourceOptions, 'gatewayUrl'>,
): (TaxpayerSource & LogoSource) | null {
  return gatewayUrl === undefined ? null : createHttpTaxpayerSource({ ...options, gatewayUrl });
}
