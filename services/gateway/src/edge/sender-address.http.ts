import { BlockList, isIP, isIPv4 } from 'node:net';
import { unmapped } from '@ecf/http';

/** Reads addresses and networks (`10.0.0.0/8`, `::1`, `loopback`); null if one of them is invalid. */
export function readTrustedProxies(entries: readonly string[]): BlockList | null {
  const list = new BlockList();
  for (const entry of entries.flatMap((word) => (word === 'loopback' ? ['127.0.0.0/8', '::1'] : [word]))) {
    const [address = '', bits] = entry.split('/');
    const family = isIP(address);
    const most = family === 4 ? 32 : 128;
    if (family === 0 || (bits !== undefined && !(/^\d{1,3}$/.test(bits) && Number(bits) <= most))) return null;
    list.addSubnet(address, bits === undefined ? most : Number(bits), family === 4 ? 'ipv4' : 'ipv6');
  }
  return list;
}

/**
 * The address a request came from: the nearest hop that is not a trusted proxy. `X-Forwarded-For` counts only as far as
 * trusted proxies wrote it, so a caller cannot choose an address.
 */
export function senderAddress(
  peer: string | undefined,
  forwardedFor: string | string[] | undefined,
  trusted: BlockList,
): string {
  let address = plain(peer ?? '');
  const hops = [forwardedFor ?? []]
    .flat()
    .join(',')
    .split(',')
    .map(plain)
    .filter((hop) => hop !== '');
  while (hops.length > 0 && isTrustedProxy(address, trusted)) {
    const next = hops.pop() as string;
    if (isIP(next) === 0) break;
    address = next;
  }
  return address;
}

function plain(text: string): string {
  const address = text.trim().replace(/^\[(.*)\](?::\d+)?$/, '$1');
  if (address.includes(':') && isIP(address) === 6) return unmapped(address);
  const withPort = /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(address)?.[1];
  return withPort ?? address;
}

/** Whether an address is one of the trusted proxies. */
function isTrustedProxy(address: string, trusted: BlockList): boolean {
  return isIP(address) !== 0 && trusted.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
}
