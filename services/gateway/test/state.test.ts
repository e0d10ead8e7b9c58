import type { GaugeValue, StateOperations } from '@ecf/contracts';
import { ApiError } from '@ecf/kit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type GatewayUnderTest, startGateway } from './gateway-under-test.js';

const DEAD_LETTER = {
  event_id: 'e-1',
  group: 'query',
  topic: 'invoices.v1',
  type: 'invoice.changed',
  key: 'TesteCF:131000001:E310000000001',
  reason: 'Error: a column is missing',
  attempts: 6,
  failed_at: '2026-11-27T10:00:00-04:00',
  replaying: false,
};

const gauge = (name: string, value: number, labels: Record<string, string> = {}): GaugeValue => ({
  name,
  labels,
  value,
});

const emission: StateOperations = {
  gauges: async () => ({
    gauges: [
      gauge('ecf_undecided_documents', 3, { state: 'signed' }),
      gauge('ecf_undecided_documents', 1, { state: 'submitted' }),
      gauge('ecf_oldest_undecided_seconds', 3_601),
      gauge('ecf_contingency_seconds_left', 90_000, { env: 'TesteCF' }),
      gauge('ecf_contingency_seconds_left', 80_000, { env: 'eCF' }),
      gauge('ecf_consumer_connected', 0, { topic: 'taxpayers.v1', group: 'emission' }),
      gauge('ecf_consumer_connected', 1, { topic: 'status.v1', group: 'emission' }),
      gauge('ecf_status_polls', 2_000, { env: 'eCF', state: 'waiting' }),
      gauge('ecf_documents_today', 12, { env: 'eCF', status: 'Aceptado' }),
      gauge('ecf_authority_reachable', 0, { env: 'eCF' }),
      gauge('ecf_clock_skew_seconds', -7, { against: 'authority' }),
      gauge('ecf_storage_free_bytes', 3_000, { service: 'reception' }),
      gauge('ecf_storage_free_bytes', 5_000, { service: 'query' }),
      gauge('ecf_storage_floor_bytes', 1_000, { service: 'query' }),
    ],
  }),
  software: async () => ({ version: '1.0.0', node: '24.11.1', postgres: '18.4', migration: '20260101000000_first' }),
  listDeadLetters: async () => ({ dead_letters: [] }),
  replayDeadLetter: async () => DEAD_LETTER,
  dismissDeadLetter: async () => DEAD_LETTER,
};

const query: StateOperations = {
  ...emission,
  // A service of the same process reports the same gauges.
  gauges: emission.gauges,
  listDeadLetters: async () => ({ dead_letters: [DEAD_LETTER] }),
  replayDeadLetter: async () => ({ ...DEAD_LETTER, replaying: true }),
  dismissDeadLetter: async ({ event_id }) => {
    if (event_id !== DEAD_LETTER.event_id) throw new ApiError(404, 'not_found', 'There is no such dead letter.');
    return DEAD_LETTER;
  },
};

const unreachable = async () => {
  throw new ApiError(503, 'service_unavailable', 'The service approvals cannot be reached at the moment.');
};
const approvals: StateOperations = {
  gauges: unreachable,
  software: unreachable,
  listDeadLetters: unreachable,
  replayDeadLetter: unreachable,
  dismissDeadLetter: unreachable,
};

let under: GatewayUnderTest;
beforeAll(async () => {
  const operations = {
    resolution: null,
    deliveries: null,
    readModels: null,
    webhooks: null,
    archive: {},
    masterKeys: {},
    state: { emission, query, approvals },
  };
  under = await startGateway({}, { operations });
});
afterAll(() => under.stop());

it('The state lists firing alarms, urgent ones first, with their runbooks, and the services that did not answer.', async () => {
  const { status, body } = await under.admin('GET', '/admin/state');
  expect(status).toBe(200);
  expect(body.unreachable).toEqual(['approvals']);
  expect(body.alarms).toEqual([
    {
      alarm: 'EcfContingencyDeadlineNear',
      severity: 'page',
      labels: { env: 'eCF' },
      value: 80_000,
      limit: 86_400,
      runbook: '/docs/guide/runbooks/submissions#ecfcontingencydeadlinenear',
    },
    expect.objectContaining({
      alarm: 'EcfConsumerDisconnected',
      labels: { topic: 'taxpayers.v1', group: 'emission' },
      value: 0,
    }),
    expect.objectContaining({ alarm: 'EcfDocumentsUndecided', severity: 'ticket', labels: {}, value: 3_601 }),
  ]);
});

it('The state adds up the work that waits, once where services share a process.', async () => {
  const { body } = await under.admin('GET', '/admin/state');
  expect(body.queues).toEqual([
    { queue: 'undecided_documents', waiting: 4, oldest_seconds: 3_601 },
    { queue: 'status_queries', waiting: 2_000, oldest_seconds: null },
    // Of the gateway itself.
    { queue: 'unpublished_events', waiting: 0, oldest_seconds: 0 },
  ]);
});

it('The state names each service that answered, with its versions, clocks and disk.', async () => {
  const { body } = await under.admin('GET', '/admin/state');
  expect(body.documents_today).toEqual([{ env: 'eCF', status: 'Aceptado', count: 12 }]);
  expect(body.authority).toEqual([{ env: 'eCF', reachable: false }]);
  const software = { version: '1.0.0', node: '24.11.1', postgres: '18.4', migration: '20260101000000_first' };
  const clocks = [{ against: 'authority', seconds_ahead: -7 }];
  expect(body.services).toEqual([
    { service: 'emission', ...software, clocks, storage: null },
    { service: 'query', ...software, clocks, storage: { free_bytes: 5_000, floor_bytes: 1_000 } },
    {
      service: 'gateway',
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      node: process.versions.node,
      postgres: expect.stringMatching(/^\d+/),
      migration: expect.stringMatching(/^\d{14}_/),
      clocks: [{ against: 'database', seconds_ahead: expect.any(Number) }],
      storage: null,
    },
  ]);
});

describe('dead letters', () => {
  const one = { service: 'query', group: 'query', event_id: 'e-1' };

  it('are listed with their service, and a service that did not answer is named.', async () => {
    expect((await under.admin('GET', '/admin/dead-letters')).body).toEqual({
      unreachable: ['approvals'],
      dead_letters: [{ service: 'query', ...DEAD_LETTER }],
    });
  });

  it('are replayed and dismissed by an operator, with entries in the audit log, also where that failed.', async () => {
    expect(await under.admin('POST', '/admin/dead-letters/replay', one)).toMatchObject({
      status: 202,
      body: { service: 'query', event_id: 'e-1', replaying: true },
    });
    const reason = 'A later event has the same content.';
    expect(await under.admin('POST', '/admin/dead-letters/dismiss', { ...one, reason })).toMatchObject({
      status: 200,
      body: { event_id: 'e-1' },
    });
    expect(
      await under.admin('POST', '/admin/dead-letters/dismiss', { ...one, event_id: 'other', reason }),
    ).toMatchObject({ status: 404, body: { code: 'not_found' } });
    const { entries } = (await under.admin('GET', '/admin/audit?target=/dead-letters')).body;
    expect(entries).toMatchObject([
      { action: 'dead_letter.replay', target: '/dead-letters/query/e-1', details: { group: 'query' } },
      { action: 'dead_letter.dismiss', target: '/dead-letters/query/e-1', details: { reason } },
      { action: 'dead_letter.dismiss', target: '/dead-letters/query/other' },
      { action: 'dead_letter.dismiss', details: { not_started: 'not_found' } },
    ]);
  });

  it('stay where they are without a reason, for a viewer, and if their service cannot be reached.', async () => {
    expect((await under.admin('POST', '/admin/dead-letters/dismiss', one)).status).toBe(422);
    const { body } = await under.admin('POST', '/admin/administrators', { name: 'Vera', role: 'viewer' });
    const headers = { authorization: `Bearer ${body.token}`, 'content-type': 'application/json' };
    expect((await under.call('GET', '/admin/state', { headers })).status).toBe(200);
    for (const act of ['replay', 'dismiss'])
      expect(
        await under.call('POST', `/admin/dead-letters/${act}`, { headers, body: JSON.stringify(one) }),
      ).toMatchObject({ status: 403, body: { code: 'missing_role' } });
    expect(await under.admin('POST', '/admin/dead-letters/replay', { ...one, service: 'approvals' })).toMatchObject({
      status: 503,
    });
  });
});
