import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

interface ResolvedAddress {
  address: string;
  family: number;
}

/** All addresses of a name. */
export type AddressLookup = (hostname: string) => Promise<ResolvedAddress[]>;

interface NameLookupOptions {
  /** Name servers, `address` or `address:port`; default the system's. */
  servers?: readonly string[];
  /** Default `/etc/hosts`. */
  hostsFile?: string;
}

/** For the first try; the second waits twice as long. */
const TRY_MS = 1_500;
const TRIES = 2;
/** Less than a connection's time for its lookup: several name servers are queried one after the other. */
const WHOLE_MS = 4_500;
/** How long the addresses of one family wait for those of the other (RFC 8305, section 3, has 50 ms). */
const OTHER_FAMILY_MS = 250;

/**
 * Resolves names of receivers over its own sockets. The system's `getaddrinfo` blocks a thread while a name server is
 * silent, and Node gives it two threads for the whole process. Anybody may list a name that hangs. Each look-up has its own
 * resolver, which reads the system's name servers again. Search domains and sources other than the hosts file and DNS are
 * not used.
 *
 * The lookup rejects with the code of DNS (`ENOTFOUND`, `ETIMEOUT`, `ESERVFAIL`, …).
 */
export function createNameLookup(options: NameLookupOptions = {}): AddressLookup {
  const hostsFile = options.hostsFile ?? '/etc/hosts';
  return async (hostname) => (await namedByThisMachine(hostname, hostsFile)) ?? query(hostname, options.servers);
}

async function query(hostname: string, servers: readonly string[] | undefined): Promise<ResolvedAddress[]> {
  const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES });
  if (servers) resolver.setServers(servers);
  const queries = [
    resolver.resolve4(hostname).then((found) => found.map((address) => ({ address, family: 4 }))),
    resolver.resolve6(hostname).then((found) => found.map((address) => ({ address, family: 6 }))),
  ];
  const ended = new AbortController();
  const pause = (ms: number) => delay(ms, undefined, { signal: ended.signal }).catch(() => undefined);
  const everything = Promise.allSettled(queries);
  const enough = Promise.any(queries).then(
    () => pause(OTHER_FAMILY_MS),
    () => undefined,
  );
  try {
    await Promise.race([everything, enough, pause(WHOLE_MS)]);
  } finally {
    ended.abort();
    resolver.cancel();
  }
  return addressesOf(hostname, await everything);
}

/** IPv4 first: most receivers have nothing else, and a connection tries the addresses in this order. */
function addressesOf(hostname: string, answers: PromiseSettledResult<ResolvedAddress[]>[]): ResolvedAddress[] {
  const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  if (found.length > 0) return found;
  const [first] = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as unknown] : []));
  if (first instanceof Error && (first as NodeJS.ErrnoException).code !== 'ECANCELLED') throw first;
  throw Object.assign(new Error(`query ETIMEOUT ${hostname}`), { code: 'ETIMEOUT' });
}

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
async function namedByThisMachine(hostname: string, file: string): Promise<ResolvedAddress[] | null> {
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
