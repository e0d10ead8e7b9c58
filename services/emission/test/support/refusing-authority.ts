import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A proxy of the simulator: it passes seeds on, and refuses every signed seed with the authority's text. */
export async function startRefusingAuthority(simulatorUrl: string, refusal: string) {
  const server = createServer(async (req, res) => {
    req.resume();
    if (req.method === 'POST' && /validarsemilla/i.test(req.url ?? '')) {
      res.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify(refusal));
      return;
    }
    const answer = await fetch(`${simulatorUrl}${req.url}`, { method: req.method ?? 'GET' });
    res.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' });
    res.end(Buffer.from(await answer.arrayBuffer()));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
