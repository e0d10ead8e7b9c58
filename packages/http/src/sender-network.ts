import { isIP } from 'node:net';

/** First groups of IPv6 addresses that contain an IPv4 address in the two groups after them. */
const MAPPED = '0:0:0:0:0:ffff';
const TRANSLATED = '64:ff9b:0:0:0:0';

/** The key of a limit per sender: an IPv4 address, or the /64 network of an IPv6 address. */
export function senderNetwork(address: string): string {
  return network(address, 4);
}

/** The key of a quota: an IPv4 address, or the /48 network of an IPv6 address, the most that one subscriber gets. */
export function senderSite(address: string): string {
  return network(address, 3);
}

/** Turns an address of `::ffff:0:0/96`, in any spelling, into the IPv4 address that it maps. */
export function unmapped(address: string): string {
  return isIP(address) === 6 ? (embedded(groupsOf(address), [MAPPED]) ?? address) : address;
}

/** The IPv4 address, also behind NAT64 (RFC 6052) or the mapping; else the first groups of the IPv6 address. */
function network(address: string, parts: number): string {
  if (isIP(address) !== 6) return address;
  const groups = groupsOf(address);
  return embedded(groups, [MAPPED, TRANSLATED]) ?? groups.slice(0, parts).join(':');
}

/** The IPv4 address behind one of these prefixes; null behind another prefix. */
function embedded(groups: readonly string[], prefixes: readonly string[]): string | null {
  if (!prefixes.includes(groups.slice(0, 6).join(':'))) return null;
  const [high = 0, low = 0] = groups.slice(6).map((group) => Number.parseInt(group, 16));
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}

/** The eight groups of an IPv6 address, alike for every spelling. */
function groupsOf(address: string): string[] {
  const [head = '', tail = ''] = address.replace(/\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}/, dottedAsGroups).split('::');
  const groups = head.split(':').filter((group) => group !== '');
  const rest = tail.split(':').filter((group) => group !== '');
  const missing = Math.max(0, 8 - groups.length - rest.length);
  const all = [...groups, ...Array<string>(missing).fill('0'), ...rest];
  return all.map((group) => Number.parseInt(group, 16).toString(16));
}

function dottedAsGroups(dotted: string): string {
  const [a = 0, b = 0, c = 0, d = 0] = dotted.split('.').map(Number);
  return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
}
