import type { TaxpayerRegister } from '../ledger/taxpayer-register.js';

/** Whether the certificate's holder may act for the taxpayer; only a registered list of delegates says no. */
export function mayActFor(taxpayers: Pick<TaxpayerRegister, 'find'>, holder: string, rnc: string): boolean {
  const delegates = taxpayers.find(rnc)?.delegates ?? null;
  return delegates === null || delegates.includes(holder);
}

/** Whether the holder may log in. A holder that is a registered taxpayer must be active and its own delegate. */
export function mayLogIn(taxpayers: Pick<TaxpayerRegister, 'find'>, holder: string): boolean {
  const self = taxpayers.find(holder);
  return !self || (self.active && mayActFor(taxpayers, holder, holder));
}
