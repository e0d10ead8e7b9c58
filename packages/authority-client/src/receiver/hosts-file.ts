import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import type { ResolvedAddress } from './address-guard.js';

const LOOPBACK: readonly ResolvedAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/**
 * The addresses of a name in the hosts file of this machine, or loopback for `localhost` and names below it (RFC 6761, section
 * 6.3). Null for any other name: name servers resolve it.
 *
 * @param file Read for each query, so that a change needs no restart. A file that cannot be read has no names.
 */
export async function namedByThisMachine(hostname: string, file: string): Promise<ResolvedAddress[] | null> {
  const name = hostname.toLowerCase().replace(/\.$/, '');
  const listed = addressesIn(await readFile(file, 'utf8').catch(() => ''), name);
  if (listed.length > 0) return listed;
  return name === 'localhost' || name.endsWith('.localhost') ? [...LOOPBACK] : null;
}

function addressesIn(text: string, name: string): ResolvedAddress[] {
  const found: ResolvedAddress[] = [];
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    const family = isIP(address);
    if (family !== 0 && names.some((listed) => listed.toLowerCase() === name)) found.push({ address, family });
  }
  return found;
}
