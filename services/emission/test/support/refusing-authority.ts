import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface RefusedLogins {
  /** The authority's text. */
  readonly text: string;
  /** Default 400, the refusal of a certificate. */
  readonly status?: number;
  /** Whether a signed seed is refused; by default each is. */
  readonly refuses?: (signedSeed: string) => boolean;
}

/** A proxy of the simulator that refuses signed seeds and passes everything else on. */
export async function startRefusingAuthority(
  simulatorUrl: string,
  { text, status = 400, refuses = () => true }: RefusedLogins,
) {
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    if (req.method === 'POST' && /validarsemilla/i.test(req.url ?? '') && refuses(body.toString())) {
      return res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(text));
    }
    const { connection: _, host: __, ...headers } = req.headers as Record<string, string>;
    const { method = 'GET' } = req;
    const sent = { method, headers, ...(method === 'GET' ? {} : { body }) };
    const answer = await fetch(`${simulatorUrl}${req.url}`, sent).catch(() => null);
    if (answer === null) return req.destroy();
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
