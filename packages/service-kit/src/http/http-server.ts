import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Connection, type DropReason, PATIENCE } from './edge/connection.js';
import { type ConnectionRefusal, ConnectionShares, type SenderConnections } from './edge/connection-shares.js';
import { unmapped } from './edge/sender-network.js';
import { answerUnreadable, isLate, type UnreadableOptions, unreadableProblem } from './edge/unreadable-request.js';
import { ExpressRequest, ExpressResponse } from './express-app.js';
import { connectRefused } from './request-rules.js';

export interface ServeOptions extends UnreadableOptions {
  host: string;
  /** 0 takes any free port. */
  port: number;
  timeouts?: ServerTimeouts;
  /** Open connections at most; of more, one of whoever has most is closed. Default 10000. */
  maxConnections?: number;
  /** Open connections of one sender at most; more are closed at once. Without it one sender may have them all. */
  perSender?: SenderConnections;
  /** Told of each connection that is closed for there being too many, or for its answer not being read. */
  onRefusedConnection?: (reason: ConnectionRefusal, address: string) => void;
  /** Told of requests on one connection that got no answer. */
  onDroppedRequests?: (reason: DropReason, requests: number, address: string) => void;
}

/** Milliseconds. */
export interface ServerTimeouts {
  /** For all headers to arrive; default 10000. */
  headers?: number;
  /** For the whole request to arrive; default 60000. */
  request?: number;
  /** That an idle connection is kept; default 65000, above the 60 s that proxies keep theirs. */
  keepAlive?: number;
  /**
   * That an answer is kept which its receiver takes nothing of, or less than {@link LEAST_READ}; without it for good. For who
   * faces strangers: behind a gateway that hands on to a slow reader nothing can be seen to move for minutes.
   */
  unreadAnswer?: number;
  /** That requests under way may take once `stop` was called; default 10000. */
  drain?: number;
}

export interface RunningServer {
  port: number;
  /** `http://host:port` without a slash at the end. */
  url: string;
  /** Accepts nothing new, lets requests under way end, then cuts what is left. */
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

/**
 * Serves an express app (or any listener) with bounds on time and size against slow and greedy clients. What node would answer by
 * itself, without a body and told to nobody, goes to the app ({@link requestProblem} says what is wrong with it), or is answered
 * like what cannot be read.
 */
export async function serve(app: RequestListener, options: ServeOptions): Promise<RunningServer> {
  const timeouts = options.timeouts ?? {};
  let stopping = false;
  const server = createServer({
    IncomingMessage: ExpressRequest,
    ServerResponse: ExpressResponse,
    headersTimeout: timeouts.headers ?? 10_000,
    requestTimeout: timeouts.request ?? 60_000,
    keepAliveTimeout: timeouts.keepAlive ?? 65_000,
    connectionsCheckingInterval: 1_000,
    maxHeaderSize: 16_384,
    noDelay: true,
    requireHostHeader: false,
  });
  const connections = new Map<Socket, Connection>();
  const shares = new ConnectionShares(options.maxConnections ?? 10_000, options.perSender);
  server.on('connection', (socket: Socket) => {
    const address = unmapped(socket.remoteAddress ?? '');
    const connection = new Connection(socket, address, undefined, (reason, requests) =>
      options.onDroppedRequests?.(reason, requests, address),
    );
    const place = shares.add(connection, address);
    if ('refused' in place) {
      options.onRefusedConnection?.(place.refused, address);
      socket.destroy();
      return;
    }
    if (place.closing !== null) {
      options.onRefusedConnection?.('gave_way', place.closing.address);
      place.closing.socket.destroy();
    }
    connections.set(socket, connection);
    socket.once('close', () => {
      connections.delete(socket);
      shares.remove(connection);
    });
  });
  server.on('request', (req: IncomingMessage, res: ServerResponse) => {
    const connection = connections.get(req.socket);
    connection?.take(req, res, () => {
      shares.begun(connection);
      // Before the server's own listener, which may close the connection.
      res.prependOnceListener('finish', () => shares.answered(connection));
      app(req, res);
    });
  });
  server.on('checkExpectation', (req, res) => server.emit('request', req, res));
  server.on('connect', (_req, socket: Socket) => {
    const connection = connections.get(socket);
    // Node has left the socket to us.
    socket.on('error', () => socket.destroy());
    // An answer under way waits for this one, which node has taken off with the others.
    socket.on('drain', () => connection?.answer?.emit('drain'));
    if (connection === undefined) socket.destroy();
    else answerUnreadable(connectRefused(), connection, options);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const connection = connections.get(socket);
    if (connection === undefined || error.code === 'ECONNRESET') socket.destroy();
    else if (isLate(error)) answerLate(error, connection);
    else answerUnreadable(unreadableProblem(error), connection, options);
  });
  /** The server tells once of what does not arrive in time, and counts the time in which we did not read as well. */
  const answerLate = (error: NodeJS.ErrnoException, connection: Connection) => {
    const { arrived } = connection;
    const due = connection.readingTime + connection.heldBack;
    const look = () => {
      if (connection.socket.destroyed || connection.arrived !== arrived) return;
      const more = due - connection.readingTime;
      if (more < 1) answerUnreadable(unreadableProblem(error), connection, options);
      else setTimeout(look, more).unref();
    };
    look();
  };
  await listen(server, options.host, options.port);
  const watch =
    timeouts.unreadAnswer === undefined
      ? undefined
      : watchOutput(connections, timeouts.unreadAnswer, options.onRefusedConnection);
  const { port } = server.address() as AddressInfo;

  return {
    port,
    url: `http://${options.host.includes(':') ? `[${options.host}]` : options.host}:${port}`,
    server,
    async stop() {
      if (stopping) return;
      stopping = true;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const connection of connections.values()) connection.close();
      const abandon = new AbortController();
      const cut = delay(timeouts.drain ?? 10_000, undefined, { signal: abandon.signal }).then(
        () => server.closeAllConnections(),
        () => undefined,
      );
      await closed;
      clearInterval(watch);
      abandon.abort();
      await cut;
    },
  };
}

/** Bytes per second that an answer has to be read with, once its time is over; bodies have to arrive as fast. */
const LEAST_READ = 1_024;

/** Cuts connections whose pending output nobody takes, or takes too slowly. An answer that is still being made has none. */
function watchOutput(
  connections: ReadonlyMap<Socket, Connection>,
  limitMs: number,
  tell: ServeOptions['onRefusedConnection'],
): NodeJS.Timeout {
  const every = limitMs / PATIENCE;
  const look = () => {
    for (const [socket, connection] of connections) {
      if (connection.isRead((LEAST_READ * every) / 1_000)) continue;
      tell?.('unread', connection.address);
      socket.destroy();
    }
  };
  return setInterval(look, every).unref();
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      if (cause.code === 'EADDRINUSE')
        reject(
          new ListenError(
            `PORT ${port} on ${host} is in use; stop what uses it or choose another PORT (0 takes any free one).`,
            { cause },
          ),
        );
      else if (cause.code === 'EACCES')
        reject(new ListenError(`PORT ${port} needs rights that this user lacks; choose one above 1023.`, { cause }));
      else if (cause.code === 'EADDRNOTAVAIL' || cause.code === 'ENOTFOUND')
        reject(new ListenError(`HOST ${host} is not an address of this machine.`, { cause }));
      else reject(cause);
    });
    server.listen({ host, port, backlog: 1_024 }, () => resolve());
  });
}
