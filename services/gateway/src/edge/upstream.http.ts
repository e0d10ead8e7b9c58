import http from 'node:http';
import https from 'node:https';
import type { ServiceName } from '@ecf/contracts';
import { dropRest, tooManyTinyChunks, withListed } from '@ecf/http';
import { IDENTITY_HEADER, type Identities, type Identity, identify, type PublicCaller } from '@ecf/http/identity';
import { ApiError } from '@ecf/kit';
import type { Express, Request, Response, Router } from 'express';

/** Headers of one connection only. Source: RFC 9110 section 7.6.1. */
const HOP_BY_HOP = ['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'];
const NOT_FORWARDED = new Set([...HOP_BY_HOP, 'proxy-authenticate', 'proxy-authorization', 'expect', 'host']);
const OVERLOAD = new Set<number | undefined>([429, 503]);
const NOT_RETURNED = new Set([...HOP_BY_HOP, 'date']);
/** Headers that the gateway sets itself: a caller that names one of them in `Connection` does not remove it. */
const OWN = new Set([IDENTITY_HEADER, 'x-forwarded-for', 'x-request-id', 'traceparent']);

/** The service that owns an operation. */
export interface Upstream {
  /**
   * Answers the request of the caller. The edge has set the owner's address and its headers: the request id and the sender's
   * address; the key is gone. `next` takes an error before an answer began.
   */
  forward(
    caller: Identity | PublicCaller,
    req: http.IncomingMessage,
    res: http.ServerResponse,
    next: (error?: unknown) => void,
  ): void;
  /** Rejects while the service cannot answer. */
  ready(): Promise<void>;
}

/** A service of the same process: its app takes the request like a mounted app of express. */
export function createInProcessUpstream(service: {
  app: Express | Router;
  ready: () => Promise<{ ready: boolean; checks: Record<string, string> }>;
}): Upstream {
  return {
    forward(caller, req, res, next) {
      identify(req, caller);
      service.app(req as Request, res as Response, next);
    },
    async ready() {
      const readiness = await service.ready();
      if (readiness.ready) return;
      const failed = Object.entries(readiness.checks).filter(([, state]) => state !== 'ok');
      throw new Error(failed.map(([name, state]) => `${name}: ${state}`).join(', '));
    },
  };
}

export interface HttpUpstreamOptions {
  /** Address of the service. */
  url: string;
  owner: ServiceName;
  identities: Pick<Identities, 'sign'>;
  /** Milliseconds without a byte from the service after which the gateway gives up. */
  timeoutMs: number;
}

/** A service of another process, over kept-alive connections; both bodies are streamed. */
export function createHttpUpstream(options: HttpUpstreamOptions): Upstream {
  const base = new URL(options.url);
  const client = base.protocol === 'https:' ? https : http;
  // No bound on connections: otherwise requests would queue behind slow bodies.
  const agent = new client.Agent({ keepAlive: true, maxFreeSockets: 128, timeout: 30_000 });

  function send(
    req: http.IncomingMessage,
    res: http.ServerResponse,
    next: (error?: unknown) => void,
    mayRepeat: boolean,
  ): void {
    const { method, url: path } = req;
    const headers = withoutHeaders(req.headers, NOT_FORWARDED);
    // Without a stated end, the service would read the body of a GET or DELETE as the next request of this connection.
    if (hasBody(req) && headers['content-length'] === undefined) headers['transfer-encoding'] = 'chunked';
    const outgoing = client.request(base, { agent, method, path, headers });
    const abort = () => outgoing.destroy();
    let answered = false;
    let stopBody: () => void = () => undefined;
    res.once('close', abort);
    outgoing.setTimeout(options.timeoutMs, () =>
      outgoing.destroy(new Error(`no answer within ${options.timeoutMs} ms`)),
    );
    outgoing.on('response', (incoming) => {
      answered = true;
      // The service answered early and reads no more: the rest of the body is dropped. After an overload it is not awaited.
      stopBody();
      if (OVERLOAD.has(incoming.statusCode)) dropRest(req);
      else req.resume();
      const returned = withoutHeaders(incoming.headers, NOT_RETURNED);
      res.writeHead(incoming.statusCode ?? 502, withListed(res, returned));
      incoming.pipe(res);
      incoming.on('error', () => res.destroy());
    });
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      res.off('close', abort);
      if (answered || res.destroyed) return;
      // The service closed a kept-alive connection while it was reused, before it read the request.
      if (mayRepeat && outgoing.reusedSocket && error.code === 'ECONNRESET') return send(req, res, next, false);
      // A caller that sends its whole body before it reads would else not see the answer.
      stopBody();
      dropRest(req);
      next(unavailable(error));
    });
    if (!hasBody(req)) return void outgoing.end();
    stopBody = passBody(req, outgoing, (error) => {
      answered = true;
      dropRest(req);
      outgoing.destroy();
      next(error);
    });
  }

  return {
    async forward(caller, req, res, next) {
      const call = { audience: options.owner, method: req.method ?? '', path: req.url ?? '' };
      req.headers[IDENTITY_HEADER] = await options.identities.sign(caller, call);
      send(req, res, next, !hasBody(req));
    },
    async ready() {
      const response = await fetch(new URL('/health/ready', base), {
        signal: AbortSignal.timeout(2_000),
        redirect: 'error',
      });
      await response.arrayBuffer();
      if (!response.ok) throw new Error(`answers ${response.status}`);
    },
  };
}

/**
 * Passes a body on, no faster than it is taken. Chunks that arrive together are written as one, because each takes some
 * hundred bytes of memory beside its content.
 * @param refuse gets the answer to a body of too many tiny chunks, of which no more is passed on
 * @returns stops it
 */
function passBody(
  req: http.IncomingMessage,
  outgoing: http.ClientRequest,
  refuse: (error: ApiError) => void,
): () => void {
  let chunks = 0;
  let bytes = 0;
  let arrived: Buffer[] = [];
  const resume = () => req.resume();
  const write = () => {
    const joined = Buffer.concat(arrived);
    arrived = [];
    if (joined.length === 0 || outgoing.write(joined)) return;
    req.pause();
    outgoing.once('drain', resume);
  };
  const onData = (chunk: Buffer) => {
    chunks += 1;
    bytes += chunk.length;
    if (arrived.push(chunk) === 1) process.nextTick(write);
    const tiny = tooManyTinyChunks(chunks, bytes);
    if (tiny === null) return;
    stop();
    refuse(tiny);
  };
  const onEnd = () => {
    write();
    outgoing.end();
  };
  const stop = () => {
    arrived = [];
    outgoing.off('drain', resume);
    req.off('data', onData).off('end', onEnd);
  };
  req.on('data', onData).on('end', onEnd);
  return stop;
}

function hasBody(req: http.IncomingMessage): boolean {
  return req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0;
}

/** Drops the named headers, and the headers that `Connection` names: they end at this connection. RFC 9110 section 7.6.1. */
function withoutHeaders(headers: http.IncomingHttpHeaders, names: ReadonlySet<string>): http.OutgoingHttpHeaders {
  const options = new Set((headers.connection ?? '').split(',').map((option) => option.trim().toLowerCase()));
  const dropped = (name: string) => names.has(name) || (options.has(name) && !OWN.has(name));
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !dropped(name)));
}

function unavailable(cause: unknown): ApiError {
  return new ApiError(
    503,
    'service_unavailable',
    'The service that answers this address cannot be reached; repeat the same request after Retry-After, it is safe to do so.',
    { cause },
  );
}
