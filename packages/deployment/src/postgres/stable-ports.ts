import { randomInt } from 'node:crypto';
import net from 'node:net';

/**
 * Above 10080, the last port that `fetch` refuses to call (its list of bad ports). Below the ports that systems give to
 * outgoing connections, so that none is in use before its server listens or while it restarts.
 */
const FIRST = 10_081;
const LAST = 32_000;

/** Free ports of 127.0.0.1, for servers that keep them over a restart. */
export async function stablePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  for (let port = randomInt(FIRST, LAST - 2_000); ports.length < count; port += 1)
    if (await isFree(port)) ports.push(port);
  return ports;
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = net.createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
