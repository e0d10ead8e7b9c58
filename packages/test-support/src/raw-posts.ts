import { connect, type Socket } from 'node:net';

/** A request whose body is written piece by piece, and the answer that has come so far. */
export interface OpenRequest {
  readonly socket: Socket;
  /** Resolves when the system has taken what was written at first. */
  readonly sent: Promise<void>;
  /** The status and the code of the answer, once it is there. */
  answer(): Promise<{ status: number; code: string | undefined; head: string }>;
  /** Resolves when the server has closed the connection. */
  readonly closed: Promise<void>;
}

/** Sends the head of a chunked POST, or of `method`, and the first bytes of its body as they are on the wire. */
export function beginPost(
  url: string,
  headers: Readonly<Record<string, string>>,
  wire: string,
  method = 'POST',
): OpenRequest {
  const { hostname, port, pathname, search } = new URL(url);
  const socket = connect(Number(port), hostname);
  let text = '';
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => resolve());
  });
  // A server that closes the connection may do so while the body is written.
  socket
    .on('error', () => undefined)
    .on('data', (data) => {
      text += data.toString('latin1');
    });
  const lines = Object.entries({ host: 'x', 'transfer-encoding': 'chunked', ...headers });
  let isSent: () => void = () => undefined;
  const sent = new Promise<void>((resolve) => {
    isSent = resolve;
  });
  socket.write(
    `${method} ${pathname}${search} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${wire}`,
    'latin1',
    () => isSent(),
  );
  return {
    socket,
    sent,
    closed,
    async answer() {
      while (!/"code":"[a-z_]+"/.test(text) && !socket.destroyed)
        await Promise.race([new Promise((resolve) => socket.once('data', resolve)), closed]);
      const [head = ''] = text.split('\r\n\r\n');
      return { status: Number(head.slice(9, 12)), code: /"code":"([a-z_]+)"/.exec(text)?.[1], head };
    },
  };
}

/** A chunk of a body on the wire. */
export function chunkOf(content: string): string {
  return `${content.length.toString(16)}\r\n${content}\r\n`;
}
