// The receivers of webhooks.bench.ts, in a process of their own. Messages: {live, hanging, closed} names receivers, and is answered
// with the address of each; {secrets} are those of the live ones; 'count' asks how many calls they took; 'report' asks for the ids
// that each took, in their order, and forgets them; 'hang up' breaks the connections to those that hang.
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One call of so many has its signature verified. */
const SAMPLE = 10;

export interface Report {
  taken: Record<string, string[]>;
  /** Signatures that were verified, and those that were wrong. */
  verified: number;
  wrong: number;
}

let report: Report = { taken: {}, verified: 0, wrong: 0 };
let count = 0;
let keys: Record<string, Buffer> = {};
const hanging: Server[] = [];

async function take(name: string, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const body = Buffer.concat(await req.toArray());
  const { 'webhook-id': id = '', 'webhook-timestamp': at, 'webhook-signature': given } = req.headers;
  count += 1;
  report.taken[name] = [...(report.taken[name] ?? []), String(id)];
  if (count % SAMPLE === 0) {
    const hmac = createHmac('sha256', keys[name] ?? '').update(`${id}.${at}.`);
    const right = given === `v1,${hmac.update(body).digest('base64')}` && JSON.parse(body.toString()).id === id;
    report.verified += 1;
    if (!right) report.wrong += 1;
  }
  res.writeHead(204).end();
}

async function listen(handler: (req: IncomingMessage, res: ServerResponse) => void): Promise<Server> {
  const server = createServer(handler);
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
const addressOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;

async function open(names: { live: string[]; hanging: string[]; closed: string[] }): Promise<Record<string, string>> {
  const addresses: Record<string, string> = {};
  for (const name of names.live) addresses[name] = addressOf(await listen((req, res) => void take(name, req, res)));
  for (const name of names.hanging) {
    const server = await listen((req) => void req.resume());
    hanging.push(server);
    addresses[name] = addressOf(server);
  }
  for (const name of names.closed) {
    const server = await listen(() => undefined);
    addresses[name] = addressOf(server);
    server.close();
  }
  return addresses;
}

process.on('message', async (message: 'count' | 'report' | 'hang up' | Record<string, never>) => {
  if (message === 'count') process.send?.(count);
  else if (message === 'report') {
    process.send?.(report);
    report = { taken: {}, verified: 0, wrong: 0 };
    count = 0;
  } else if (message === 'hang up') {
    for (const server of hanging) server.closeAllConnections();
    process.send?.('hung up');
  } else if (message.secrets === undefined) process.send?.(await open(message as never));
  else {
    keys = Object.fromEntries(
      Object.entries<string>(message.secrets).map(([name, secret]) => [name, Buffer.from(secret.slice(6), 'base64')]),
    );
    process.send?.('ready');
  }
});
process.on('disconnect', () => process.exit());
