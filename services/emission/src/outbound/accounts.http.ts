import { createHttpTaxpayerSource } from '@ecf/service-kit/internal';
import type { EmissionConfig } from '../config.js';
import type { AccountSource } from '../core/ports.js';

/** Accounts as the gateway knows them. */
export function gatewayAccounts(config: EmissionConfig, key: Uint8Array, clock: () => Date): AccountSource {
  const gatewayUrl = config.GATEWAY_URL;
  if (gatewayUrl === undefined) {
    return {
      fetch: () => Promise.reject(new Error('GATEWAY_URL is not set, so changed accounts cannot be fetched')),
    };
  }
  const source = createHttpTaxpayerSource({ gatewayUrl, identityKey: key, service: 'emission', clock });
  return { fetch: (accountId) => source.account(accountId) };
}
