import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { openFileXmlStore, type XmlStore } from '@ecf/archive';
import { type Bus, type BusEvent, createInProcessBus } from '@ecf/bus';
import type { ReceivedInvoiceChanged } from '@ecf/contracts';
import { type RunningServer, serve } from '@ecf/http';
import { type Caller, identify } from '@ecf/http/identity';
import { createMetrics } from '@ecf/kit/telemetry';
import { type Database, openDatabase } from '@ecf/postgres';
import { startTestPostgres } from '@ecf/test-servers/postgres';
import { deadLettersOf, silentLogger, TEST_SERVICE_KEYS } from '@ecf/test-support/services';
import { expect } from '@jest/globals';
import { createReception, type Reception, type ReceptionOverrides, readReceptionConfig } from '../../src/index.js';
import { NOW } from './senders.js';
import { ACCOUNT, MASTER_KEY, taxpayer, taxpayerChanged } from './taxpayers.js';

type Environment = 'TesteCF' | 'CerteCF' | 'eCF';

export interface WorldOptions {
  settings?: Record<string, string>;
  overrides?: Partial<ReceptionOverrides>;
  /** Changes the database address for the service only. */
  databaseUrl?: (url: string) => Promise<string>;
  /** Instances of the service on the same database, archive and bus. */
  instances?: number;
}

export interface Account {
  account_id: string;
  taxpayers_revision?: number;
  env?: Environment;
}

export interface World {
  /** Address of the public routes of an instance. */
  url(instance?: number): string;
  bus: Bus;
  database: Database;
  /** Reads the bytes that the service committed, whether they have reached the archive or not. */
  archive: Pick<XmlStore, 'get'>;
  instances: readonly Reception[];
  /** The events on received-invoices.v1, in order. */
  published: BusEvent<ReceivedInvoiceChanged>[];
  metrics: ReturnType<typeof createMetrics>;
  /** Posts a body to the reception of an instance. */
  send(body: Uint8Array | string, options?: SendOptions): Promise<Response>;
  /** Queries as an account. */
  get(pathAndQuery: string, headers?: Record<string, string>, account?: Account): Promise<Response>;
  setTime(now: Date): void;
  now(): Date;
  stop(): Promise<void>;
}

export interface SendOptions {
  env?: Environment;
  instance?: number;
  path?: string;
  headers?: Record<string, string>;
  sender?: string;
}

const PUBLIC = /\/fe\/(?:recepci[^/]*\/api\/ecf|autenticacion\/)/i;

/**
 * One or more instances of the real service on their own database, behind an edge that signs identities as the gateway does.
 */
export async function startWorld(options: WorldOptions = {}): Promise<World> {
  const postgres = await startTestPostgres();
  const databaseUrl = await postgres.createDatabase('reception');
  const folder = await mkdtemp(path.join(os.tmpdir(), 'ecf-reception-'));
  // Time passes normally, from a moment that tests choose.
  let [from, since] = [NOW.getTime(), performance.now()];
  const clock = () => new Date(from + performance.now() - since);
  const metrics = createMetrics();
  const bus = createInProcessBus({ logger: silentLogger });
  const archive = options.overrides?.archive ?? (await openFileXmlStore(path.join(folder, 'xml')));
  const config = readReceptionConfig({
    DATABASE_URL: (await options.databaseUrl?.(databaseUrl)) ?? databaseUrl,
    MASTER_KEY: MASTER_KEY.toString('base64'),
    ...TEST_SERVICE_KEYS.reception,
    DATA_DIR: folder,
    ANY_ISSUER: 'true',
    // Nothing listens there: without an authority of the test, documents stay unconfirmed.
    AUTHORITY_URL: 'http://127.0.0.1:1',
    ...options.settings,
  });
  const instances = Array.from({ length: options.instances ?? 1 }, () =>
    createReception(config, { bus, archive, logger: silentLogger, metrics, clock, source: null, ...options.overrides }),
  );
  for (const instance of instances) await instance.start();
  const published: BusEvent<ReceivedInvoiceChanged>[] = [];
  await bus.subscribe({
    topics: ['received-invoices.v1'],
    group: 'query',
    handler: async (event) => void published.push(event as BusEvent<ReceivedInvoiceChanged>),
  });
  await bus.publish([taxpayerChanged(taxpayer())]);

  const accounts = new Map<string, Account>();
  const edges: RunningServer[] = [];
  for (const instance of instances) edges.push(await serve(edge(instance, accounts), { host: '127.0.0.1', port: 0 }));
  const database = openDatabase(databaseUrl, { max: 2 });
  const url = (instance = 0) => (edges[instance] as RunningServer).url;

  return {
    url,
    bus,
    database,
    archive: {
      async get(path, sha256) {
        const { rows } = await database.query<{ bytes: Buffer }>('SELECT bytes FROM pending_document WHERE path = $1', [
          path,
        ]);
        return rows[0]?.bytes ?? archive.get(path, sha256);
      },
    },
    instances,
    published,
    metrics,
    send(body, { env, instance, path: address = '/fe/recepcion/api/ecf', headers = {}, sender } = {}) {
      return fetch(`${url(instance)}${address}`, {
        method: 'POST',
        body: body as string,
        headers: {
          'content-type': 'text/xml',
          env: env ?? 'TesteCF',
          ...(sender ? { 'x-sender': sender } : {}),
          ...headers,
        },
      });
    },
    get(pathAndQuery, headers = {}, account = { account_id: ACCOUNT }) {
      const name = randomUUID();
      accounts.set(name, account);
      return fetch(`${url()}${pathAndQuery}`, { headers: { 'x-account': name, ...headers } });
    },
    now: clock,
    setTime(time) {
      [from, since] = [time.getTime(), performance.now()];
    },
    async stop() {
      for (const running of edges) await running.stop();
      for (const instance of instances) await instance.stop();
      await bus.close();
      expect(await deadLettersOf(database)).toEqual([]);
      await database.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Adds the identity of a call: environment and sender for public routes, else the account. */
function edge(instance: Reception, accounts: Map<string, Account>) {
  return (req: IncomingMessage, res: ServerResponse) => {
    const request_id = randomUUID();
    const env = (req.headers.env ?? 'TesteCF') as Environment;
    const sender = req.headers['x-sender'] as string | undefined;
    const account = accounts.get(String(req.headers['x-account']));
    const caller: Caller | null = PUBLIC.test(req.url ?? '')
      ? { kind: 'public', env, sender: sender ?? '203.0.113.7', request_id }
      : account === undefined
        ? null
        : {
            kind: 'account',
            environments: ['TesteCF', 'CerteCF', 'eCF'],
            env: account.env ?? env,
            env_given: true,
            account_id: account.account_id,
            taxpayers_revision: account.taxpayers_revision ?? 0,
            request_id,
          };
    if (caller !== null) identify(req, caller);
    instance.app(req, res);
  };
}
