import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { openFileXmlStore, ownDocuments } from '@ecf/archive';
import { authorityEndpoints, createAuthorityClient } from '@ecf/authority-client';
import { logIn } from '@ecf/authority-client/login';
import { type SimulatorOptions, startSimulator } from '@ecf/authority-simulator';
import { type BusEvent, createInProcessBus } from '@ecf/bus';
import { makeEvent } from '@ecf/bus/events';
import {
  type ApprovalChanged,
  type EmissionOperations,
  type InvoiceChanged,
  type ReceivedInvoiceChanged,
  type ReceptionOperations,
  type TaxpayerState,
  TOPICS,
} from '@ecf/contracts';
import { type DocumentNode, type Environment, formatSignatureDateTime, groupOf } from '@ecf/domain';
import { checkJson, writeXml } from '@ecf/ecf-xml';
import { type RunningServer, serve } from '@ecf/http';
import { type Caller, identify } from '@ecf/http/identity';
import { createMasterKeys, requestCertificate, taxpayerCertificate } from '@ecf/kit';
import { createMetrics } from '@ecf/kit/telemetry';
import { openDatabase } from '@ecf/postgres';
import { startTestPostgres } from '@ecf/test-servers/postgres';
import { testKey } from '@ecf/test-support';
import { deadLettersOf, silentLogger, TEST_SERVICE_KEYS } from '@ecf/test-support/services';
import { openCertificate, type SigningCertificate, serialiseCertificate, signXml } from '@ecf/xml-signing';
import { createCertificateAuthority } from '@ecf/xml-signing/certificate-authority';
import { expect } from '@jest/globals';
import { type Approvals, type ApprovalsOverrides, createApprovals, readApprovalsConfig } from '../../src/index.js';

export const ISSUER = '199999991';
export const BUYER = '188888885';
export const STRANGER = '155555554';
export const ACCOUNT = 'account-1';
const MASTER_KEY = Buffer.alloc(32, 7);
const KEY = testKey(0);
/** Issues the certificates, unless a test uses another issuer. */
export const AUTHORITY = createCertificateAuthority({ key: testKey(1) });
const LONG = { notBefore: new Date('2019-01-01T00:00:00Z'), notAfter: new Date('2040-01-01T00:00:00Z') };

export const certificate: SigningCertificate = issueCertificate('00200000008');

export function issueCertificate(holderId: string, by = AUTHORITY, dates = LONG, key = KEY): SigningCertificate {
  const { p12 } = by.issue({ commonName: 'REPRESENTANTE', holderId, password: 'clave', key, ...dates });
  return openCertificate(p12, 'clave', dates.notBefore);
}

export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely
  body: any;
}

export interface WorldOptions {
  settings?: Record<string, string>;
  overrides?: Partial<ApprovalsOverrides>;
  simulator?: SimulatorOptions;
  instances?: number;
}

interface Submission {
  id: string;
  encf: string;
  sha256: string;
  code: string;
  effective: boolean;
  answered: boolean;
}

/** The service on a real database with the simulator, and with emission and reception as test doubles. */
export class World {
  /** Invoices of emission, by `<issuer>|<eNCF>`. */
  readonly issued = new Map<string, InvoiceChanged>();
  /** Invoices of reception, by `<issuer>|<eNCF>`. */
  readonly received = new Map<string, ReceivedInvoiceChanged>();
  readonly published: BusEvent<ApprovalChanged>[] = [];
  readonly metrics = createMetrics();
  emissionGone = false;
  /** Certificates that came with e-CF and that emission keeps, by eNCF. */
  readonly sentAlong = new Map<string, SigningCertificate>();
  /** The token that reception accepts. */
  goodToken: string | null = null;
  revision = 0;
  instances: Approvals[] = [];
  private servers: RunningServer[] = [];
  private sequence = 0;
  readonly accounts = new Map<string, { env: Environment; given: boolean; account: string }>();

  private constructor(
    readonly simulator: Awaited<ReturnType<typeof startSimulator>>,
    readonly databaseUrl: string,
    readonly folder: string,
    readonly bus: ReturnType<typeof createInProcessBus>,
    readonly archive: Awaited<ReturnType<typeof openFileXmlStore>>,
    private readonly options: WorldOptions,
  ) {}

  static async start(options: WorldOptions = {}): Promise<World> {
    const postgres = await startTestPostgres();
    const simulator = await startSimulator({ processingMs: 0, ...options.simulator });
    const folder = mkdtempSync(path.join(os.tmpdir(), 'ecf-approvals-'));
    const bus = createInProcessBus({ logger: silentLogger });
    const archive = await openFileXmlStore(path.join(folder, 'xml'));
    const world = new World(simulator, await postgres.createDatabase('approvals'), folder, bus, archive, options);
    await bus.subscribe({
      topics: ['approvals.v1'],
      group: 'query',
      handler: async (event) => void world.published.push(event as BusEvent<ApprovalChanged>),
    });
    for (let i = 0; i < (options.instances ?? 1); i++) await world.addInstance();
    await world.register(BUYER);
    await world.register(ISSUER);
    return world;
  }

  readonly database = { query: async <R>(sql: string, values: unknown[] = []) => this.#query<R>(sql, values) };
  #pool: ReturnType<typeof openDatabase> | undefined;
  #query<R>(sql: string, values: unknown[]) {
    this.#pool ??= openDatabase(this.databaseUrl, { max: 2 });
    return this.#pool.query<R>(sql, values);
  }

  async addInstance(settings: Record<string, string> = {}): Promise<Approvals> {
    const config = readApprovalsConfig({
      DATABASE_URL: this.databaseUrl,
      DATA_DIR: this.folder,
      MASTER_KEY: MASTER_KEY.toString('base64'),
      ...TEST_SERVICE_KEYS.approvals,
      ANY_ISSUER: 'true',
      AUTHORITY_URL: this.simulator.url,
      AUTHORITY_TIMEOUT_MS: '5000',
      RECEIVER_TIMEOUT_MS: '2500',
      ALLOW_PRIVATE_ADDRESSES: 'true',
      DIRECTORY_ENTRY_SECONDS: '0',
      APPROVAL_FIRST_RETRY_MS: '100',
      SENDING_IDLE_MS: '100',
      LOG_LEVEL: 'silent',
      ...this.options.settings,
      ...settings,
    });
    const instance = createApprovals(config, {
      bus: this.bus,
      archive: this.archive,
      logger: silentLogger,
      metrics: this.metrics,
      source: null,
      emission: this.#emission(),
      reception: this.#reception(),
      ...this.options.overrides,
    });
    await instance.start();
    this.instances.push(instance);
    this.servers.push(await serve(this.#handler(instance), { host: '127.0.0.1', port: 0 }));
    return instance;
  }

  /** Bytes that the service committed, whether they have reached the archive or not. */
  stored(path: string, sha256: string): Promise<Buffer> {
    return ownDocuments(this.database, this.archive).get(path, sha256);
  }

  url(instance = 0): string {
    return (this.servers[instance] as RunningServer).url;
  }

  nextEncf(type = '31'): string {
    return `E${type}${String(++this.sequence).padStart(10, '0')}`;
  }

  /** An e-CF of the issuer for the buyer, accepted by the authority, issued here and received here. */
  async invoice(type = '31', { at = ['authority', 'issued', 'received'], total = '11430.00', env = 'TesteCF' } = {}) {
    const encf = this.nextEncf(type);
    if (at.includes('authority')) await this.accept(encf, type);
    if (at.includes('issued'))
      this.issued.set(`${ISSUER}|${encf}`, issuedInvoice(encf, { total_amount: total, env: env as Environment }));
    if (at.includes('received'))
      this.received.set(`${ISSUER}|${encf}`, receivedInvoice(encf, { id: this.sequence, env: env as Environment }));
    return encf;
  }

  async accept(encf: string, type = '31'): Promise<void> {
    const client = createAuthorityClient({ endpoints: authorityEndpoints(this.simulator.url), userAgent: 'test' });
    try {
      const token = await logIn(client, 'TesteCF', certificate);
      if (token.outcome !== 'verdict') throw new Error('no token');
      const { xml } = await signXml(writeXml(ecfTree(encf, type)), certificate);
      const sent = { env: 'TesteCF', token: token.verdict.token, issuerRnc: ISSUER, encf, xml } as const;
      const answer = await client.submitDocument(sent);
      if (answer.outcome !== 'verdict') throw new Error(`not taken: ${JSON.stringify(answer)}`);
    } finally {
      client.close();
    }
  }

  /** Publishes a taxpayer, with a certificate unless it is null. */
  async register(
    rnc: string,
    state: Partial<TaxpayerState> & { signer?: SigningCertificate | null } = {},
  ): Promise<void> {
    const { signer = certificate, ...rest } = state;
    this.revision += 1;
    const data: TaxpayerState = {
      rnc,
      account_id: ACCOUNT,
      account_active: true,
      revision: this.revision,
      previous_revision: this.revision - 1,
      name: `Taxpayer ${rnc}`,
      active: true,
      certificate:
        signer === null
          ? null
          : createMasterKeys([MASTER_KEY])
              .seal(serialiseCertificate(signer), taxpayerCertificate({ account_id: ACCOUNT, rnc }))
              .toString('base64'),
      fingerprint: signer?.fingerprint ?? null,
      ranges: [],
      created_at: '2026-06-23T12:00:00-04:00',
      ...rest,
    };
    const draft = { topic: 'taxpayers.v1', type: 'taxpayer.changed', source: 'gateway', subject: rnc, key: rnc, data };
    await this.bus.publish([makeEvent(draft, { id: randomUUID(), time: new Date() })]);
  }

  /** Publishes the state of a received document, as reception does. */
  async publishReceived(data: ReceivedInvoiceChanged): Promise<void> {
    const [subject, key] = [`${data.issuer_rnc}:${data.encf}`, `${data.env}:${data.issuer_rnc}:${data.encf}`];
    const draft = { topic: TOPICS.receivedInvoices.name, type: 'received_invoice.changed', source: 'reception' };
    await this.bus.publish([makeEvent({ ...draft, subject, key, data }, { id: randomUUID(), time: new Date() })]);
  }

  /** The directory's entry of a taxpayer. */
  async list(rnc: string, approvalUrl: string | null, authenticationUrl: string | null = null): Promise<void> {
    await this.control('PUT', `taxpayers/${rnc}`, {
      name: 'X',
      approval_url: approvalUrl,
      reception_url: approvalUrl,
      authentication_url: authenticationUrl,
    });
  }

  async control(method: string, address: string, body?: unknown): Promise<unknown> {
    const init =
      body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
    const response = await fetch(`${this.simulator.url}/_control/${address}`, { method, ...init });
    const text = await response.text();
    if (!response.ok) throw new Error(`${address}: ${response.status} ${text}`);
    return text === '' ? null : JSON.parse(text);
  }

  fault(fault: Record<string, unknown>): Promise<unknown> {
    return this.control('POST', 'faults', { operation: 'aprobacioncomercial', ...fault });
  }

  async submissions(encf: string): Promise<Submission[]> {
    return (await this.control('GET', `submissions?encf=${encf}&operation=aprobacioncomercial`)) as Submission[];
  }

  /** Calls as the account, with the key's environments. */
  async call(method: string, address: string, body?: unknown, options: CallOptions = {}): Promise<Answer> {
    const name = randomUUID();
    this.accounts.set(name, {
      env: options.env ?? 'TesteCF',
      given: options.env !== undefined,
      account: options.account ?? ACCOUNT,
    });
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const response = await fetch(`${this.url(options.instance)}${address}`, {
      method,
      headers: { 'x-account': name, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: text }),
    });
    return read(response);
  }

  /** Posts to the public ingress; the header `x-sender` sets the sender's address. */
  async send(body: Uint8Array | string, headers: Record<string, string> = {}, address = INGRESS): Promise<Answer> {
    return read(
      await fetch(`${this.url()}${address}`, {
        method: 'POST',
        body: body as string,
        headers: { 'content-type': 'text/xml', ...headers },
      }),
    );
  }

  /** Stops one instance. */
  async end(instance: Approvals): Promise<void> {
    const at = this.instances.indexOf(instance);
    await this.servers.splice(at, 1)[0]?.stop();
    await this.instances.splice(at, 1)[0]?.stop();
  }

  async stop(): Promise<void> {
    for (const server of this.servers) await server.stop();
    for (const instance of this.instances) await instance.stop();
    await this.bus.close();
    if (this.#pool !== undefined) expect(await deadLettersOf(this.#pool)).toEqual([]);
    await this.#pool?.close();
    await this.simulator.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  #emission(): Pick<EmissionOperations, 'findInvoices' | 'sealedCertificate'> {
    return {
      sealedCertificate: async ({ issuer_rnc, encf }) => {
        const sent = this.sentAlong.get(encf);
        if (sent === undefined) return { sealed: null };
        const binding = requestCertificate(ACCOUNT, issuer_rnc);
        return { sealed: createMasterKeys([MASTER_KEY]).seal(serialiseCertificate(sent), binding).toString('base64') };
      },
      findInvoices: async ({ env, numbers }) => {
        if (this.emissionGone) throw new Error('emission is gone');
        const found = numbers.map(({ issuer_rnc, encf }) => this.issued.get(`${issuer_rnc}|${encf}`));
        return { invoices: found.filter((one) => one !== undefined && one.env === env) as InvoiceChanged[] };
      },
    };
  }

  #reception(): Pick<ReceptionOperations, 'findReceived' | 'verifyProviderToken'> {
    return {
      findReceived: async ({ env, issuer_rnc, encf }) => {
        const found = this.received.get(`${issuer_rnc}|${encf}`);
        return { received: found === undefined || found.env !== env ? [] : [found] };
      },
      verifyProviderToken: async ({ authorization }) => ({
        holder: this.goodToken !== null && authorization === `Bearer ${this.goodToken}` ? 'holder' : null,
      }),
    };
  }

  /** Names the caller as a gateway of the same process does. */
  #handler(instance: Approvals) {
    return (req: IncomingMessage, res: ServerResponse) => {
      const request_id = randomUUID();
      const known = this.accounts.get(String(req.headers['x-account']));
      const prefix = /^\/(testecf|certecf|ecf)\/fe\//i.exec(req.url ?? '')?.[1]?.toLowerCase();
      const env: Environment = prefix === 'certecf' ? 'CerteCF' : prefix === 'ecf' ? 'eCF' : 'TesteCF';
      const caller: Caller =
        known === undefined
          ? { kind: 'public', env, sender: String(req.headers['x-sender'] ?? '203.0.113.7'), request_id }
          : {
              kind: 'account',
              environments: ['TesteCF', 'CerteCF'],
              env: known.env,
              env_given: known.given,
              account_id: known.account,
              key_id: 'key-of-the-test',
              taxpayers_revision: 0,
              request_id,
            };
      identify(req, caller);
      instance.app(req, res);
    };
  }
}

export const INGRESS = '/fe/aprobacioncomercial/api/ecf';

interface CallOptions {
  env?: Environment;
  account?: string;
  instance?: number;
}

async function read(response: Response): Promise<Answer> {
  const text = await response.text();
  const json = response.headers.get('content-type')?.includes('json') === true;
  return { status: response.status, headers: response.headers, body: json ? JSON.parse(text) : text };
}

const EXAMPLES = new URL('../../../../examples/', import.meta.url);

/** An e-CF between the two parties, signed now. */
export function ecfTree(encf: string, type = '31'): DocumentNode {
  const { tree } = checkJson(JSON.parse(readFileSync(new URL(`ecf-${type}.json`, EXAMPLES), 'utf8')));
  const ecf = groupOf(tree, 'ECF') as DocumentNode;
  const header = groupOf(ecf, 'Encabezado') as DocumentNode;
  (groupOf(header, 'IdDoc') as DocumentNode).eNCF = encf;
  const issuer = groupOf(header, 'Emisor') as DocumentNode;
  issuer.RNCEmisor = ISSUER;
  issuer.FechaEmision = '15-06-2026';
  (groupOf(header, 'Comprador') as DocumentNode).RNCComprador = BUYER;
  ecf.FechaHoraFirma = formatSignatureDateTime(new Date());
  return tree as DocumentNode;
}

/** An event of emission. */
export function issuedInvoice(encf: string, state: Partial<InvoiceChanged> = {}): InvoiceChanged {
  return {
    id: 1,
    env: 'TesteCF',
    issuer_rnc: ISSUER,
    encf,
    account_id: ACCOUNT,
    revision: 1,
    ecf_type: encf.slice(1, 3),
    route: 'ecf',
    state: 'accepted',
    status: 'Aceptado',
    final: true,
    code: '1',
    messages: [],
    sequence_used: true,
    track_id: null,
    issuer_name: 'X',
    buyer_rnc: BUYER,
    buyer_name: 'Y',
    date_issued: '2026-06-15',
    created_at: '2026-06-15T12:00:00-04:00',
    signed_at: '2026-06-15T12:00:00-04:00',
    total_amount: '11430.00',
    total_itbis: '0.00',
    modified_encf: null,
    security_code: 'abcdef',
    qr_url: 'https://example',
    xml_storage_path: 'x',
    xml_checksum: 'x',
    rfce_storage_path: null,
    rfce_checksum: null,
    attempts: [],
    ...state,
  } as InvoiceChanged;
}

/** An event of reception. */
export function receivedInvoice(encf: string, state: Partial<ReceivedInvoiceChanged> = {}): ReceivedInvoiceChanged {
  return {
    id: 7,
    env: 'TesteCF',
    issuer_rnc: ISSUER,
    encf,
    buyer_rnc: BUYER,
    account_id: ACCOUNT,
    revision: 1,
    ecf_type: encf.slice(1, 3),
    date_issued: '2026-06-15',
    total_amount: '11430.00',
    issuer_name: 'Provider',
    buyer_name: null,
    date_received: '2026-06-23T12:00:00-04:00',
    total_itbis: '0.00',
    modified_encf: null,
    signature_datetime: null,
    xml_storage_path: 'x',
    xml_checksum: 'x',
    arecf_storage_path: 'a',
    arecf_checksum: 'a',
    acknowledged_at: '2026-06-23T12:00:00-04:00',
    certificate_subject: 'CN=Provider',
    approval_status: 'pending',
    approval_datetime: null,
    observations: [],
    conflicts: [],
    ...state,
  } as ReceivedInvoiceChanged;
}

/** The JSON of an approval of such an invoice. */
export function order(encf: string, fields: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    issuer_rnc: ISSUER,
    receiver_rnc: BUYER,
    encf,
    approval_status: 1,
    approval_datetime: '2026-06-23T17:45:47-04:00',
    authority_environment: 'TesteCF',
    invoice_date_issued: '2026-06-15',
    invoice_total_amount: '11430.00',
    ...fields,
  };
}
