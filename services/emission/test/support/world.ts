import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { openXmlStore, ownDocuments, readArchiveSettings } from '@ecf/archive';
import { type SimulatorOptions, startSimulator } from '@ecf/authority-simulator';
import { createInProcessBus } from '@ecf/bus';
import type { AccountTaxpayers, NumberRange, TaxpayerState } from '@ecf/contracts';
import { type RunningServer, serve } from '@ecf/http';
import type { Caller } from '@ecf/http/identity';
import { createMasterKeys, taxpayerCertificate } from '@ecf/kit';
import { createMetrics } from '@ecf/kit/telemetry';
import { openDatabase } from '@ecf/postgres';
import { startTestPostgres } from '@ecf/test-servers/postgres';
import { testKey } from '@ecf/test-support';
import { CALLER_HEADER, silentLogger, TEST_SERVICE_KEYS, trustCallerHeader } from '@ecf/test-support/services';
import { openCertificate, serialiseCertificate } from '@ecf/xml-signing';
import { createCertificateAuthority, type IssuedCertificate } from '@ecf/xml-signing/certificate-authority';
import {
  createEmission,
  type Emission,
  type EmissionConfig,
  type EmissionOverrides,
  emissionConfig,
} from '../../src/index.js';
import { BUYER, type Document, ISSUER } from './documents.js';
import { startTestStatusPoller } from './status-poller.js';

const MASTER_KEY = Buffer.alloc(32, 7);
const DAY_MS = 86_400_000;
/** One issuer for all certificates. */
const KEY = testKey(0);

export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely
  body: any;
}

export interface Instance {
  readonly emission: Emission;
  readonly url: string;
  stop(): Promise<void>;
}

export interface Submission {
  operation: string;
  encf: string;
  sha256: string;
  track_id: string | null;
  status: string;
  code: string;
  effective: boolean;
  answered: boolean;
  id: string;
}

export interface WorldOptions {
  simulator?: SimulatorOptions;
  settings?: Record<string, string>;
  overrides?: EmissionOverrides;
  /** If false, only waiting callers query results. By default each instance has a status poller. */
  statusPoller?: boolean;
}

/** An account with two taxpayers, a real database, the simulator, and the wanted number of instances of emission. */
export class World {
  readonly accountId = 'account-1';
  readonly certificate: IssuedCertificate;
  readonly taxpayers = new Map<string, TaxpayerState>();
  revision = 0;
  /** Calls of the gateway's internal interface. */
  fetches = 0;
  readonly folder = mkdtempSync(path.join(os.tmpdir(), 'ecf-emission-'));
  readonly config: EmissionConfig;
  readonly database: ReturnType<typeof openDatabase>;
  private readonly instances: Instance[] = [];
  readonly authority = createCertificateAuthority({ commonName: 'Prueba', key: testKey(1) });

  private constructor(
    readonly simulator: Awaited<ReturnType<typeof startSimulator>>,
    readonly databaseUrl: string,
    readonly databasePid: number,
    private readonly options: WorldOptions,
  ) {
    this.config = emissionConfig(this.environment());
    this.database = openDatabase(databaseUrl, { max: 2 });
    this.certificate = this.issue('00100000017');
    this.register(ISSUER, this.certificate);
    this.register(BUYER, this.issue('00200000008'));
  }

  static async create(options: WorldOptions = {}): Promise<World> {
    const postgres = await startTestPostgres();
    const simulator = await startSimulator({ processingMs: 50, ...options.simulator });
    return new World(simulator, await postgres.createDatabase('emission'), postgres.pid, options);
  }

  /** The settings of every instance, as environment variables. */
  environment(): Record<string, string> {
    return {
      DATABASE_URL: this.databaseUrl,
      DATA_DIR: this.folder,
      MASTER_KEY: MASTER_KEY.toString('base64'),
      ...TEST_SERVICE_KEYS.emission,
      AUTHORITY_URL: this.simulator.url,
      AUTHORITY_TIMEOUT_MS: '3000',
      STATUS_WAIT_MS: '10000',
      RESEND_AFTER_MS: '200',
      FIRST_RETRY_MS: '100',
      BACKGROUND_IDLE_MS: '100',
      LOG_LEVEL: 'silent',
      ...this.options.settings,
    };
  }

  issue(holderId: string, { expired = false, password = 'secreta' } = {}): IssuedCertificate {
    const now = Date.now();
    return this.authority.issue({
      commonName: 'REPRESENTANTE DE PRUEBA',
      holderId,
      notBefore: new Date(now - 30 * DAY_MS),
      notAfter: new Date(now + (expired ? -DAY_MS : 365 * DAY_MS)),
      password,
      key: KEY,
    });
  }

  /** Publishes a new or changed taxpayer as the gateway does. */
  register(rnc: string, certificate: IssuedCertificate | null, change: Partial<TaxpayerState> = {}): void {
    const previous = this.revision;
    this.revision += 1;
    const opened =
      certificate === null
        ? null
        : openCertificate(certificate.p12, certificate.password, new Date(Date.now() - 10 * DAY_MS));
    this.taxpayers.set(rnc, {
      rnc,
      account_id: this.accountId,
      account_active: true,
      revision: this.revision,
      previous_revision: previous,
      name: `Contribuyente ${rnc}`,
      active: true,
      certificate:
        opened === null
          ? null
          : createMasterKeys([MASTER_KEY])
              .seal(serialiseCertificate(opened), taxpayerCertificate({ account_id: this.accountId, rnc }))
              .toString('base64'),
      fingerprint: opened?.fingerprint ?? null,
      ranges: [],
      created_at:
        this.taxpayers.get(rnc)?.created_at ?? new Date(Date.now() - 1_000 * (100 - this.revision)).toISOString(),
      ...change,
    });
  }

  ranges(rnc: string, ranges: NumberRange[]): void {
    this.revision += 1;
    const present = this.taxpayers.get(rnc) as TaxpayerState;
    this.taxpayers.set(rnc, { ...present, ranges, revision: this.revision });
  }

  async start(overrides: EmissionOverrides = {}, settings: Partial<EmissionConfig> = {}): Promise<Instance> {
    const bus = overrides.bus ?? this.options.overrides?.bus ?? createInProcessBus({ logger: silentLogger });
    const emission = await createEmission(
      { ...this.config, ...settings },
      {
        logger: silentLogger,
        metrics: createMetrics(),
        accounts: {
          fetch: async (accountId): Promise<AccountTaxpayers> => {
            this.fetches += 1;
            const taxpayers = [...this.taxpayers.values()].filter((taxpayer) => taxpayer.account_id === accountId);
            return { account_id: accountId, revision: this.revision, taxpayers };
          },
        },
        ...this.options.overrides,
        ...overrides,
        bus,
      },
    );
    await emission.start();
    const poller =
      this.options.statusPoller === false ? null : startTestStatusPoller(emission.followUps, bus, this.simulator.url);
    const server: RunningServer = await serve(trustCallerHeader(emission.app), { host: '127.0.0.1', port: 0 });
    const instance: Instance = {
      emission,
      url: server.url,
      async stop() {
        await server.stop();
        await poller?.stop();
        await emission.stop();
      },
    };
    this.instances.push(instance);
    return instance;
  }

  identity(env = 'TesteCF', accountId = this.accountId, taxpayers?: string[]): string {
    const caller: Caller = {
      kind: 'account',
      account_id: accountId,
      ...(taxpayers === undefined ? {} : { taxpayers }),
      key_id: `key of ${accountId}`,
      environments: ['TesteCF', 'CerteCF', 'eCF'],
      env: env as 'TesteCF',
      env_given: true,
      taxpayers_revision: this.revision,
      request_id: 'test',
    };
    return JSON.stringify(caller);
  }

  serviceIdentity(): string {
    const caller: Caller = { kind: 'service', service: 'gateway', request_id: 'test' };
    return JSON.stringify(caller);
  }

  async call(
    instance: Instance,
    method: string,
    route: string,
    init: RequestInit & { env?: string; identity?: string } = {},
  ): Promise<Answer> {
    const { env, identity, ...rest } = init;
    const response = await fetch(`${instance.url}${route}`, {
      ...rest,
      method,
      headers: { [CALLER_HEADER]: identity ?? this.identity(env), ...(rest.headers as Record<string, string>) },
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) };
  }

  /** `POST /fe_Submit` with the document as a form field. */
  submit(
    instance: Instance,
    document: Document,
    {
      certificate,
      query = '',
      env,
      key,
      contingency,
      reference,
      identity,
    }: {
      certificate?: IssuedCertificate;
      query?: string;
      env?: string;
      key?: string;
      contingency?: string;
      reference?: string;
      identity?: string;
    } = {},
  ): Promise<Answer> {
    const form = new FormData();
    form.set('data', typeof document === 'string' ? document : JSON.stringify(document));
    if (certificate !== undefined) {
      form.set('certificate', new Blob([new Uint8Array(certificate.p12)]), 'firma.p12');
      form.set('password', certificate.password);
    }
    return this.call(instance, 'POST', `/fe_Submit${query}`, {
      body: form,
      headers: {
        ...(key === undefined ? {} : { 'idempotency-key': key }),
        ...(contingency === undefined ? {} : { 'x-contingency': contingency }),
        ...(reference === undefined ? {} : { 'x-reference': reference }),
      },
      ...(env === undefined ? {} : { env }),
      ...(identity === undefined ? {} : { identity }),
    });
  }

  submitSigned(
    instance: Instance,
    route: '/submit_ecf' | '/submit_fc',
    xml: string,
    token: string,
    { query = '', env, reference }: { query?: string; env?: string; reference?: string } = {},
  ): Promise<Answer> {
    return this.call(instance, 'POST', `${route}${query}`, {
      body: JSON.stringify({ xml }),
      headers: {
        'content-type': 'application/json',
        'x-token': token,
        ...(reference === undefined ? {} : { 'x-reference': reference }),
      },
      ...(env === undefined ? {} : { env }),
    });
  }

  async token(instance: Instance, env = 'TesteCF'): Promise<string> {
    const { body } = await this.call(instance, 'GET', '/obtain_token', { env });
    return body.token as string;
  }

  /** Everything that the authority received under a number. */
  async ledger(encf: string): Promise<Submission[]> {
    const response = await fetch(`${this.simulator.url}/_control/submissions?encf=${encf}`);
    const all = (await response.json()) as Submission[];
    return all.filter(({ operation }) => operation === 'recepcion' || operation === 'recepcionfc');
  }

  async fault(fault: Record<string, unknown>): Promise<string> {
    const response = await fetch(`${this.simulator.url}/_control/faults`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(fault),
    });
    if (!response.ok) throw new Error(`the simulator refused the fault: ${await response.text()}`);
    return ((await response.json()) as { id: string }).id;
  }

  async clearFaults(id?: string): Promise<void> {
    await fetch(`${this.simulator.url}/_control/faults${id === undefined ? '' : `/${id}`}`, { method: 'DELETE' });
  }

  /** Bytes that the service committed, whether they have reached the archive or not. */
  async stored(file: string, sha256: string): Promise<Buffer> {
    const archive = openXmlStore(readArchiveSettings({ DATA_DIR: this.folder }), { readOnly: true });
    return ownDocuments(this.database, archive).get(file, sha256);
  }

  /** The row of the latest attempt, or null. */
  async row(encf: string, env = 'TesteCF'): Promise<Record<string, unknown> | null> {
    const { rows } = await this.database.query(
      `SELECT e.encf, e.attempt AS attempts, a.* FROM emission e JOIN attempt a ON a.emission_id = e.id AND a.attempt = e.attempt
       WHERE e.encf = $1 AND e.env = $2`,
      [encf, env],
    );
    return (rows[0] as Record<string, unknown>) ?? null;
  }

  /** Waits until the latest attempt is in one of the states. */
  async reaches(encf: string, states: string[], withinMs = 60_000): Promise<Record<string, unknown>> {
    const end = Date.now() + withinMs;
    for (;;) {
      const row = await this.row(encf);
      if (row !== null && states.includes(row.state as string)) return row;
      if (Date.now() > end) throw new Error(`${encf} did not reach ${states.join(' or ')}: ${JSON.stringify(row)}`);
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }

  async stop(): Promise<void> {
    for (const instance of this.instances) await instance.stop().catch(() => undefined);
    await this.simulator.stop();
    await this.database.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
