import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { answerClientError, type ClientErrorAnswer, writeError } from './client-error.js';
import { connectRefused } from './request-rules.js';

export interface ServeOptions {
  host: string;
  /** 0 takes any free port. */
  port: number;
  timeouts?: ServerTimeouts;
  /** Most open connections; Node closes further ones immediately. Default 10000. */
  maxConnections?: number;
  /** Called for each connection beyond `maxConnections`. */
  onRefusedConnection?: (address: string | undefined) => void;
  /** Called for each answer to something that never became a request. */
  onClientError?: (answer: ClientErrorAnswer, address: string | undefined) => void;
}

/** Milliseconds. */
export interface ServerTimeouts {
  /** For all headers to arrive; default 10000. */
  headers?: number;
  /** For the whole request to arrive; default 60000, 0 = no limit. */
  request?: number;
  /** Time for which an idle connection is kept; default 65000, above the 60 s of most proxies. */
  keepAlive?: number;
  /** Time after which a connection is closed if no byte moves in either direction; without it never. */
  inactivity?: number;
  /** Time that requests in flight may still take after `stop` was called; default 10000. */
  drain?: number;
}

export interface RunningServer {
  port: number;
  /** `http://host:port` without a slash at the end. */
  url: string;
  /** Accepts nothing new, lets requests in flight end, then closes the remaining connections. */
  stop(): Promise<void>;
  server: Server;
}

/** The address cannot be listened on; the message names the setting to change. */
export class ListenError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'ListenError';
  }
}

const serverOf = new WeakMap<IncomingMessage, Server>();

/** True once the server of a request stops: a handler that waits for something then answers with what there is. */
export function isStopping(req: IncomingMessage): boolean {
  return serverOf.get(req)?.listening === false;
}

/**
 * Serves an app with Node's own limits. The app refuses what Node would refuse without a body: see {@link requestProblem}.
 * Everything else that a public address needs belongs to the reverse proxy in front of it.
 */
export async function serve(app: RequestListener, options: ServeOptions): Promise<RunningServer> {
  const timeouts = options.timeouts ?? {};
  const server = createServer({
    headersTimeout: timeouts.headers ?? 10_000,
    requestTimeout: timeouts.request ?? 60_000,
    keepAliveTimeout: timeouts.keepAlive ?? 65_000,
    connectionsCheckingInterval: 1_000,
    maxHeaderSize: 16_384,
    noDelay: true,
    requireHostHeader: false,
  });
  server.maxConnections = options.maxConnections ?? 10_000;
  server.setTimeout(timeouts.inactivity ?? 0);
  server.on('drop', (data) => options.onRefusedConnection?.(data?.remoteAddress));
  answerClientErrors(server, options.onClientError);
  for (const event of ['checkExpectation', 'request'] as const)
    server.on(event, (req, res) => {
      serverOf.set(req, server);
      closeWithConnection(req, res);
      app(req, res);
    });
  await listen(server, { setting: 'PORT', host: options.host, port: options.port });
  const { port } = server.address() as AddressInfo;
  let stopped: Promise<void> | undefined;

  return {
    port,
    url: `http://${options.host.includes(':') ? `[${options.host}]` : options.host}:${port}`,
    server,
    stop() {
      stopped ??= stop(server, timeouts.drain ?? 10_000);
      return stopped;
    },
  };
}

/**
 * Closes an answer whose connection closes while it waits for its turn behind another one (pipelined requests). Node closes only
 * the answer that is being written.
 */
function closeWithConnection({ socket }: IncomingMessage, res: ServerResponse): void {
  const onClose = () => {
    if (res.socket === null) res.destroy().emit('close');
  };
  socket.once('close', onClose);
  res.once('close', () => socket.off('close', onClose));
}

function answerClientErrors(server: Server, onAnswer: ServeOptions['onClientError']): void {
  const latest = new WeakMap<Duplex, ServerResponse>();
  const report = (answer: ClientErrorAnswer | null, socket: Duplex) => {
    if (answer !== null) onAnswer?.(answer, (socket as Socket).remoteAddress);
  };
  for (const event of ['request', 'checkExpectation'] as const)
    server.on(event, (req, res) => latest.set(req.socket, res));
  server.on('clientError', (error, socket) => report(answerClientError(error, socket, latest.get(socket)), socket));
  server.on('connect', (_req, socket) => {
    socket.on('error', () => socket.destroy());
    // Node has detached the socket: an answer in flight cannot be completed, and no other may replace it.
    if (latest.get(socket)?.writableFinished === false) socket.destroy();
    else report(writeError(connectRefused(), socket), socket);
  });
}

function stop(server: Server, drainMs: number): Promise<void> {
  return new Promise((resolve) => {
    // A kept connection becomes idle with the end of its request, after `close` looked at it.
    const idle = setInterval(() => server.closeIdleConnections(), 100);
    const cut = setTimeout(() => server.closeAllConnections(), drainMs);
    server.close(() => {
      clearInterval(idle);
      clearTimeout(cut);
      resolve();
    });
  });
}

/**
 * Calls `onEnd` once with whether the whole answer was handed to the system. `finish` alone does not show it: Node
 * also emits it when the connection is cut.
 */
export function onAnswerEnd(res: ServerResponse, onEnd: (complete: boolean) => void): void {
  const { socket } = res;
  let complete = false;
  // Before the server's own listener, which may close the connection.
  res.prependOnceListener('finish', () => {
    complete = socket?.destroyed === false;
  });
  res.once('close', () => onEnd(complete));
}

/** A signal that is aborted when the connection closes before the whole answer was written: the caller left. */
export function callerSignal(res: ServerResponse): AbortSignal {
  const left = new AbortController();
  const onClose = () => {
    if (!res.writableFinished) left.abort();
  };
  if (res.destroyed) onClose();
  else res.once('close', onClose);
  return left.signal;
}

/** An address to listen on. */
export interface ListenAddress {
  /** The setting with the port. */
  setting: string;
  host: string;
  /** 0 takes any free port. */
  port: number;
}

/** Rejects with ListenError unless one process can listen on all these addresses at the same time. */
export async function requireFreePorts(addresses: readonly ListenAddress[]): Promise<void> {
  const servers: Server[] = [];
  try {
    for (const address of addresses) {
      const server = createServer();
      await listen(server, address);
      servers.push(server);
    }
  } finally {
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  }
}

function listen(server: Server, address: ListenAddress): Promise<void> {
  const { host, port } = address;
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => reject(listenError(cause, address)));
    server.listen({ host, port, backlog: 1_024 }, () => resolve());
  });
}

function listenError(cause: NodeJS.ErrnoException, { setting, host, port }: ListenAddress): Error {
  if (cause.code === 'EADDRINUSE')
    return new ListenError(
      `${setting} ${port} on ${host} is in use; stop what uses it or choose another ${setting} (0 takes any free one).`,
      { cause },
    );
  if (cause.code === 'EACCES')
    return new ListenError(`${setting} ${port} needs rights that this user lacks; choose one above 1023.`, { cause });
  if (cause.code === 'EADDRNOTAVAIL' || cause.code === 'ENOTFOUND')
    return new ListenError(`HOST ${host} is not an address of this machine.`, { cause });
  return cause;
}
