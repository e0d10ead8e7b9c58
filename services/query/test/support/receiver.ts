import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A call of a webhook as its receiver sees it. */
export interface Call {
  path: string;
  headers: Record<string, string>;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: bodies are looked into freely
  event: any;
  /** The test's time of the call. */
  at: number;
  res: ServerResponse;
}

export interface Answer {
  status: number;
  headers?: Record<string, string>;
  body?: string;
}

export interface Receiver {
  readonly base: string;
  calls: Call[];
  /** The answer to a call; the test itself answers a call that gets `hang`. */
  answer: (call: Call) => Answer | 'hang';
  /** Breaks the connections, then takes no more. */
  stop(): void;
  breakConnections(): void;
}

/** Calls of this path are not recorded. */
export const WAKE_PATH = '/wake';

/** A receiver of webhooks over HTTP, which answers 204 unless the test says otherwise. */
export async function startReceiver(clock: () => number): Promise<Receiver> {
  const server = createServer(async (req: IncomingMessage, res) => {
    const text = Buffer.concat(await req.toArray()).toString('utf8');
    const headers = req.headers as Record<string, string>;
    // Only wakes the service.
    if (req.url === WAKE_PATH) return void res.writeHead(204).end();
    const call = { path: req.url ?? '', headers, text, event: JSON.parse(text), at: clock(), res };
    receiver.calls.push(call);
    const given = receiver.answer(call);
    if (given !== 'hang') res.writeHead(given.status, given.headers).end(given.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const receiver: Receiver = {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: [],
    answer: () => ({ status: 204 }),
    breakConnections: () => server.closeAllConnections(),
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
  return receiver;
}
