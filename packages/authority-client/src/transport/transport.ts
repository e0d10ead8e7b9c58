import { type ClientRequest, Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import got, { type Request as GotStream, type Response } from 'got';
import { AddressRefused, type GuardOptions, guardedLookup, literalRefused } from '../receiver/address-guard.js';

export interface Timeouts {
  /** Each of name lookup, TCP connect and TLS handshake. */
  connectMs: number;
  /** From the request being written to the head of the answer. */
  responseMs: number;
  /** The whole call. */
  totalMs: number;
}

export const DEFAULT_TIMEOUTS: Timeouts = { connectMs: 5_000, responseMs: 30_000, totalMs: 60_000 };

export interface TlsOptions {
  /** Certificates to trust instead of the system's, PEM. */
  ca?: string | string[];
}

interface TransportOptions {
  userAgent: string;
  timeouts: Partial<Timeouts>;
  tls: TlsOptions;
  /** Guard for addresses from others: decides to which of them a connection is allowed. */
  guard?: GuardOptions;
  /** Connections to one host at most; further calls wait for one. Default 128. */
  maxSockets?: number;
}

export interface OutgoingRequest {
  method: 'GET' | 'POST';
  url: URL;
  headers: Record<string, string>;
  body?: Buffer;
  maxAnswerBytes: number;
  signal?: AbortSignal | undefined;
}

export interface ReceivedAnswer {
  kind: 'received';
  status: number;
  contentType: string | null;
  retryAfter: string | null;
  date: string | null;
  bytes: Buffer;
}

export interface FailedCall {
  kind: 'failed';
  cause: 'connection' | 'timeout' | 'aborted' | 'too_large' | 'address_refused';
  reachedAuthority: 'no' | 'maybe';
  detail: string;
}

export interface Transport {
  send(request: OutgoingRequest): Promise<ReceivedAnswer | FailedCall>;
  close(): void;
}

interface Attempt {
  result: ReceivedAnswer | FailedCall;
  /** Broken on a kept-alive connection before any answer. */
  stale: boolean;
}

/** Idle connections are given up early: writing into one that the other side just closed leaves the outcome unknown. */
const IDLE_SOCKET_MS = 5_000;

/** got over keep-alive connections: no redirects, no retries, every answer bounded in time and size. */
export function createTransport(options: TransportOptions): Transport {
  const timeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts };
  const { maxSockets = 128 } = options;
  const pool = { keepAlive: true, maxSockets, maxFreeSockets: 32, timeout: IDLE_SOCKET_MS } as const;
  const agent = {
    http: new HttpAgent(pool),
    https: new HttpsAgent({ ...pool, ...(options.tls.ca === undefined ? {} : { ca: options.tls.ca }) }),
  };
  const dnsLookup = options.guard ? guardedLookup(options.guard) : undefined;
  const client = got.extend({
    agent,
    ...(dnsLookup ? { dnsLookup } : {}),
    followRedirect: false,
    throwHttpErrors: false,
    retry: { limit: 0 },
    headers: { 'user-agent': options.userAgent },
    timeout: {
      lookup: timeouts.connectMs,
      connect: timeouts.connectMs,
      secureConnect: timeouts.connectMs,
      response: timeouts.responseMs,
      request: timeouts.totalMs,
    },
  });
  async function attempt(request: OutgoingRequest): Promise<Attempt> {
    const connection = { open: false, reused: false };
    let stream: GotStream | undefined;
    try {
      stream = client.stream(request.url, {
        method: request.method,
        headers: request.headers,
        ...(request.body ? { body: request.body } : {}),
        ...(request.signal ? { signal: request.signal } : {}),
      });
      stream.on('request', (sent: ClientRequest) => watchConnection(sent, connection));
      return { result: await receive(stream, request.maxAnswerBytes), stale: false };
    } catch (error) {
      stream?.destroy();
      const failure = describeFailure(error, connection.open);
      // Also where the signal was a timeout of the caller's: that budget says nothing about the service.
      if (request.signal?.aborted) failure.cause = 'aborted';
      return { result: failure, stale: connection.reused && isReset(error) };
    }
  }

  return {
    async send(request) {
      if (options.guard && literalRefused(options.guard, request.url)) {
        return refusedAddress(`${request.url.hostname} is not an allowed address`);
      }
      const first = await attempt(request);
      // A query over a connection that the other side has closed is repeated once on a new one.
      const last = first.stale && request.method === 'GET' ? await attempt(request) : first;
      return last.result;
    },
    close() {
      agent.http.destroy();
      agent.https.destroy();
    },
  };
}

/** `open` turns true when request bytes may leave: TCP connected for http, TLS established for https. */
function watchConnection(request: ClientRequest, connection: { open: boolean; reused: boolean }): void {
  request.once('socket', (socket: Socket | TLSSocket) => {
    if (request.reusedSocket) connection.reused = true;
    if (!socket.connecting) connection.open = true;
    else socket.once('encrypted' in socket ? 'secureConnect' : 'connect', () => (connection.open = true));
  });
}

function receive(stream: GotStream, maxAnswerBytes: number): Promise<ReceivedAnswer | FailedCall> {
  return new Promise((resolve, reject) => {
    let head: Response | undefined;
    const chunks: Buffer[] = [];
    let size = 0;
    stream.once('response', (response: Response) => {
      head = response;
    });
    stream.on('data', (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size <= maxAnswerBytes) return;
      const detail = `answer larger than ${maxAnswerBytes} bytes (status ${head?.statusCode})`;
      resolve({ kind: 'failed', cause: 'too_large', reachedAuthority: 'maybe', detail });
      stream.destroy();
    });
    stream.on('error', reject);
    stream.once('end', () => {
      if (head) resolve(receivedAnswer(head, chunks));
    });
    stream.once('close', () => reject(new Error('the connection ended without an answer')));
  });
}

function receivedAnswer({ statusCode, headers }: Response, chunks: readonly Buffer[]): ReceivedAnswer {
  return {
    kind: 'received',
    status: statusCode,
    contentType: headers['content-type'] ?? null,
    retryAfter: headers['retry-after'] ?? null,
    date: headers.date ?? null,
    bytes: chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks),
  };
}

function refusedAddress(detail: string): FailedCall {
  return { kind: 'failed', cause: 'address_refused', reachedAuthority: 'no', detail };
}

/** got's errors carry the whole request, Authorization included: only code and message leave this file. */
function describeFailure(error: unknown, connectionOpen: boolean): FailedCall {
  const { name, code, message, refused } = facts(error);
  if (refused) return refusedAddress(message);
  const cause = name === 'TimeoutError' ? 'timeout' : name === 'AbortError' ? 'aborted' : 'connection';
  const detail = code === undefined || message.includes(code) ? message : `${code}: ${message}`;
  return { kind: 'failed', cause, reachedAuthority: connectionOpen ? 'maybe' : 'no', detail };
}

function isReset(error: unknown): boolean {
  const { code } = facts(error);
  return code === 'ECONNRESET' || code === 'EPIPE';
}

function facts(error: unknown): { name: string; code: string | undefined; message: string; refused: boolean } {
  if (!(error instanceof Error)) return { name: '', code: undefined, message: 'failed', refused: false };
  const { code } = error as NodeJS.ErrnoException;
  const refused =
    error instanceof AddressRefused || error.cause instanceof AddressRefused || code === AddressRefused.code;
  return { name: error.name, code, message: error.message, refused };
}
