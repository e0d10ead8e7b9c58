import { randomUUID } from 'node:crypto';
import { createInProcessBus } from '@ecf/bus';
import { makeEvent } from '@ecf/bus/events';
import {
  documentKey,
  EMISSION_OPERATIONS,
  type EmissionOperations,
  type InvoiceStatusChanged,
  invoiceChangedSchema,
  TOPICS,
} from '@ecf/contracts';
import { createInternalClient } from '@ecf/http';
import { deadLettersOf, identitiesOf, silentLogger } from '@ecf/test-support/services';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { encf as encfOf, example, ISSUER } from './support/documents.js';
import { until } from './support/until.js';
import { type Instance, World } from './support/world.js';

const issuer = { env: 'TesteCF', issuer_rnc: ISSUER } as const;

describe('operations for other services', () => {
  let world: World;
  let emission: Instance;
  let other: Instance;
  let operations: EmissionOperations;

  beforeAll(async () => {
    world = await World.create();
    emission = await world.start();
    other = await world.start();
    operations = createInternalClient(EMISSION_OPERATIONS, {
      url: other.url,
      owner: 'emission',
      identities: identitiesOf('query'),
    });
    for (const sequence of [1, 2, 3, 4]) await world.submit(emission, example('ecf-31', sequence));
  });
  afterAll(() => world.stop());

  it('return documents by number, and all of them page by page', async () => {
    const { invoices } = await operations.findInvoices({
      env: 'TesteCF',
      numbers: [encfOf('31', 2), encfOf('31', 999)].map((number) => ({ issuer_rnc: ISSUER, encf: number })),
    });
    expect(invoices).toMatchObject([{ encf: encfOf('31', 2), status: 'Aceptado', attempts: [{ attempt: 1 }] }]);

    // The list of submissions may be long: first as in events, then complete.
    const refused = {
      attempt: 1,
      trackId: 'x',
      submittedAt: null,
      state: 'rejected-reusable',
      code: '2',
      messages: [],
    };
    await world.database.query('UPDATE attempt SET past = $1 WHERE emission_id = $2', [
      JSON.stringify(Array.from({ length: 3_000 }, () => ({ ...refused, sequenceUsed: false, dateReceived: null }))),
      invoices[0]?.id,
    ]);
    const numbers = [{ issuer_rnc: ISSUER, encf: encfOf('31', 2) }];
    const [found] = (await operations.findInvoices({ env: 'TesteCF', numbers })).invoices;
    expect(found?.attempts[0]).toMatchObject({ earlier_omitted: 3_001 - (found?.attempts.length ?? 0) });
    const [whole] = (await operations.findInvoices({ env: 'TesteCF', numbers, whole: true })).invoices;
    expect(whole?.attempts).toHaveLength(3_001);
    expect(whole?.attempts[0]).not.toHaveProperty('earlier_omitted');

    const seen: string[] = [];
    for (let after: number | null = 0; after !== null; ) {
      const page: Awaited<ReturnType<EmissionOperations['pageOfInvoices']>> = await operations.pageOfInvoices({
        after,
        limit: 2,
      });
      seen.push(...page.invoices.map((invoice) => invoice.encf));
      after = page.next;
    }
    expect([...seen].sort()).toEqual([1, 2, 3, 4].map((sequence) => encfOf('31', sequence)));
  });

  it("return the authority's answers as they came", async () => {
    const { answers } = await operations.rawAnswers({ ...issuer, encf: encfOf('31', 1) });
    expect(answers[0]).toMatchObject({ attempt: 1, operation: 'submitDocument', outcome: 'verdict', http_status: 200 });
    expect(answers.at(-1)).toMatchObject({ operation: 'queryResult', body: expect.stringContaining('Aceptado') });
    expect((await operations.rawAnswers({ ...issuer, encf: encfOf('31', 99) })).answers).toEqual([]);
  });

  it('return a token of the authority, and do not return a refused one again', async () => {
    const question = { env: 'TesteCF', account_id: world.accountId, taxpayers_revision: 0, refused: null } as const;
    const { token, expires_in } = await operations.authorityToken({ ...question, rnc: ISSUER });
    expect(expires_in).toBeGreaterThan(0);
    expect((await operations.authorityToken({ ...question, rnc: null })).token).toBe(token);
    const renewed = await operations.authorityToken({ ...question, rnc: ISSUER, refused: token });
    expect(renewed.token).not.toBe(token);
    await expect(operations.authorityToken({ ...question, rnc: '101010101' })).rejects.toMatchObject({
      status: 404,
      code: 'taxpayer_not_found',
    });
    await expect(other.emission.internal.authorityToken({ ...question, rnc: '101010101' })).rejects.toMatchObject({
      status: 404,
      code: 'taxpayer_not_found',
    });
  });

  it('are available only to services', async () => {
    const response = await world.call(other, 'POST', '/internal/token', {
      body: '{}',
      headers: { 'content-type': 'application/json' },
    });
    expect([response.status, response.body.code]).toEqual([401, 'invalid_identity']);
  });
});

describe('results that the status poller publishes', () => {
  const clock = () => new Date();
  const bus = createInProcessBus({ logger: silentLogger });
  let world: World;
  let instance: Instance;

  beforeAll(async () => {
    world = await World.create({
      simulator: { processingMs: 0 },
      settings: { STATUS_WAIT_MS: '0' },
      overrides: { bus },
      statusPoller: false,
    });
    instance = await world.start();
  });
  afterAll(() => world.stop());

  let sequence = 0;
  async function submitted() {
    sequence += 1;
    const encf = encfOf('31', sequence);
    const { status, body } = await world.submit(instance, example('ecf-31', sequence));
    expect({ status, word: body.status }).toEqual({ status: 200, word: 'EnProceso' });
    return { encf, trackId: body.trackId as string };
  }

  function result(
    { encf, trackId }: { encf: string; trackId: string },
    change: Partial<InvoiceStatusChanged> = {},
  ): InvoiceStatusChanged {
    return {
      env: 'TesteCF',
      issuer_rnc: ISSUER,
      encf,
      account_id: world.accountId,
      track_id: trackId,
      revision: 2,
      status: 'Aceptado',
      final: true,
      code: '1',
      messages: [],
      sequence_used: null,
      date_received: '2026-01-02T03:04:05-04:00',
      asked_at: '2026-01-02T03:04:06-04:00',
      answer: { http_status: 200, content_type: 'application/json', body: '{"estado":"Aceptado"}' },
      ...change,
    };
  }

  async function publish(data: InvoiceStatusChanged) {
    const draft = {
      topic: TOPICS.invoiceStatus.name,
      type: 'invoice_status.changed',
      source: 'status-poller',
      subject: data.encf,
      key: documentKey(data),
      data,
    };
    await bus.publish([makeEvent(draft, { id: randomUUID(), time: clock() })]);
  }

  async function answers(encf: string) {
    const { rows } = await world.database.query<{ body: string }>(
      `SELECT x.body FROM exchange x JOIN emission e ON e.id = x.emission_id
       WHERE e.encf = $1 AND x.operation = 'queryResult'`,
      [encf],
    );
    return rows.map(({ body }) => body);
  }

  it('change the state of the document once, as if queried here, and keep the raw answer', async () => {
    const document = await submitted();
    await publish(result(document));
    await publish(result(document));
    const row = await world.row(document.encf);
    expect(row).toMatchObject({ state: 'accepted', verdict: { code: '1', dateReceived: '2026-01-02T03:04:05-04:00' } });
    expect(await answers(document.encf)).toEqual(['{"estado":"Aceptado"}']);
  });

  it('leave a document undecided while the authority does not know it, and emission does not query it', async () => {
    const document = await submitted();
    const unknown = result(document, { status: 'No encontrado', code: '0', final: false, revision: 2 });
    await publish(unknown);
    const row = await world.row(document.encf);
    expect(row).toMatchObject({ state: 'not-found', alarm: null, owner: null });
    await publish(unknown);
    expect((await world.row(document.encf))?.revision).toBe(row?.revision);
    await publish(result(document, { status: 'EnProceso', code: '3', final: false, revision: 3 }));
    expect(await world.row(document.encf)).toMatchObject({ state: 'processing' });
    const messages = [{ codigo: '1', valor: 'error' }];
    await publish(
      result(document, { status: 'Rechazado', code: '2', messages, sequence_used: false, final: true, revision: 4 }),
    );
    expect(await world.row(document.encf)).toMatchObject({ state: 'rejected-reusable' });
  });

  it('that say that the authority did not answer change only the messages, until it answers', async () => {
    const document = await submitted();
    const before = await world.row(document.encf);
    const messages = [{ codigo: 'gateway', valor: 'No answer of the authority has come. The next try is at noon.' }];
    const open = { status: 'EnProceso', code: '3', date_received: null, final: false } as const;
    const empty = { http_status: 0, content_type: null, body: '' };
    await publish(result(document, { ...open, messages, unanswered: true, answer: empty, revision: 3 }));
    const waiting = await world.row(document.encf);
    expect(waiting).toMatchObject({ state: before?.state, verdict: { messages } });
    await publish(result(document, { ...open, revision: 4 }));
    expect(await world.row(document.encf)).toMatchObject({ state: 'processing', verdict: { messages: [] } });
  });

  it('do not change a document after a newer result, in any order and repetition', async () => {
    const document = await submitted();
    const unknown = (revision: number) =>
      result(document, { status: 'No encontrado', code: '0', messages: [], final: false, revision });
    const processing = (revision: number) =>
      result(document, { status: 'EnProceso', code: '3', date_received: null, final: false, revision });
    await publish(unknown(5));
    for (const older of [processing(4), unknown(3), processing(4)]) await publish(older);
    expect(await world.row(document.encf)).toMatchObject({ state: 'not-found', status_revision: 5 });
    await publish(processing(7));
    // The result only states that no older one counts.
    await publish(processing(9));
    for (const older of [unknown(8), unknown(5), unknown(9)]) await publish(older);
    expect(await world.row(document.encf)).toMatchObject({ state: 'processing', status_revision: 9 });
    // A decision is never outdated; the poller may have restarted its revisions.
    await publish(result(document, { revision: 1 }));
    for (const older of [unknown(10), processing(11)]) await publish(older);
    expect(await world.row(document.encf)).toMatchObject({ state: 'accepted' });
    expect(await deadLettersOf(world.database)).toEqual([]);
  });

  it.each(['processing', 'not-found'])(
    'of %s for 72 hours make the document overdue, which is published',
    async (state) => {
      const document = await submitted();
      if (state === 'not-found')
        await publish(result(document, { status: 'No encontrado', code: '0', final: false, revision: 2 }));
      const late = new Set<string>();
      await bus.subscribe({
        topics: [TOPICS.invoices.name],
        group: `overdue-${state}`,
        handler: async ({ data }) => {
          const { encf, is_late } = invoiceChangedSchema.parse(data);
          if (is_late) late.add(encf);
        },
      });
      await world.database.query(
        `UPDATE attempt a SET committed_at = a.committed_at - interval '72 hours', next_action_at = a.next_action_at - interval '72 hours'
         FROM emission e WHERE e.id = a.emission_id AND e.encf = $1`,
        [document.encf],
      );
      await until(() => late.has(document.encf));
      expect(await world.row(document.encf)).toMatchObject({
        state,
        alarm: 'overdue',
        next_action_at: null,
        owner: null,
      });
      await publish(result(document, { revision: 9 }));
      expect(await world.row(document.encf)).toMatchObject({ state: 'accepted', alarm: null });
    },
  );

  it('about another trackId or another document do not change the document', async () => {
    const document = await submitted();
    await publish(result(document, { track_id: randomUUID() }));
    await publish(result(document, { encf: encfOf('31', 9_199) }));
    expect(await world.row(document.encf)).toMatchObject({ state: 'processing', track_id: document.trackId });
    expect(await deadLettersOf(world.database)).toEqual([]);
  });

  it('are queried with tokens of the document, which its trackId finds', async () => {
    const document = await submitted();
    const { followUps } = instance.emission;
    const found = await followUps.findSubmission({ env: 'TesteCF', track_id: document.trackId });
    expect(found.invoice).toMatchObject({ encf: document.encf, track_id: document.trackId, state: 'processing' });
    expect(await followUps.findSubmission({ env: 'eCF', track_id: document.trackId })).toEqual({ invoice: null });
    const request = { env: 'TesteCF', issuer_rnc: ISSUER, encf: document.encf, refused: null } as const;
    const { token } = await followUps.documentToken(request);
    expect(await followUps.documentToken(request)).toEqual({ token });
    expect((await followUps.documentToken({ ...request, refused: token })).token).not.toBe(token);
    await expect(followUps.documentToken({ ...request, encf: encfOf('31', 9_198) })).rejects.toMatchObject({
      status: 404,
      code: 'not_found',
    });
  });

  it('are queried with the certificate of the request, until the document is decided', async () => {
    world.register(ISSUER, null);
    sequence += 1;
    const encf = encfOf('31', sequence);
    const { body } = await world.submit(instance, example('ecf-31', sequence), {
      certificate: world.issue('00100000017'),
    });
    const request = { env: 'TesteCF', issuer_rnc: ISSUER, encf, refused: null } as const;
    expect((await instance.emission.followUps.documentToken(request)).token).toMatch(/./);
    // An accepted document keeps the certificate until it is delivered.
    const messages = [{ codigo: '1', valor: 'error' }];
    const refused = { status: 'Rechazado', code: '2', messages, sequence_used: false } as const;
    await publish(result({ encf, trackId: body.trackId }, refused));
    expect(await world.row(encf)).toMatchObject({ state: 'rejected-reusable' });
    await expect(instance.emission.followUps.documentToken(request)).rejects.toMatchObject({
      code: 'certificate_missing',
    });
  });
});
