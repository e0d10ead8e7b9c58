import { isIP } from 'node:net';

/** What a limit per sender counts by: an IPv4 address, or the /64 network of an IPv6 address, which is one household. */
export function senderNetwork(address: string): string {
  return network(address, 4);
}

/** What is shared among all counts by: an IPv4 address, or the /48 of an IPv6 address, which is what one subscriber gets at most. */
export function senderSite(address: string): string {
  return network(address, 3);
}

/** An IPv4 address as it is, of an IPv6 address the first groups. */
function network(address: string, parts: number): string {
  if (isIP(address) !== 6) return address;
  const [head = '', tail = ''] = address.split('::');
  const groups = head.split(':').filter((g) => g !== '');
  const rest = tail.split(':').filter((g) => g !== '');
  const missing = Math.max(0, 8 - groups.length - rest.length);
  return [...groups, ...Array<string>(missing).fill('0'), ...rest].slice(0, parts).map(plainGroup).join(':');
}

/** A group of an address as every spelling of it comes to. */
function plainGroup(group: string): string {
  return Number.parseInt(group, 16).toString(16);
}
