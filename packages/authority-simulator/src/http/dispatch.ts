import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Fault } from '../faults/fault.js';
import { TRY_AGAIN } from '../operations/consumer-reception.js';
import type { Simulation } from '../simulation.js';
import { type Answer, type Call, emptyAnswer, textAnswer } from './exchange.js';
import { readQuery } from './query.js';
import { prefersXml, represent } from './representation.js';
import { readBody } from './request-body.js';
import { type Match, pathOf, type Router } from './router.js';

export interface Disturbance {
  readonly latencyMs: number;
  readonly errorRate: number;
  readonly random: () => number;
}

const BUSY = textAnswer(
  503,
  '<html><head><title>503 Service Unavailable</title></head><body><h1>Service Unavailable</h1></body></html>',
  'text/html; charset=utf-8',
);
const UNAUTHORISED = emptyAnswer(401, { 'WWW-Authenticate': 'Bearer' });

/** Carries one call through its faults to its operation and back. */
export class Dispatcher {
  constructor(
    readonly simulation: Pick<Simulation, 'faults' | 'ledger' | 'tokens' | 'clock'>,
    readonly router: Router,
    readonly disturbance: Disturbance,
  ) {}

  async dispatch(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = request.url ?? '/';
    const mark = target.indexOf('?');
    const path = pathOf(mark < 0 ? target : target.slice(0, mark));
    const match = path === null ? 404 : this.router.match(request.method ?? 'GET', path);
    if (path === null || typeof match === 'number') return refuse(request, response, match as 404 | 405);
    const { connection, document, delayMs } = this.simulation.faults.take(match.route.operation);
    if (connection?.kind === 'down') return cut(request);
    const body = await readBody(request);
    if (body === 'gone') return;
    if (body === 'too_large') return send(request, response, emptyAnswer(413, { Connection: 'close' }));
    if (connection?.kind === 'timeout') return;
    if (connection?.kind === 'reset') return cut(request);
    const query = readQuery(mark < 0 ? '' : target.slice(mark + 1));
    const call = { method: request.method ?? 'GET', path, query, headers: request.headers, body, fault: document };
    const answer = connection?.kind === 'http' ? asGiven(connection) : await this.#answer(match, call);
    await this.#finish(request, response, answer, connection, delayMs);
  }

  async #answer({ route, env }: Match, call: Omit<Call, 'env' | 'holder'>): Promise<Answer> {
    const { errorRate, random } = this.disturbance;
    if (errorRate > 0 && random() < errorRate) return route.operation === 'recepcionfc' ? TRY_AGAIN : BUSY;
    let holder: string | null = null;
    if (route.token) {
      holder = this.simulation.tokens.holder(env, call.headers.authorization as string, this.simulation.clock());
      if (holder === null) return UNAUTHORISED;
    }
    return route.handler({ ...call, env, holder });
  }

  async #finish(
    request: IncomingMessage,
    response: ServerResponse,
    answer: Answer,
    connection: Fault | null,
    delayMs: number,
  ): Promise<void> {
    const { ledger } = this.simulation;
    if (connection?.kind === 'timeout-after' || connection?.kind === 'reset-after') {
      if (answer.noted) ledger.answered(answer.noted, false);
      return connection.kind === 'reset-after' ? cut(request) : undefined;
    }
    const { noted } = answer;
    if (noted) {
      response.once('finish', () => ledger.answered(noted, true));
      response.once('close', () => {
        if (!response.writableFinished) ledger.answered(noted, false);
      });
    }
    const wait = delayMs + this.disturbance.latencyMs;
    if (wait > 0) await delay(wait, undefined, { ref: false });
    send(request, response, answer);
  }
}

function asGiven({ status, body, contentType, headers }: Fault): Answer {
  return { status, body, contentType, headers };
}

/** Unknown address: the body is read, because the caller may read the answer only after sending it. */
function refuse(request: IncomingMessage, response: ServerResponse, status: 404 | 405): void {
  request.resume();
  send(request, response, emptyAnswer(status));
}

/** Cuts the connection hard, as a broken network does. */
function cut(request: IncomingMessage): void {
  request.socket.resetAndDestroy();
}

export function send(request: IncomingMessage, response: ServerResponse, answer: Answer): void {
  if (response.destroyed) return;
  const { status, headers } = answer;
  let { body, contentType } = answer;
  if (typeof body === 'object' && !Buffer.isBuffer(body)) {
    const represented = represent(body, prefersXml(request.headers.accept));
    body = represented.text;
    contentType = represented.contentType;
  }
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
  response.writeHead(status, {
    ...(contentType && length > 0 ? { 'Content-Type': contentType } : {}),
    'Content-Length': length,
    ...headers,
  });
  response.end(body);
}
