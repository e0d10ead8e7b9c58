import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { Transform } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';

/** `cut`: connections are reset. `silent`: nothing arrives until the fault ends. `slow`: everything takes {@link SLOW_MS} longer. */
export type LineFault = 'cut' | 'silent' | 'slow';

/** A connection of a service to a port of this machine. */
export interface Line {
  readonly service: string;
  readonly port: number;
}

const SLOW_MS = 100;
const FIRST_LINE = /^([\w-]+) (\w+)\n/;

/**
 * Between the services of a deployment and all ports that they connect to: breaks chosen lines, leads a port to another one, and
 * sets the clocks of services. A deployment that is started with `settings` uses it.
 */
export class Switchboard {
  readonly #open = new Map<Socket, Line>();
  readonly #seen = new Set<string>();
  readonly #clocks = new Map<Socket, string>();
  readonly #waiting = new Set<() => void>();
  readonly #targets = new Map<number, number>();
  #fault: { kind: LineFault; hits: (line: Line) => boolean } | null = null;

  private constructor(private readonly server: Server) {}

  static async start(): Promise<Switchboard> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const board = new Switchboard(server);
    server.on('connection', (socket) => board.#accept(socket));
    return board;
  }

  /** Settings of a deployment whose services connect through this switchboard. */
  get settings(): Record<string, string> {
    const { port } = this.server.address() as AddressInfo;
    const line = new URL('./switchboard-line.mjs', import.meta.url).href;
    return { NODE_OPTIONS: `--import ${line}`, SWITCHBOARD_PORT: String(port) };
  }

  /** Breaks the lines that `hits` chooses, the open ones too; null repairs all. */
  break(kind: LineFault | null, hits: (line: Line) => boolean = () => true): void {
    this.#fault = kind === null ? null : { kind, hits };
    for (const [socket, line] of this.#open) if (this.#faultOf(line) === 'cut') socket.resetAndDestroy();
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }

  /** Whether the service has ever connected to the port. */
  has({ service, port }: Line): boolean {
    return this.#seen.has(`${service} ${port}`);
  }

  /** Leads connections to a port, from now on, to another one; the open ones stay. */
  redirect(port: number, target: number): void {
    this.#targets.set(port, target);
  }

  /** Sets the clock of a service ahead of (or behind) the true time. */
  setClock(service: string, aheadMs: number): void {
    for (const [socket, name] of this.#clocks) if (name === service) socket.write(`${aheadMs}\n`);
  }

  async stop(): Promise<void> {
    for (const socket of [...this.#open.keys(), ...this.#clocks.keys()]) socket.destroy();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  #faultOf(line: Line): LineFault | null {
    return this.#fault?.hits(line) ? this.#fault.kind : null;
  }

  #accept(socket: Socket): void {
    socket.on('error', () => undefined);
    socket.once('data', (bytes: Buffer) => {
      socket.pause();
      const [first = '', service = '', target = ''] = FIRST_LINE.exec(bytes.toString('latin1')) ?? [];
      const rest = bytes.subarray(first.length);
      if (rest.length > 0) socket.unshift(rest);
      if (target !== 'clock') return void this.#connect(socket, { service, port: Number(target) });
      this.#clocks.set(socket, service);
      socket.once('close', () => this.#clocks.delete(socket)).resume();
    });
  }

  async #connect(socket: Socket, line: Line): Promise<void> {
    this.#seen.add(`${line.service} ${line.port}`);
    this.#open.set(socket, line);
    socket.once('close', () => this.#open.delete(socket));
    if (this.#faultOf(line) === 'cut') return void socket.resetAndDestroy();
    await this.#passage(line);
    if (socket.destroyed) return;
    const upstream = connect(this.#targets.get(line.port) ?? line.port, '127.0.0.1');
    this.#open.set(upstream, line);
    upstream.once('close', () => this.#open.delete(upstream));
    for (const [one, other] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      one.on('error', () => undefined);
      // While the line is silent, neither end learns that the other has ended.
      one.once('close', (broken) => broken && this.#passage(line).then(() => other.resetAndDestroy()));
      one.pipe(this.#gate(line)).pipe(other);
    }
  }

  /** Resolves when bytes of the line may pass. */
  async #passage(line: Line): Promise<void> {
    while (this.#faultOf(line) === 'silent') await new Promise<void>((resolve) => this.#waiting.add(resolve));
    if (this.#faultOf(line) === 'slow') await delay(SLOW_MS);
  }

  #gate(line: Line): Transform {
    return new Transform({
      transform: (piece, _encoding, pass) => void this.#passage(line).then(() => pass(null, piece)),
      flush: (pass) => void this.#passage(line).then(() => pass()),
    });
  }
}
