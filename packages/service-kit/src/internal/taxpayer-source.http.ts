import { type AccountTaxpayers, accountTaxpayersSchema, type TaxpayerState, taxpayerStateSchema } from '@ecf/contracts';
import { IDENTITY_HEADER, IDENTITY_LIFE_SECONDS, signIdentity } from '../security/identity.js';
import { traceHeaders } from '../telemetry/tracing.js';

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
  identityKey: Uint8Array;
  /** Name of the calling service. */
  service: string;
  clock: () => Date;
  timeoutMs?: number;
}

/** The gateway's internal routes, over HTTP with a signed identity. */
export function createHttpTaxpayerSource(options: HttpTaxpayerSourceOptions): TaxpayerSource {
  async function query(path: string): Promise<unknown> {
    const iat = Math.floor(options.clock().getTime() / 1000);
    const caller = {
      kind: 'service',
      service: options.service,
      request_id: '',
      iat,
      exp: iat + IDENTITY_LIFE_SECONDS,
    } as const;
    const response = await fetch(new URL(path, options.gatewayUrl), {
      headers: {
        [IDENTITY_HEADER]: signIdentity(caller, options.identityKey),
        accept: 'application/json',
        ...traceHeaders(),
      },
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
