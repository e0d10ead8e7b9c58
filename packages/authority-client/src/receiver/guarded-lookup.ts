import { isIP, type LookupFunction } from 'node:net';
import { type AddressGuard, type AddressLookup, isPublicAddress } from './address-guard.js';
import { createNameLookup } from './name-lookup.js';

export interface GuardOptions {
  addressGuard?: AddressGuard;
  lookup?: AddressLookup;
}

export class AddressRefused extends Error {
  static readonly code = 'ADDRESS_REFUSED';
  readonly code = AddressRefused.code;
}

/**
 * A resolver that gives only addresses that the guard allows. The connection itself uses it, so a name cannot show one address
 * to the check and another to the connection.
 */
export function guardedLookup(options: GuardOptions): LookupFunction {
  const allowed = options.addressGuard ?? isPublicAddress;
  const resolve = options.lookup ?? createNameLookup();
  return (hostname, lookupOptions, callback) => {
    resolve(hostname).then(
      (found) => {
        const { family } = lookupOptions;
        const wanted = family === 4 || family === 6 ? found.filter((entry) => entry.family === family) : found;
        const addresses = wanted.filter((entry) => allowed(entry.address));
        const [first] = addresses;
        if (!first) {
          const error =
            wanted.length === 0 ? notFound(hostname) : new AddressRefused(`${hostname} has no allowed address`);
          callback(error, '', 0);
        } else if (lookupOptions.all) {
          callback(null, addresses);
        } else {
          callback(null, first.address, first.family);
        }
      },
      (error: NodeJS.ErrnoException) => callback(error, '', 0),
    );
  };
}

/** A connection to a literal address uses no resolver. */
export function literalRefused(options: GuardOptions, url: URL): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return isIP(host) !== 0 && !(options.addressGuard ?? isPublicAddress)(host);
}

function notFound(hostname: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`query ENOTFOUND ${hostname}`), { code: 'ENOTFOUND' });
}
