import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { openFileXmlStore, type XmlStore } from '@ecf/archive';
import { type Bus, type BusEvent, createInProcessBus } from '@ecf/bus';
import type { TaxpayerState } from '@ecf/contracts';
import type { Environment } from '@ecf/domain';
import { type RunningServer, type StoredLogo, serve } from '@ecf/http';
import { identify } from '@ecf/http/identity';
import { createMetrics } from '@ecf/kit/telemetry';
import { type Database, openDatabase } from '@ecf/postgres';
import { startTestPostgres } from '@ecf/test-servers/postgres';
import { silentLogger, TEST_SERVICE_KEYS } from '@ecf/test-support/services';
import type { Authority } from '../../src/authority/ports.js';
import { createQuery, type Query, type QueryConfig, type QueryOverrides, readQueryConfig } from '../../src/index.js';
import { ACCOUNT, ISSUER, taxpayer, taxpayerEvent } from './events.js';
import { type Line, openLine } from './line.js';
import { createOwners, type Owners } from './owners.js';

export interface Account {
  account_id: string;
  taxpayers_revision?: number;
  env?: Environment;
  taxpayers?: string[];
  key_id?: string;
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely
  body: any;
}

export interface World {
  query: Query;
  config: QueryConfig;
  overrides: QueryOverrides;
  database: Database;
  /** The service's connection to its database. */
  line: Line;
  archive: XmlStore;
  folder: string;
  owners: Owners;
  bus: Bus;
  authority: { [N in keyof Authority]: Authority[N] };
  metrics: ReturnType<typeof createMetrics>;
  /** Publishes events; resolves when they are handled. */
  publish(...events: BusEvent[]): Promise<void>;
  /** Queries as an account. */
  get(pathAndQuery: string, headers?: Record<string, string>, account?: Account): Promise<Answer>;
  /** Queries another instance as the first account. */
  getFrom(instance: Query, pathAndQuery: string, headers?: Record<string, string>): Promise<Answer>;
  /** Address of the service itself, without the gateway's edge. */
  url: string;
  /** The gateway's taxpayers of an account, including those not published yet. */
  gateway: Map<string, TaxpayerState[]>;
  /** The gateway's logos by RNC, and the RNCs it was queried for. */
  logos: Map<string, StoredLogo | 'unreachable'>;
  logoReads: string[];
  /** Documents at their owners that are not archived yet, by path. */
  pending: Map<string, string>;
  /** Number of requests that the service has received. */
  requests(): number;
  stop(): Promise<void>;
}

function pendingOf(documents: ReadonlyMap<string, string>) {
  return {
    async pendingDocument({ path }: { path: string }) {
      const text = documents.get(path);
      return { base64: text === undefined ? null : Buffer.from(text).toString('base64') };
    },
  };
}

/** The real service on its own database, behind an edge that signs identities as the gateway does. */
export async function startWorld(
  settings: Record<string, string> = {},
  overrides: QueryOverrides = {},
  owners: Owners = createOwners(),
): Promise<World> {
  const postgres = await startTestPostgres();
  const databaseUrl = await postgres.createDatabase('query');
  const line = await openLine(databaseUrl);
  const folder = await mkdtemp(path.join(os.tmpdir(), 'ecf-query-'));
  const clock = overrides.clock ?? (() => new Date());
  const metrics = createMetrics();
  const bus = overrides.bus ?? createInProcessBus({ logger: silentLogger, retry: { firstDelayMs: 5 } });
  const archive = await openFileXmlStore(path.join(folder, 'xml'));
  const gateway = new Map<string, TaxpayerState[]>();
  const logos = new Map<string, StoredLogo | 'unreachable'>();
  const logoReads: string[] = [];
  const pending = new Map<string, string>();
  const authority = unexpected();
  const config = readQueryConfig({
    DATABASE_URL: line.url,
    ...TEST_SERVICE_KEYS.query,
    DATA_DIR: folder,
    MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    ...settings,
  });
  const given: QueryOverrides = {
    bus,
    archive,
    emission: owners.emission,
    reception: owners.reception,
    stored: { emission: pendingOf(pending), reception: pendingOf(pending) },
    taxpayers: {
      account: async (id) => {
        const taxpayers = gateway.get(id) ?? [];
        return { account_id: id, revision: Math.max(0, ...taxpayers.map(({ revision }) => revision)), taxpayers };
      },
      taxpayer: async (rnc) => [...gateway.values()].flat().find((state) => state.rnc === rnc) ?? null,
      async logo(rnc) {
        logoReads.push(rnc);
        if (logos.get(rnc) === 'unreachable') throw new Error('the gateway is unreachable');
        return (logos.get(rnc) as StoredLogo | undefined) ?? null;
      },
    },
    authority,
    logger: silentLogger,
    metrics,
    clock,
    ...overrides,
  };
  const query = createQuery(config, given);
  const database = openDatabase(databaseUrl, { max: 2 });
  await query.start();
  await filled(database);
  await bus.publish([taxpayerEvent(taxpayer({ rnc: ISSUER }))]);
  const accounts = new Map<string, Account>();
  const server: RunningServer = await serve(edge(query, accounts), { host: '127.0.0.1', port: 0 });
  let requests = 0;
  server.server.on('request', () => {
    requests += 1;
  });
  async function call(
    url: string,
    address: string,
    headers: Record<string, string>,
    account: Account,
  ): Promise<Answer> {
    const name = randomUUID();
    accounts.set(name, account);
    const response = await fetch(`${url}${address}`, { headers: { 'x-account': name, ...headers } });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') === true;
    return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : text };
  }

  return {
    query,
    config,
    overrides: given,
    database,
    line,
    archive,
    pending,
    folder,
    owners,
    bus,
    authority,
    metrics,
    url: server.url,
    gateway,
    logos,
    logoReads,
    publish: (...events) => bus.publish(events),
    get: (address, headers = {}, account = { account_id: ACCOUNT }) => call(server.url, address, headers, account),
    async getFrom(instance, address, headers = {}) {
      const other = await serve(edge(instance, accounts), { host: '127.0.0.1', port: 0 });
      const answer = await call(other.url, address, headers, { account_id: ACCOUNT });
      await other.stop();
      return answer;
    },
    requests: () => requests,
    async stop() {
      await server.stop();
      await query.stop();
      await line.close();
      await bus.close();
      await database.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Waits until the service has copied the earlier documents of the owners. */
async function filled(database: Database): Promise<void> {
  for (let waited = 0; waited < 1_000; waited += 1) {
    const { rows } = await database.query<{ filled: boolean }>('SELECT filled FROM rebuild');
    if (rows[0]?.filled === true) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('the read models were not filled');
}

/** An authority that must not be called; tests replace the calls that they expect. */
function unexpected(): Authority {
  const refuse = async () => {
    throw new Error('the authority was called');
  };
  return {
    queryConsumerSummary: refuse,
    queryState: refuse,
    listDirectory: refuse,
    findInDirectory: refuse,
    serviceStatus: refuse,
    maintenanceWindows: refuse,
    environmentStatus: refuse,
  };
}

/** Names the account of a request as its caller; other requests have none. */
function edge(query: Query, accounts: Map<string, Account>) {
  return (req: IncomingMessage, res: ServerResponse) => {
    const account = accounts.get(String(req.headers['x-account']));
    if (account !== undefined)
      identify(req, {
        kind: 'account',
        account_id: account.account_id,
        environments: ['TesteCF', 'CerteCF', 'eCF'],
        env: account.env ?? ((req.headers.env ?? 'TesteCF') as Environment),
        env_given: req.headers.env !== undefined,
        taxpayers_revision: account.taxpayers_revision ?? 0,
        taxpayers: account.taxpayers,
        key_id: account.key_id,
        request_id: randomUUID(),
      });
    query.app(req, res);
  };
}
