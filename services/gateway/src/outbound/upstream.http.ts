import http from 'node:http';
import https from 'node:https';
import { ApiError, requestIdOf } from '@ecf/service-kit/http';
import { IDENTITY_HEADER } from '@ecf/service-kit/security';
import type { ForwardedCall, Upstream } from '../core/upstream.js';
import { readThoughWritingFails } from './answer-first.js';

/** Headers of one connection only, the key, and what the gateway writes anew. */
const NOT_FORWARDED = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
  'host',
  'x-api-key',
  'x-forwarded-for',
  IDENTITY_HEADER,
]);
const NOT_RETURNED = new Set(['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'trailer', 'date']);

export interface HttpUpstreamOptions {
  /** Address of the service. */
  url: string;
  /** Milliseconds without a sign of life from the service after which it is given up. */
  timeoutMs: number;
}

/** A service of another process, over kept-alive connections; both bodies are streamed. */
export function createHttpUpstream(options: HttpUpstreamOptions): Upstream & { close(): void } {
  const base = new URL(options.url);
  const client = base.protocol === 'https:' ? https : http;
  const agent = new client.Agent({
    keepAlive: true,
    // As many as the gateway takes itself: a line of requests here would wait behind senders of slow bodies.
    maxSockets: Number.POSITIVE_INFINITY,
    maxFreeSockets: 128,
    timeout: 30_000,
  });

  function send(
    req: http.IncomingMessage,
    res: http.ServerResponse,
    call: ForwardedCall,
    retry: boolean,
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      const outgoing = client.request(base, {
        agent,
        method: req.method ?? 'GET',
        path: call.url,
        headers: forwardedHeaders(req, call),
      });
      let answer: http.IncomingMessage | null = null;
      const giveUp = () => outgoing.destroy();
      res.once('close', giveUp);
      outgoing.setTimeout(options.timeoutMs, () =>
        outgoing.destroy(new Error(`no answer within ${options.timeoutMs} ms`)),
      );
      outgoing.on('response', (incoming) => {
        if (res.headersSent) {
          outgoing.destroy();
          return;
        }
        answer = incoming;
        returnHeaders(incoming, res);
        // An early answer: the rest of the body is not read, so nothing more can come over this connection.
        if (hasBody(req) && !req.complete) res.setHeader('connection', 'close');
        incoming.pipe(res);
        incoming.on('error', () => res.destroy());
        res.once('finish', resolve);
        res.once('close', resolve);
      });
      outgoing.on('error', (error: NodeJS.ErrnoException) => {
        res.off('close', giveUp);
        if (answer?.complete) return;
        if (answer !== null || res.headersSent || res.destroyed) {
          res.destroy();
          resolve();
        } else if (retry && outgoing.reusedSocket && error.code === 'ECONNRESET') {
          // The service closed a kept connection at the moment it was taken up again; nothing of the request was read.
          send(req, res, call, false).then(resolve, reject);
        } else reject(unavailable(error));
      });
      outgoing.on('socket', readThoughWritingFails);
      if (hasBody(req)) req.pipe(outgoing);
      else outgoing.end();
    });
  }

  return {
    forward: (req, res, call) => send(req, res, call, !hasBody(req)),
    async ready() {
      const response = await fetch(new URL('/health/ready', base), {
        signal: AbortSignal.timeout(2_000),
        redirect: 'error',
      });
      await response.arrayBuffer();
      if (!response.ok) throw new Error(`answers ${response.status}`);
    },
    close: () => agent.destroy(),
  };
}

function hasBody(req: http.IncomingMessage): boolean {
  return req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0;
}

function forwardedHeaders(req: http.IncomingMessage, call: ForwardedCall): http.OutgoingHttpHeaders {
  const headers: http.OutgoingHttpHeaders = {};
  for (const [name, value] of Object.entries(req.headers))
    if (!NOT_FORWARDED.has(name) && value !== undefined) headers[name] = value;
  headers[IDENTITY_HEADER] = call.identity();
  headers['x-request-id'] = requestIdOf(req);
  headers['x-forwarded-for'] = call.sender;
  return headers;
}

function returnHeaders(incoming: http.IncomingMessage, res: http.ServerResponse): void {
  res.statusCode = incoming.statusCode ?? 502;
  for (const [name, value] of Object.entries(incoming.headers))
    if (!NOT_RETURNED.has(name) && value !== undefined) res.setHeader(name, value);
}

function unavailable(cause: unknown): ApiError {
  return new ApiError(
    503,
    'service_unavailable',
    'The service that answers this address cannot be reached; repeat the same request after Retry-After, it is safe to do so.',
    { cause },
  );
}
