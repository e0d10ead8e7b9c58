import net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** A port of 127.0.0.1 that nobody listens on and that is none of `taken`: drawn for a server that does not listen yet. */
export async function freePort(...taken: readonly number[]): Promise<number> {
  for (;;) {
    const port = await drawPort();
    if (!taken.includes(port)) return port;
  }
}

function drawPort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = net.createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as net.AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

/** Whether somebody listens there. */
export function reachable(port: number, host = '127.0.0.1'): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect({ port, host });
    const end = (result: boolean) => {
      socket.destroy();
      resolve(result);
    };
    socket.setTimeout(1_000, () => end(false));
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
  });
}

/** Looks again and again until `probe` holds; rejects after `ms`, naming what was waited for. */
export async function waitFor(probe: () => Promise<boolean>, ms: number, what: string): Promise<void> {
  const end = Date.now() + ms;
  while (!(await probe())) {
    if (Date.now() > end) throw new Error(`${what} did not come up within ${ms} ms`);
    await delay(50);
  }
}
