import { accountTaxpayersSchema } from '@ecf/contracts';
import type { AccountSource } from '../core/ports.js';

export interface HttpAccountSourceOptions {
  /** Base address of the gateway's internal interface. */
  readonly url: string;
  /** Headers that prove which service calls. */
  readonly identity: () => Record<string, string>;
  readonly timeoutMs: number;
}

/** Asks the gateway: `GET /internal/accounts/{id}/taxpayers`. */
export function createHttpAccountSource({ url, identity, timeoutMs }: HttpAccountSourceOptions): AccountSource {
  return {
    async fetch(accountId) {
      const response = await fetch(`${url}/internal/accounts/${encodeURIComponent(accountId)}/taxpayers`, {
        headers: { accept: 'application/json', ...identity() },
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
      });
      if (!response.ok) throw new Error(`the gateway answered ${response.status} to the question for an account`);
      return accountTaxpayersSchema.parse(await response.json());
    },
  };
}
