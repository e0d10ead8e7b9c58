import { setTimeout as delay } from 'node:timers/promises';
import type { Environment } from '@ecf/domain';
import express, { type Express, type NextFunction, type Request, type Response, type Router } from 'express';
import type { Fault } from '../faults.js';
import { TRY_AGAIN } from '../operations/consumer-reception.js';
import { page } from '../page.js';
import { ENVIRONMENTS, type Operation, type Service, serviceExists } from '../services.js';
import type { Simulation } from '../simulation.js';
import { type Answer, emptyAnswer, type Handler, prefersXml, Query, represent, textAnswer } from './call.js';
import { readBody } from './read-body.js';

/** One address of the simulator. */
export interface Route {
  readonly method: 'GET' | 'POST';
  /** The service below the environment; null: below the root. */
  readonly service: Service | null;
  /** The rest of the path, in lower case. */
  readonly path: string;
  /** Its name in faults; null: only `*` applies to it. */
  readonly operation: Operation | null;
  /** Whether a token is needed. */
  readonly token: boolean;
  readonly handler: Handler;
}

/** What disturbs every call. */
interface Disturbance {
  readonly latencyMs: number;
  readonly errorRate: number;
  readonly random: () => number;
}

type Served = Pick<Simulation, 'faults' | 'ledger' | 'tokens' | 'clock' | 'publicUrl'>;

const GREETING = textAnswer(
  200,
  'Tax authority simulator. Services: /{testecf|certecf|ecf}/{service}/..., /api/estatusservicios/... Control: /_control/...\n',
);
const BUSY = textAnswer(
  503,
  '<html><head><title>503 Service Unavailable</title></head><body><h1>Service Unavailable</h1></body></html>',
  'text/html; charset=utf-8',
);

/** The authority's addresses below the control interface. */
export function createApp(
  simulation: Served,
  routes: readonly Route[],
  control: Router,
  disturbance: Disturbance,
): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.use('/_control', control);
  app.use((request, response, next) => {
    const path = pathOf(request.path);
    if (path === null) return send(request, response, emptyAnswer(404));
    request.url = path + request.url.slice(request.path.length);
    next();
  });
  app.get('/', (request, response) => {
    const isBrowser = request.headers.accept?.includes('text/html') === true;
    send(request, response, isBrowser ? textAnswer(200, page(simulation), 'text/html; charset=utf-8') : GREETING);
  });
  for (const route of routes) {
    for (const [segment, env] of Object.entries(ENVIRONMENTS)) {
      const { service } = route;
      if (service !== null && serviceExists(service, env))
        app.all(encodeURI(`/${segment}/${service}/${route.path}`), serve(simulation, route, env, disturbance));
    }
    if (route.service === null) app.all(`/${route.path}`, serve(simulation, route, 'TesteCF', disturbance));
  }
  app.use((request: Request, response: Response) => refuse(request, response, 404));
  app.use((error: unknown, request: Request, response: Response, _next: NextFunction) => {
    console.error(error);
    if (response.headersSent) response.destroy();
    else send(request, response, textAnswer(500, 'Internal Server Error'));
  });
  return app;
}

/**
 * The path of a request target for matching; null if it is not a path. Clients that join addresses carelessly write doubled
 * slashes, and the authority's servers accept them.
 */
function pathOf(target: string): string | null {
  try {
    const path = decodeURIComponent(target).replace(/\/{2,}/g, '/');
    return encodeURI(path.toLowerCase()).replace(/[?#]/g, encodeURIComponent);
  } catch {
    return null;
  }
}

/** Carries one call through its faults to its operation and back. */
function serve(simulation: Served, route: Route, env: Environment, { latencyMs, errorRate, random }: Disturbance) {
  const { faults, ledger, tokens, clock } = simulation;

  return async (request: Request, response: Response): Promise<void> => {
    if (request.method !== route.method) return refuse(request, response, 405);
    const { connection, document, delayMs } = faults.take(route.operation);
    if (connection?.kind === 'down') return cut(request);
    const body = await readBody(request, response);
    if (body === null) return;
    if ('status' in body) return send(request, response, body);
    if (connection?.kind === 'timeout') return;
    if (connection?.kind === 'reset') return cut(request);
    const { bytes, upload } = body;
    const call = { query: new Query(request.url), headers: request.headers, body: bytes, upload, env, fault: document };
    const answer = connection?.kind === 'http' ? asGiven(connection) : await answerOf(call);
    await finish(request, response, answer, connection, delayMs);
  };

  async function answerOf(call: Omit<Parameters<Handler>[0], 'holder'>): Promise<Answer> {
    if (errorRate > 0 && random() < errorRate) return route.operation === 'recepcionfc' ? TRY_AGAIN : BUSY;
    const holder = route.token ? tokens.holder(env, call.headers.authorization ?? '', clock()) : null;
    if (route.token && holder === null) return emptyAnswer(401, { 'WWW-Authenticate': 'Bearer' });
    return route.handler({ ...call, holder });
  }

  async function finish(
    request: Request,
    response: Response,
    answer: Answer,
    connection: Fault | null,
    delayMs: number,
  ): Promise<void> {
    const { noted } = answer;
    if (connection?.kind === 'timeout-after' || connection?.kind === 'reset-after') {
      if (noted) ledger.answered(noted, false);
      return connection.kind === 'reset-after' ? cut(request) : undefined;
    }
    if (noted) response.once('close', () => ledger.answered(noted, response.writableFinished));
    const wait = delayMs + latencyMs;
    if (wait > 0) await delay(wait, undefined, { ref: false });
    send(request, response, answer);
  }
}

function asGiven({ status, body, contentType, headers }: Fault): Answer {
  return { status, body, contentType, headers };
}

/** Unknown address: the body is read, because the caller may read the answer only after sending it. */
function refuse(request: Request, response: Response, status: 404 | 405): void {
  request.resume();
  send(request, response, emptyAnswer(status));
}

/** Cuts the connection hard, as a broken network does. */
function cut(request: Request): void {
  request.socket.resetAndDestroy();
}

export function send(request: Request, response: Response, answer: Answer): void {
  if (response.destroyed) return;
  const { status, headers } = answer;
  let { body, contentType } = answer;
  if (typeof body === 'object' && !Buffer.isBuffer(body)) {
    const represented = represent(body, prefersXml(request.headers.accept));
    body = represented.text;
    contentType = represented.contentType;
  }
  const length = Buffer.byteLength(body);
  response.writeHead(status, {
    ...(contentType && length > 0 ? { 'Content-Type': contentType } : {}),
    'Content-Length': length,
    ...headers,
  });
  response.end(body);
}
