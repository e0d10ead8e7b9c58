import { randomUUID } from 'node:crypto';
import type { Answer, AuthorityVerdict } from '@ecf/authority-client';
import { type Bus, createInProcessBus } from '@ecf/bus';
import { makeEvent } from '@ecf/bus/events';
import {
  documentKey,
  type FollowUpOperations,
  type InvoiceChanged,
  type InvoiceStatusChanged,
  TOPICS,
} from '@ecf/contracts';
import { type RunningServer, serve } from '@ecf/http';
import type { Caller } from '@ecf/http/identity';
import { createMetrics } from '@ecf/kit/telemetry';
import { type Database, openDatabase } from '@ecf/postgres';
import { startTestPostgres } from '@ecf/test-servers/postgres';
import { CALLER_HEADER, silentLogger, TEST_SERVICE_KEYS, trustCallerHeader } from '@ecf/test-support/services';
import {
  createStatusPoller,
  readStatusPollerConfig,
  type StatusPoller,
  type StatusPollerOverrides,
} from '../../src/index.js';
import { invoiceChanged, verdict } from './samples.js';

export type ResultAnswer = Answer<AuthorityVerdict>;

export interface Instance {
  readonly poller: StatusPoller;
  readonly url: string;
  readonly metrics: ReturnType<typeof createMetrics>;
  stop(): Promise<void>;
}

/** A query that reached the authority. */
export interface Query {
  readonly trackId: string;
  readonly env: string;
  readonly token: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** An authority with scripted answers; it records every query. */
export class ScriptedAuthority {
  readonly queries: Query[] = [];
  /** Answers by trackId, in order; the last one repeats. Without a script the answer is accepted. */
  readonly script = new Map<string, ResultAnswer[]>();
  answer: (trackId: string) => Promise<ResultAnswer> = async (trackId) => {
    const answers = this.script.get(trackId) ?? [decided(verdict({ trackId }))];
    return (answers.length > 1 ? answers.shift() : answers[0]) as ResultAnswer;
  };

  async queryResult(input: { env: string; token: string; trackId: string }): Promise<ResultAnswer> {
    this.queries.push({ trackId: input.trackId, env: input.env, token: input.token, at: Date.now() });
    return this.answer(input.trackId);
  }

  queriesOf(trackId: string): number {
    return this.queries.filter((query) => query.trackId === trackId).length;
  }
}

export function decided(value: AuthorityVerdict): ResultAnswer {
  const raw = { status: 200, contentType: 'application/json', body: JSON.stringify(value), truncated: false };
  return { outcome: 'verdict', verdict: value, raw };
}

export function inProcess(): ResultAnswer {
  return decided(verdict({ status: 'EnProceso', code: '3', sequenceUsed: null }));
}

export function unanswered(change: Partial<Extract<ResultAnswer, { outcome: 'unknown' }>> = {}): ResultAnswer {
  return { outcome: 'unknown', cause: 'timeout', reachedAuthority: 'maybe', detail: 'test', raw: null, ...change };
}

/** Instances of the poller on one real database and one bus, with test doubles of emission and the authority. */
export class World {
  readonly authority = new ScriptedAuthority();
  readonly published: InvoiceStatusChanged[] = [];
  readonly bus: Bus;
  readonly emission: FollowUpOperations & { refused: string[]; invoices: InvoiceChanged[]; tokenError: unknown };
  private readonly instances: Instance[] = [];
  tokenRequests = 0;
  private tokens = 0;

  private constructor(
    readonly databaseUrl: string,
    readonly database: Database,
    private readonly settings: Record<string, string>,
  ) {
    this.bus = createInProcessBus({ logger: silentLogger });
    const refused: string[] = [];
    const invoices: InvoiceChanged[] = [];
    this.emission = {
      refused,
      invoices,
      tokenError: null,
      findSubmission: async ({ env, track_id }) => ({
        invoice: invoices.find((one) => one.env === env && one.track_id === track_id) ?? null,
      }),
      pageOfUndecided: async () => ({ invoices: invoices.filter(({ final }) => !final), next: null }),
      documentToken: async (request) => {
        this.tokenRequests += 1;
        if (this.emission.tokenError !== null) throw this.emission.tokenError;
        if (request.refused !== null) {
          refused.push(request.refused);
          this.tokens += 1;
        }
        return { token: `token-${this.tokens}` };
      },
    };
  }

  static async create(settings: Record<string, string> = {}): Promise<World> {
    const postgres = await startTestPostgres();
    const url = await postgres.createDatabase('status-poller');
    const world = new World(url, openDatabase(url, { max: 2 }), settings);
    await world.bus.subscribe({
      topics: [TOPICS.invoiceStatus.name],
      group: 'test',
      handler: async (event) => {
        world.published.push(event.data as InvoiceStatusChanged);
      },
    });
    return world;
  }

  async start(overrides: StatusPollerOverrides = {}, settings: Record<string, string> = {}): Promise<Instance> {
    const config = readStatusPollerConfig({
      DATABASE_URL: this.databaseUrl,
      ...TEST_SERVICE_KEYS['status-poller'],
      FIRST_QUERY_MS: '20',
      POLL_IDLE_MS: '100',
      POLL_RATE: '1000',
      STATUS_FRESH_MS: '0',
      LOG_LEVEL: 'silent',
      ...this.settings,
      ...settings,
    });
    const metrics = createMetrics();
    const poller = createStatusPoller(config, {
      bus: this.bus,
      emission: this.emission,
      authority: this.authority,
      logger: silentLogger,
      metrics,
      ...overrides,
    });
    await poller.start();
    const server: RunningServer = await serve(trustCallerHeader(poller.app), { host: '127.0.0.1', port: 0 });
    let stopped: Promise<void> | null = null;
    const instance: Instance = {
      poller,
      metrics,
      url: server.url,
      stop() {
        stopped ??= server.stop().then(() => poller.stop());
        return stopped;
      },
    };
    this.instances.push(instance);
    return instance;
  }

  /** Publishes a document with its own trackId; resolves with the trackId. */
  async submitted(change: Partial<InvoiceChanged> = {}, ageMs = 0): Promise<string> {
    const trackId = change.track_id ?? randomUUID();
    const data = invoiceChanged({ ...change, track_id: trackId, encf: change.encf ?? newNumber() });
    for (const attempt of data.attempts) attempt.submitted_at = new Date(Date.now() - ageMs).toISOString();
    await this.publish(data);
    return trackId;
  }

  async publish(data: InvoiceChanged, id: string = randomUUID()): Promise<void> {
    const draft = {
      topic: TOPICS.invoices.name,
      type: 'invoice.changed',
      source: 'emission',
      subject: data.encf,
      key: documentKey(data),
      data,
    };
    await this.bus.publish([makeEvent(draft, { id, time: new Date() })]);
  }

  async status(instance: Instance, trackId: string, { account = 'account-1', env = 'TesteCF' } = {}) {
    const caller: Caller = {
      kind: 'account',
      account_id: account,
      environments: ['TesteCF', 'CerteCF', 'eCF'],
      env: env as 'TesteCF',
      env_given: true,
      taxpayers_revision: 1,
      request_id: 'test',
    };
    const response = await fetch(`${instance.url}/invoice-status/${encodeURIComponent(trackId)}`, {
      headers: { [CALLER_HEADER]: JSON.stringify(caller) },
    });
    // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely
    return { status: response.status, headers: response.headers, body: (await response.json()) as any };
  }

  async poll(trackId: string): Promise<Record<string, unknown> | null> {
    const { rows } = await this.database.query('SELECT * FROM poll WHERE track_id = $1', [trackId]);
    return rows[0] ?? null;
  }

  changesOf(trackId: string): string[] {
    return this.published
      .filter((one) => one.track_id === trackId && one.unanswered !== true)
      .map(({ status }) => status);
  }

  async stop(): Promise<void> {
    for (const instance of this.instances) await instance.stop();
    await this.database.close();
    await this.bus.close();
  }
}

let numbers = 0;
function newNumber(): string {
  numbers += 1;
  return `E31${String(numbers).padStart(10, '0')}`;
}

/** Waits until `look` is true. */
export async function until(look: () => boolean | Promise<boolean>, what = 'it', withinMs = 60_000): Promise<void> {
  const end = Date.now() + withinMs;
  while (!(await look())) {
    if (Date.now() > end) throw new Error(`waited in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
