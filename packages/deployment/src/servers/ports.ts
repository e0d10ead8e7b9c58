import { randomInt } from 'node:crypto';
import net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Above 10080, the last port that `fetch` refuses to call. Below the ports that systems give to outgoing connections,
 * because such a connection could take the port before its server listens.
 */
export const DRAWN_PORTS = { first: 10_081, last: 32_000 };

/** A free port of 127.0.0.1 outside `taken`, for a server that does not listen yet. */
export async function freePort(...taken: readonly number[]): Promise<number> {
  const others = new Set(taken);
  for (;;) {
    const port = randomInt(DRAWN_PORTS.first, DRAWN_PORTS.last + 1);
    if (!others.has(port) && (await isFree(port))) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = net.createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/** Whether the port has a listener. */
export function reachable(port: number, host = '127.0.0.1'): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect({ port, host });
    const end = (result: boolean) => {
      socket.destroy();
      resolve(result);
    };
    // Longer than this process may be kept from its core.
    socket.setTimeout(10_000, () => end(false));
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
  });
}

/** Repeats `probe` until it holds; rejects after `ms` with the name of the condition. */
export async function waitFor(probe: () => Promise<boolean>, ms: number, what: string): Promise<void> {
  const end = Date.now() + ms;
  while (!(await probe())) {
    if (Date.now() > end) throw new Error(`${what} did not come up within ${ms} ms`);
    await delay(50);
  }
}
