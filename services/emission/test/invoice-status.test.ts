import { randomUUID } from 'node:crypto';
import { documentKey, type InvoiceStatusChanged, TOPICS } from '@ecf/contracts';
import { createInProcessBus, createMemoryDeadLetters, makeEvent, silentLogger } from '@ecf/service-kit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { encf as encfOf, example, ISSUER } from './support/documents.js';
import { type Instance, World } from './support/world.js';

const clock = () => new Date();

describe('results that the status poller tells', () => {
  const deadLetters = createMemoryDeadLetters();
  const bus = createInProcessBus({ logger: silentLogger, clock, deadLetters });
  let world: World;
  let instance: Instance;

  beforeAll(async () => {
    world = await World.create({
      simulator: { processingMs: 0 },
      settings: { RESULT_QUERIES: 'status-poller', STATUS_WAIT_MS: '0' },
      overrides: { bus },
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

  function told(
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

  it('move the document as if it had been asked for here, once, and keep the raw answer', async () => {
    const document = await submitted();
    await publish(told(document));
    await publish(told(document));
    const row = await world.row(document.encf);
    expect(row).toMatchObject({ state: 'accepted', verdict: { code: '1', dateReceived: '2026-01-02T03:04:05-04:00' } });
    expect(await answers(document.encf)).toEqual(['{"estado":"Aceptado"}']);
  });

  it('leave a document open that the authority does not know, until it does; nothing is asked for here', async () => {
    const document = await submitted();
    const unknown = told(document, { status: 'No encontrado', code: '0', final: false, revision: 2 });
    await publish(unknown);
    const row = await world.row(document.encf);
    expect(row).toMatchObject({ state: 'not-found', next_action_at: null, owner: null });
    await publish(unknown);
    expect((await world.row(document.encf))?.revision).toBe(row?.revision);
    await publish(told(document, { status: 'EnProceso', code: '3', final: false, revision: 3 }));
    expect(await world.row(document.encf)).toMatchObject({ state: 'processing' });
    const messages = [{ codigo: '1', valor: 'error' }];
    await publish(
      told(document, { status: 'Rechazado', code: '2', messages, sequence_used: false, final: true, revision: 4 }),
    );
    expect(await world.row(document.encf)).toMatchObject({ state: 'rejected-reusable' });
  });

  it('change nothing where a newer one was told, reordered and repeated as they may come', async () => {
    const document = await submitted();
    const unknown = (revision: number) =>
      told(document, { status: 'No encontrado', code: '0', messages: [], final: false, revision });
    const processing = (revision: number) =>
      told(document, { status: 'EnProceso', code: '3', date_received: null, final: false, revision });
    await publish(unknown(5));
    for (const older of [processing(4), unknown(3), processing(4)]) await publish(older);
    expect(await world.row(document.encf)).toMatchObject({ state: 'not-found', status_revision: 5 });
    await publish(processing(7));
    // Says what is known: only that nothing older counts any more.
    await publish(processing(9));
    for (const older of [unknown(8), unknown(5), unknown(9)]) await publish(older);
    expect(await world.row(document.encf)).toMatchObject({ state: 'processing', status_revision: 9 });
    // A decision is never out of date; the poller may have begun to count anew.
    await publish(told(document, { revision: 1 }));
    for (const older of [unknown(10), processing(11)]) await publish(older);
    expect(await world.row(document.encf)).toMatchObject({ state: 'accepted' });
    expect(await deadLetters.list()).toEqual([]);
  });

  it('about another trackId or another document change nothing', async () => {
    const document = await submitted();
    await publish(told(document, { track_id: randomUUID() }));
    await publish(told(document, { encf: encfOf('31', 9_199) }));
    expect(await world.row(document.encf)).toMatchObject({ state: 'processing', track_id: document.trackId });
    expect(await deadLetters.list()).toEqual([]);
  });

  it('are asked for with tokens of the document, which its trackId finds', async () => {
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

  it('are asked for here again after the switch back, also of documents from before', async () => {
    const document = await submitted();
    expect(await world.row(document.encf)).toMatchObject({ state: 'processing', next_action_at: null });
    const asking = await world.start({}, { RESULT_QUERIES: 'emission' });
    await world.reaches(document.encf, ['accepted']);
    await asking.stop();
  });

  it('are asked about with the certificate that came with the document, until it is decided', async () => {
    world.register(ISSUER, null);
    sequence += 1;
    const encf = encfOf('31', sequence);
    const { body } = await world.submit(instance, example('ecf-31', sequence), {
      certificate: world.issue('00100000017'),
    });
    const request = { env: 'TesteCF', issuer_rnc: ISSUER, encf, refused: null } as const;
    expect((await instance.emission.followUps.documentToken(request)).token).toMatch(/./);
    // What is accepted keeps it until it is delivered.
    const messages = [{ codigo: '1', valor: 'error' }];
    const refused = { status: 'Rechazado', code: '2', messages, sequence_used: false } as const;
    await publish(told({ encf, trackId: body.trackId }, refused));
    expect(await world.row(encf)).toMatchObject({ state: 'rejected-reusable' });
    await expect(instance.emission.followUps.documentToken(request)).rejects.toMatchObject({
      code: 'certificate_missing',
    });
  });
});
