import { mayActFor } from '../authentication/delegation.js';
import type { TaxpayerRegister } from '../ledger/taxpayer-register.js';
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
