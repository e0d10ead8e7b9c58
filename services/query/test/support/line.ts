import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A connection to a server that tests can cut and restore. While it is cut, connections break and new ones are refused. */
export interface Line {
  /** The server's URL with the port of this proxy. */
  readonly url: string;
  cut(): void;
  join(): void;
  close(): Promise<void>;
}

export async function openLine(target: string): Promise<Line> {
  const to = new URL(target);
  const sockets = new Set<Socket>();
  let open = true;
  const server = createServer((near) => {
    if (!open) return void near.destroy();
    const far = connect(Number(to.port), to.hostname);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.pipe(other);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(target);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const cut = () => {
    open = false;
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: url.href,
    cut,
    join: () => {
      open = true;
    },
    close: () => {
      cut();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
