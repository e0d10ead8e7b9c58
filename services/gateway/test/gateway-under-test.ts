import { randomBytes } from 'node:crypto';
import type { Bus, BusEvent } from '@ecf/bus';
import type { ServiceName } from '@ecf/contracts';
import { createHttpApp, readBody, requestIdOf } from '@ecf/http';
import { type Caller, callerOf, requireIdentity } from '@ecf/http/identity';
import { createMetrics } from '@ecf/kit/telemetry';
import { startTestPostgres } from '@ecf/test-servers/postgres';
import { identitiesOf, silentLogger, TEST_SERVICE_KEYS } from '@ecf/test-support/services';
import type express from 'express';
import { createGateway, type Gateway, type GatewayOverrides } from '../src/app.js';
import { type GatewayConfig, readGatewayConfig } from '../src/config.js';
import { createInProcessUpstream } from '../src/edge/upstream.http.js';

export const ADMIN_TOKEN = 'a-token-for-administrators';
export const MASTER_KEY = randomBytes(32);

/** A call as the test double of a service received it. */
export interface Echo {
  service: ServiceName;
  caller: Caller;
  method: string;
  url: string;
  request_id: string;
  api_key: string | null;
  body: string;
}

/** A service that answers with the call it received, after the same identity check as a real one. */
export function echoService(service: ServiceName, clock: () => Date = () => new Date()): express.Express {
  return createHttpApp({
    logger: silentLogger,
    maxBodyBytes: 10_000_000,
    routes: (app) => {
      app.use(requireIdentity(identitiesOf(service, clock), ['account', 'public']));
      app.use(async (req, res) => {
        const body = await readBody(req);
        const echo: Echo = {
          service,
          caller: callerOf(req),
          method: req.method,
          url: req.url,
          request_id: requestIdOf(req),
          api_key: (req.headers['x-api-key'] as string | undefined) ?? null,
          body: body.length > 200 ? `${body.length} bytes` : body.toString(),
        };
        res.json(echo);
      });
    },
  });
}

export interface GatewayUnderTest {
  gateway: Gateway;
  config: GatewayConfig;
  url: string;
  /** Null if `/admin` has no separate listener. */
  adminUrl: string | null;
  /** Events that were published, in order. */
  events: BusEvent[];
  /** Delivers an event of another service. */
  tell(event: BusEvent): Promise<void>;
  admin(method: string, path: string, body?: unknown): Promise<Answer>;
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  stop(): Promise<void>;
}

export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: bodies of all shapes are looked into by the tests.
  body: any;
}

export interface CallOptions {
  key?: string;
  headers?: Record<string, string>;
  body?: RequestInit['body'];
}

/** A gateway on its own database, with test doubles for emission and reception. */
export async function startGateway(
  settings: Record<string, string> = {},
  overrides: GatewayOverrides = {},
): Promise<GatewayUnderTest> {
  const url = settings.DATABASE_URL ?? (await (await startTestPostgres()).createDatabase('gateway'));
  const config = readGatewayConfig({
    SANDBOX: 'true',
    PORT: '0',
    DATABASE_URL: url,
    DATABASE_CONNECTIONS: '5',
    ADMIN_TOKEN,
    MASTER_KEY: MASTER_KEY.toString('base64'),
    ...TEST_SERVICE_KEYS.gateway,
    DRAIN_TIMEOUT_MS: '2000',
    ...settings,
  });
  const events: BusEvent[] = [];
  const subscribed: Parameters<Bus['subscribe']>[0][] = [];
  const bus: Bus = {
    publish: async (batch) => {
      events.push(...batch);
    },
    subscribe: async (options) => {
      subscribed.push(options);
      return { stop: async () => {} };
    },
    close: async () => {},
  };
  const ready = async () => ({ ready: true, checks: {} });
  const gateway = createGateway(config, {
    bus,
    logger: silentLogger,
    metrics: createMetrics(),
    upstreams: {
      emission: createInProcessUpstream({ app: echoService('emission', overrides.clock), ready }),
      reception: createInProcessUpstream({ app: echoService('reception', overrides.clock), ready }),
    },
    ...overrides,
  });
  const { url: base, adminUrl } = await gateway.start().catch(async (error) => {
    await gateway.stop();
    throw error;
  });

  async function call(method: string, path: string, options: CallOptions = {}): Promise<Answer> {
    const response = await fetch(base + path, {
      method,
      headers: { ...(options.key === undefined ? {} : { 'x-api-key': options.key }), ...options.headers },
      ...(options.body === undefined ? {} : { body: options.body, duplex: 'half' }),
    } as RequestInit);
    const text = await response.text();
    const json = response.headers.get('content-type')?.startsWith('application/json') === true;
    return { status: response.status, headers: response.headers, body: json && text !== '' ? JSON.parse(text) : text };
  }

  return {
    gateway,
    config,
    url: base,
    adminUrl,
    events,
    async tell(event) {
      for (const { topics, handler } of subscribed) if (topics.includes(event.topic)) await handler(event);
    },
    call,
    admin: (method, path, body) => {
      const form = body instanceof FormData;
      return call(method, path, {
        headers: {
          authorization: `Bearer ${ADMIN_TOKEN}`,
          ...(body === undefined || form ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: form ? body : JSON.stringify(body) }),
      });
    },
    stop: () => gateway.stop(),
  };
}

/** An account with one taxpayer and a key. */
export async function makeAccount(
  under: GatewayUnderTest,
  rnc: string,
  environments: string[] = ['TesteCF', 'CerteCF'],
): Promise<{ id: string; key: string; keyId: string }> {
  const account = await under.admin('POST', '/admin/accounts', { name: `Account of ${rnc}` });
  await under.admin('POST', `/admin/accounts/${account.body.id}/taxpayers`, { rnc, name: 'COMERCIAL EL MUELLE SRL' });
  const key = await under.admin('POST', `/admin/accounts/${account.body.id}/api-keys`, { name: 'tests', environments });
  return { id: account.body.id, key: key.body.key, keyId: key.body.id };
}
