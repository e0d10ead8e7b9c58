import { BlockList, isIP, type LookupFunction } from 'node:net';
import { type AddressLookup, createNameLookup } from './name-lookup.js';

/** Whether a connection to this IP address is allowed. Checked at connect time, after name resolution. */
export type AddressGuard = (address: string) => boolean;

const NOT_PUBLIC = new BlockList();
// IANA special-purpose registries (RFC 6890 and successors).
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const) {
  NOT_PUBLIC.addSubnet(network, prefix, 'ipv4');
}

const PUBLIC_IPV6 = new BlockList();
PUBLIC_IPV6.addSubnet('2000::', 3, 'ipv6');

const NOT_PUBLIC_IPV6 = new BlockList();
// Inside 2000::/3: protocol assignments and Teredo, documentation, 6to4 (carries any IPv4 address).
for (const [network, prefix] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const) {
  NOT_PUBLIC_IPV6.addSubnet(network, prefix, 'ipv6');
}

/** The default guard: global unicast addresses only, neither private, loopback, link-local nor reserved ones. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  if (version !== 6) return version === 4 && !NOT_PUBLIC.check(address, 'ipv4');
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return !NOT_PUBLIC.check(mapped, 'ipv4');
  const [bare = ''] = address.split('%', 1);
  return PUBLIC_IPV6.check(bare, 'ipv6') && !NOT_PUBLIC_IPV6.check(bare, 'ipv6');
}

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
