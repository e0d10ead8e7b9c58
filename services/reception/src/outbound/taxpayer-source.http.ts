import { accountTaxpayersSchema, taxpayerStateSchema } from '@ecf/contracts';
import type { TaxpayerSource } from '../core/ports.js';

export interface HttpTaxpayerSourceOptions {
  /** Address of the gateway. */
  readonly url: string;
  /** Headers that prove which service calls. */
  readonly identity: () => Record<string, string>;
  readonly timeoutMs: number;
}

/** Asks the gateway: `GET /internal/accounts/{id}/taxpayers` and `GET /internal/taxpayers/{rnc}`. */
export function createHttpTaxpayerSource({ url, identity, timeoutMs }: HttpTaxpayerSourceOptions): TaxpayerSource {
  async function ask(path: string): Promise<unknown> {
    const response = await fetch(`${url}${path}`, {
      headers: { accept: 'application/json', ...identity() },
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (response.status === 404) {
      await response.arrayBuffer();
      return null;
    }
    if (!response.ok) throw new Error(`the gateway answered ${response.status} to the question for ${path}`);
    return response.json();
  }

  return {
    async account(accountId) {
      return accountTaxpayersSchema.parse(await ask(`/internal/accounts/${encodeURIComponent(accountId)}/taxpayers`));
    },
    async taxpayer(rnc) {
      const state = await ask(`/internal/taxpayers/${encodeURIComponent(rnc)}`);
      return state === null ? null : taxpayerStateSchema.parse(state);
    },
  };
}
