import { createSocket } from 'node:dgram';

/** The answers of a name server about a name, by type of query: its addresses, or no answer. */
export interface NameRecord {
  A?: readonly string[] | 'silent';
  AAAA?: readonly string[] | 'silent';
}

export interface NameServer {
  /** `address:port`, as `Resolver.setServers` takes it. */
  address: string;
  /** The queried names, once for each query. */
  queries: string[];
  stop(): Promise<void>;
}

const KINDS = new Map([
  [1, 'A'],
  [28, 'AAAA'],
] as const);
const NOT_FOUND = 3;

/**
 * A name server over UDP on the loopback interface (RFC 1035, section 4). A name that is not among the records does not
 * exist.
 */
export async function startNameServer(recordOf: (name: string) => NameRecord | undefined): Promise<NameServer> {
  const queries: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => {
    const { name, end } = readName(query);
    queries.push(name);
    const kind = KINDS.get(query.readUInt16BE(end) as 1 | 28);
    const record = recordOf(name);
    const addresses = (kind && record?.[kind]) ?? [];
    if (addresses === 'silent') return;
    const head = Buffer.alloc(12);
    query.copy(head, 0, 0, 2);
    head.writeUInt16BE(0x8180 | (record ? 0 : NOT_FOUND), 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(addresses.length, 6);
    const answers = addresses.map((each) => answerWith(query.readUInt16BE(end), each));
    socket.send(Buffer.concat([head, query.subarray(12, end + 4), ...answers]), port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${socket.address().port}`,
    queries,
    stop: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

function readName(query: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 };
}

/** The record points back to the name in the query; it expires after a minute. */
function answerWith(kind: number, address: string): Buffer {
  const bytes = Buffer.from(kind === 1 ? address.split('.').map(Number) : groupsOf(address));
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(kind, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(60, 6);
  head.writeUInt16BE(bytes.length, 10);
  return Buffer.concat([head, bytes]);
}

/** The sixteen bytes of an IPv6 address that has one `::`. */
function groupsOf(address: string): number[] {
  const [front = [], back = []] = address.split('::').map((half) => half.split(':').filter((group) => group !== ''));
  const middle = Array<string>(8 - front.length - back.length).fill('0');
  return [...front, ...middle, ...back].flatMap((group) => {
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}
