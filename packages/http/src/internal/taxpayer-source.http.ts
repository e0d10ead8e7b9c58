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

export interface HttpTaxpayerSourceOptions {
  /** Address of the gateway. */
  gatewayUrl: string;
  /** The identities of the calling service. */
  identities: Identities;
  timeoutMs?: number;
}

/** The gateway's internal routes, over HTTP with a signed identity. */
export function createHttpTaxpayerSource(options: HttpTaxpayerSourceOptions): TaxpayerSource {
  async function query(path: string): Promise<unknown> {
    const url = new URL(path, options.gatewayUrl);
    const identity = await options.identities.sign(
      { kind: 'service', request_id: '' },
      { audience: 'gateway', method: 'GET', path: url.pathname },
    );
    const response = await fetch(url, {
      headers: { [IDENTITY_HEADER]: identity, accept: 'application/json', ...traceHeaders() },
      signal: AbortSignal.timeout(options.timeoutMs ?? 5_000),
      redirect: 'error',
    });
    if (response.status === 404) return null;
    if (!response.ok) throw new Error(`the gateway answered ${response.status} to ${path}`);
    return response.json();
  }

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
  };
}

/** The gateway as a source of taxpayers; null without an address: then only events count. */
export function gatewayTaxpayerSource(
  gatewayUrl: string | undefined,
  options: Omit<HttpTaxpayerSourceOptions, 'gatewayUrl'>,
): TaxpayerSource | null {
  return gatewayUrl === undefined ? null : createHttpTaxpayerSource({ ...options, gatewayUrl });
}
