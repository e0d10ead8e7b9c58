import http from 'node:http';

/** A request as it goes over the wire: any method, any header, any bytes. */
export interface RawRequest {
  method: string;
  /** Path with query, percent-encoded. */
  path: string;
  /** Name and value of each header; names may repeat. Values are Latin-1. */
  headers: [string, string][];
  body: Buffer | null;
}

export interface RawAnswer {
  status: number;
  headers: http.IncomingHttpHeaders;
  body: Buffer;
}

/** Sends requests over keep-alive connections. */
export function createSender(baseUrl: string): { send(request: RawRequest): Promise<RawAnswer>; close(): void } {
  const { hostname, port } = new URL(baseUrl);
  const agent = new http.Agent({ keepAlive: true, maxSockets: 16 });
  return {
    close: () => agent.destroy(),
    send: ({ method, path, headers, body }) =>
      new Promise((resolve, reject) => {
        const lines: Record<string, string[]> = {};
        if (body !== null) lines['content-length'] = [String(body.length)];
        for (const [name, value] of headers) lines[name] = [...(lines[name] ?? []), value];
        const flat = Object.fromEntries(
          Object.entries(lines).map(([name, values]) => [name, values.length === 1 ? values[0] : values]),
        );
        const request = http.request({
          hostname,
          port,
          agent,
          method,
          path,
          headers: flat as http.OutgoingHttpHeaders,
        });
        request.setTimeout(120_000, () => request.destroy(new Error(`no answer within 120 s: ${method} ${path}`)));
        request.on('error', reject);
        request.on('response', (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () =>
            resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
          );
        });
        request.end(body ?? undefined);
      }),
  };
}
