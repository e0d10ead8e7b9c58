import type { Environment } from '@ecf/domain';
import { mayActFor, type TaxpayerRegister } from '../ledger/taxpayer-register.js';
import { TEXTS } from './texts.js';
import type { Message } from './verdict.js';

/** Why the issuer may not issue, or the signer not act for it; null when all is well. None of these burns the number. */
export function checkIssuer(taxpayers: Pick<TaxpayerRegister, 'find'>, rnc: string, signer: string): Message | null {
  if (!mayActFor(taxpayers, signer, rnc)) return TEXTS.delegation;
  const issuer = taxpayers.find(rnc);
  if (!issuer) return null;
  if (!issuer.active) return TEXTS.inactiveIssuer;
  return issuer.electronic ? null : TEXTS.notElectronic;
}

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
