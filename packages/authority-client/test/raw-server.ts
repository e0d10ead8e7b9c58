import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';

/** A request as it came over the wire. */
export interface RawRequest {
  method: string;
  target: string;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: Buffer;
  /** Counts from 1, over all connections. */
  number: number;
  /** Counts from 1. */
  connection: number;
}

export type Handler = (request: RawRequest, socket: Socket) => void;

export interface RawServer {
  url: string;
  port: number;
  requests: RawRequest[];
  connections: number;
  stop(): Promise<void>;
}

/** A server that reads of HTTP only the end of a request: the handler writes every byte of the answer. */
export async function startRawServer(handle: Handler, tls?: TlsOptions): Promise<RawServer> {
  const open = new Set<Socket>();
  const requests: RawRequest[] = [];
  const state = { connections: 0 };
  const onConnection = (socket: Socket) => {
    state.connections += 1;
    const connection = state.connections;
    let pending: Buffer = Buffer.alloc(0);
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      pending = Buffer.concat([pending, chunk]);
      for (let request = parse(pending); request; request = parse(pending)) {
        pending = request.rest;
        const { rest: _, ...seen } = request;
        const numbered = { ...seen, number: requests.length + 1, connection };
        requests.push(numbered);
        handle(numbered, socket);
      }
    });
  };
  const server: Server = tls ? createTlsServer(tls, onConnection) : createServer(onConnection);
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    port,
    requests,
    get connections() {
      return state.connections;
    },
    stop: () =>
      new Promise((resolve) => {
        for (const socket of open) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

function parse(bytes: Buffer): (Omit<RawRequest, 'number' | 'connection'> & { rest: Buffer }) | null {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const [first = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const [method = '', target = ''] = first.split(' ');
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const start = end + 4;
  const length = Number(headers['content-length'] ?? 0);
  if (bytes.length < start + length) return null;
  return {
    method,
    target,
    headers,
    body: bytes.subarray(start, start + length),
    rest: bytes.subarray(start + length),
  };
}

/** A complete answer with Content-Length. */
export function httpAnswer(status: string, contentType: string | null, body: string | Buffer, more = ''): Buffer {
  const bytes = typeof body === 'string' ? Buffer.from(body, 'utf8') : body;
  const type = contentType === null ? '' : `Content-Type: ${contentType}\r\n`;
  const head = `HTTP/1.1 ${status}\r\n${type}${more}Content-Length: ${bytes.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head, 'latin1'), bytes]);
}

/** An address where no server listens. */
export async function deadAddress(): Promise<string> {
  const server = await startRawServer(() => undefined);
  await server.stop();
  return server.url;
}
