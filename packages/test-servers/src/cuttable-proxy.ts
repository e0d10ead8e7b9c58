import type { AddressInfo } from 'node:net';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { Transform } from 'node:stream';

/** A TCP proxy whose line can be cut: open connections break, new ones are refused; and one on which answers take longer. */
export class CuttableProxy {
  private readonly sockets = new Set<Socket>();
  private server: Server;
  /** Milliseconds that each piece of an answer is held back. */
  delayMs = 0;
  /** After the next request that contains this text, answers are delayed for two seconds. */
  holdBehind: string | null = null;

  private constructor(
    private readonly target: { host: string; port: number },
    readonly port: number,
    server: Server,
  ) {
    this.server = server;
  }

  static async start(target: { host: string; port: number }): Promise<CuttableProxy> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const proxy = new CuttableProxy(target, (server.address() as AddressInfo).port, server);
    server.on('connection', (socket) => proxy.pipe(socket));
    return proxy;
  }

  private pipe(socket: Socket): void {
    const upstream = connect(this.target);
    for (const [one, other] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      this.sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        this.sockets.delete(one);
        other.destroy();
      });
    }
    const held = new Transform({
      transform: (piece, _encoding, pass) => {
        if (this.delayMs === 0) pass(null, piece);
        else setTimeout(pass, this.delayMs, null, piece).unref();
      },
    });
    socket.on('data', (piece) => {
      if (this.holdBehind === null || !piece.includes(this.holdBehind)) return;
      this.holdBehind = null;
      this.delayMs = 2_000;
    });
    socket.pipe(upstream);
    upstream.pipe(held).pipe(socket);
  }

  cut(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }

  async restore(): Promise<void> {
    this.server = createServer((socket) => this.pipe(socket));
    await new Promise<void>((resolve) => this.server.listen(this.port, '127.0.0.1', resolve));
  }

  /** Cuts now and restores after `ms`. */
  async cutFor(ms: number): Promise<void> {
    await this.cut();
    setTimeout(() => void this.restore(), ms);
  }
}
