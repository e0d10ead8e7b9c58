import http from 'node:http';
import type { AddressInfo } from 'node:net';

/** `errors`: 500 and 503 in turn. `old`: objects that were stored since then are not found yet. */
export type StorageFault = 'errors' | 'old';

/** A proxy in front of an S3 storage that fails as told. */
export interface FailingStorage {
  readonly port: number;
  fail(fault: StorageFault | null): void;
  stop(): Promise<void>;
}

export async function failingStorage(endpoint: string): Promise<FailingStorage> {
  const target = new URL(endpoint);
  const fresh = new Set<string>();
  let fault: StorageFault | null = null;
  let failures = 0;

  function refusal(method: string, key: string): number | null {
    if (fault === 'errors') return failures++ % 2 === 0 ? 500 : 503;
    if (fault === 'old' && method === 'PUT') fresh.add(key);
    return fault === 'old' && method !== 'PUT' && fresh.has(key) ? 404 : null;
  }

  const server = http.createServer((request, response) => {
    const { method = 'GET', url = '/', headers } = request;
    const status = refusal(method, url.split('?')[0] ?? '');
    if (status !== null) {
      request.resume();
      const code = { 404: 'NoSuchKey', 500: 'InternalError', 503: 'SlowDown' }[status];
      return void response.writeHead(status).end(method === 'HEAD' ? '' : `<Error><Code>${code}</Code></Error>`);
    }
    const forwarded = http.request(
      { host: target.hostname, port: target.port, method, path: url, headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    forwarded.on('error', () => response.destroy());
    request.pipe(forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    fail(next) {
      fault = next;
      fresh.clear();
    },
    stop: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
