import type { Environment } from '@ecf/domain';
import type { TaxpayerRegister } from '../ledger/taxpayer-register.js';
import { TEXTS } from './texts.js';
import type { Message } from './verdict.js';

/**
 * A buyer that is registered as inactive draws an observation (1385); in certification, where the same sentence comes
 * with code 0, a rejection. Every other well-formed buyer is taken. Source: field statistics.
 */
export function checkBuyer(
  taxpayers: Pick<TaxpayerRegister, 'find'>,
  env: Environment,
  buyer: string | null,
): Message[] {
  if (buyer === null || taxpayers.find(buyer)?.active !== false) return [];
  return [env === 'CerteCF' ? { ...TEXTS.unknownBuyer, code: '0' } : TEXTS.unknownBuyer];
}
