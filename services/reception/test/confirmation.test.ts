import { createHash, randomUUID } from 'node:crypto';
import {
  type AuthorityClient,
  authorityEndpoints,
  createAuthorityClient,
  createTokenProvider,
  inMemoryTokenCache,
  type TokenProvider,
} from '@ecf/authority-client';
import { type Simulator, startSimulator } from '@ecf/authority-simulator';
import { makeEvent } from '@ecf/bus/events';
import { type ReceivedInvoice, TOPICS } from '@ecf/contracts';
import { camelCaseRows } from '@ecf/postgres';
import { until } from '@ecf/test-support/until';
import type { SigningCertificate } from '@ecf/xml-signing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createConfirmDocument } from '../src/confirmation/confirm-document.js';
import {
  type Confirmation,
  confirmationResult,
  pauseAfterAnswer,
  pauseAfterFailure,
} from '../src/confirmation/confirmation.js';
import { createConfirmationStore } from '../src/confirmation/confirmations.postgres.js';
import { encf, sampleBytes } from './support/documents.js';
import { BUYER, forger, OTHER_PROVIDER, PROVIDER, provider, STRANGER } from './support/senders.js';
import { startWorld, type World } from './support/world.js';

const HOUR = 3_600_000;
const GIBIBYTE = 2 ** 30;

let world: World;
let simulator: Simulator;
let authority: AuthorityClient;
let tokens: TokenProvider;
let sequence = 7_000;
const next = () => encf(++sequence);

beforeAll(async () => {
  const clock = () => world?.now() ?? new Date();
  simulator = await startSimulator({ processingMs: 0, clock });
  world = await startWorld({ settings: { AUTHORITY_URL: simulator.url }, instances: 2 });
  authority = createAuthorityClient({ endpoints: authorityEndpoints(simulator.url), userAgent: 'a provider', clock });
  tokens = createTokenProvider({ client: authority, cache: inMemoryTokenCache(clock), clock });
});
afterAll(async () => {
  authority.close();
  await world.stop();
  await simulator.stop();
});

/** Submits a document to the authority as its issuer does. */
async function submit(number: string, xml: Buffer, issuerRnc = PROVIDER, certificate = provider.certificate) {
  const { token } = await tokens.get({ env: 'TesteCF', account: 'provider', rnc: issuerRnc, certificate });
  const answer = await authority.submitDocument({ env: 'TesteCF', token, issuerRnc, encf: number, xml });
  expect(answer).toMatchObject({ outcome: 'verdict', verdict: { received: true } });
}

const PERIOD = { 'buyer-rnc': BUYER, 'start-date': '01-06-2026', 'end-date': '31-12-2026' };
const send = async (xml: Buffer, instance = 0) => (await world.send(xml, { instance })).text();
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

async function show(number: string, issuer = PROVIDER): Promise<ReceivedInvoice> {
  const answer = await world.get(`/fe/recepcion/api/invoices/${number}`, {
    'buyer-rnc': BUYER,
    'provider-rnc': issuer,
  });
  return (await answer.json()) as ReceivedInvoice;
}

const shown = (number: string, holds: (invoice: ReceivedInvoice) => boolean, issuer = PROVIDER) =>
  until(() => show(number, issuer), holds);

/** Lets the pauses between queries pass. */
function passPauses(): void {
  world.setTime(new Date(world.now().getTime() + 3 * HOUR));
}

async function confirmed(number: string, sample: { issuer?: string; certificate?: SigningCertificate } = {}) {
  const xml = await sampleBytes({ encf: number, ...sample });
  await submit(number, xml, sample.issuer, sample.certificate);
  expect(await send(xml)).toContain('<Estado>0<');
  return shown(number, (one) => one.authority_status === 'confirmed', sample.issuer);
}

function published(number: string, type: string) {
  return world.published.filter((event) => event.type === type && event.data.encf === number).map(({ data }) => data);
}

describe('a received document', () => {
  it('is confirmed within seconds if the authority accepted it, and makes its signer known', async () => {
    const first = await confirmed(next(), { issuer: OTHER_PROVIDER });
    expect(first).toMatchObject({
      signer: {
        subject: provider.certificate.subject,
        serial_number: provider.certificate.serialNumber,
        issuer: provider.certificate.issuer,
        fingerprint: provider.certificate.fingerprint,
        trusted: null,
        known: false,
      },
      authority_checked_at: expect.any(String),
    });
    const asked = 'SELECT answers, failures FROM confirmations WHERE encf = $1';
    expect((await world.database.query(asked, [first.encf])).rows).toEqual([{ answers: 1, failures: 0 }]);
    const later = await confirmed(next(), { issuer: OTHER_PROVIDER });
    expect(later.signer.known).toBe(true);
    // Another key of a holder with the same name is another signer.
    const number = next();
    await send(await sampleBytes({ encf: number, issuer: OTHER_PROVIDER, certificate: forger.certificate }));
    expect((await show(number, OTHER_PROVIDER)).signer.known).toBe(false);
    const told = () => published(later.encf, 'received.confirmed');
    expect(await until(told, (events) => events.length > 0)).toMatchObject([{ authority_status: 'confirmed' }]);
    const last = () => published(later.encf, 'received_invoice.changed').at(-1);
    expect(await until(last, (event) => event?.authority_status === 'confirmed')).toMatchObject({
      signer: { key_fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/), trusted: null },
      promoted_at: null,
    });
  });

  it('is unknown as long as its issuer did not send it to the authority, and confirmed once it did', async () => {
    const number = next();
    const xml = await sampleBytes({ encf: number });
    await send(xml);
    expect((await show(number)).authority_status).toBe('pending');
    await shown(number, (one) => one.authority_status === 'unknown');
    await submit(number, xml);
    passPauses();
    await shown(number, (one) => one.authority_status === 'confirmed');
    expect(published(number, 'received.disputed')).toEqual([]);
  });

  it('is disputed if the authority rejected it, and a filter finds it', async () => {
    const number = next();
    const issuer = '133333336';
    await fetch(`${simulator.url}/_control/taxpayers/${issuer}`, {
      method: 'PUT',
      body: JSON.stringify({ name: 'No emite', electronic: false }),
    });
    const xml = await sampleBytes({ encf: number, issuer });
    await submit(number, xml, issuer);
    await send(xml);
    await shown(number, (one) => one.authority_status === 'rejected', issuer);
    expect(
      await until(
        () => published(number, 'received.disputed'),
        ({ length }) => length > 0,
      ),
    ).toMatchObject([{ issuer_rnc: issuer, authority_status: 'rejected' }]);
    const found = await world.get('/fe/recepcion/api/invoices/all?authority_status=rejected', PERIOD);
    expect(await found.json()).toMatchObject({ total: 1, invoices: [{ encf: number }] });
    const counted = await world.get('/fe/recepcion/api/invoices/count?authority_status=REJECTED', PERIOD);
    expect(await counted.json()).toMatchObject({ total_invoices: 1 });
    const without = await world.get('/fe/recepcion/api/invoices/count?authority_status=not_available', PERIOD);
    expect(await without.json()).toMatchObject({ total_invoices: 0 });
    const wrong = await world.get('/fe/recepcion/api/invoices/all?authority_status=sure', PERIOD);
    expect([wrong.status, await wrong.text()]).toEqual([422, expect.stringContaining('authority_status is one of')]);
    expect(await world.metrics.render()).toMatch(
      /ecf_reception_disputed_documents_total\{env="TesteCF",status="rejected"\} 1/,
    );
  });

  it('has a printed form unless the authority rejected it.', async () => {
    const issuer = '133333344';
    await fetch(`${simulator.url}/_control/taxpayers/${issuer}`, {
      method: 'PUT',
      body: JSON.stringify({ name: 'No emite', electronic: false }),
    });
    const number = next();
    const xml = await sampleBytes({ encf: number, issuer });
    const pdf = () =>
      world.get(`/fe/recepcion/api/invoices/${number}/pdf`, { 'buyer-rnc': BUYER, 'provider-rnc': issuer });
    await send(xml);
    const printed = await pdf();
    expect([printed.status, (await printed.text()).slice(0, 5)]).toEqual([200, '%PDF-']);
    await submit(number, xml, issuer);
    passPauses();
    await shown(number, (one) => one.authority_status === 'rejected', issuer);
    const refused = await pdf();
    expect([refused.status, await refused.json()]).toEqual([409, expect.objectContaining({ code: 'not_printable' })]);
  });

  it('is disputed if the authority still has it in process after 72 hours', async () => {
    const fault = { operation: 'consultaestado', kind: 'down' };
    await fetch(`${simulator.url}/_control/faults`, { method: 'POST', body: JSON.stringify(fault) });
    const number = next();
    const xml = await sampleBytes({ encf: number });
    await send(xml);
    const { rows } = await world.database.query('SELECT * FROM confirmations WHERE encf = $1', [number]);
    const reported: string[] = [];
    const confirmations = createConfirmationStore(world.database);
    const confirm = createConfirmDocument({
      confirmations,
      queryState: async () => ({ status: 'EnProceso', securityCode: null, totalAmount: null, buyerRnc: null }),
      promote: async () => false,
      report: {
        queried: (_, status) => reported.push(String(status)),
        disputed: (_, status) => reported.push(`disputed ${status}`),
        promoted: () => reported.push('promoted'),
      },
      clock: () => world.now(),
    });
    const [document] = camelCaseRows<Confirmation>(rows) as [Confirmation];
    await confirm(document);
    expect((await show(number)).authority_status).toBe('pending');
    await confirm({ ...document, answers: 60 });
    expect((await show(number)).authority_status).toBe('unknown');
    expect(reported).toEqual(['pending', 'pending', 'disputed unknown']);
    const events = () => published(number, 'received.disputed');
    expect(await until(events, ({ length }) => length > 0)).toMatchObject([{ authority_status: 'unknown' }]);
    await fetch(`${simulator.url}/_control/faults`, { method: 'DELETE' });
  });

  it('causes no query if the authority offers none', async () => {
    const number = next();
    await world.send(await sampleBytes({ encf: number }), { env: 'CerteCF' });
    const answer = await world.get(`/fe/recepcion/api/invoices/${number}`, { 'buyer-rnc': BUYER, env: 'CerteCF' });
    expect(await answer.json()).toMatchObject({ authority_status: 'not_available', authority_checked_at: null });
  });

  it('stays pending while the authority is unreachable', async () => {
    const fault = { operation: 'consultaestado', kind: 'down' };
    await fetch(`${simulator.url}/_control/faults`, { method: 'POST', body: JSON.stringify(fault) });
    const number = next();
    const xml = await sampleBytes({ encf: number });
    await submit(number, xml);
    await send(xml);
    const failures = async () => {
      const { rows } = await world.database.query<{ failures: number }>(
        'SELECT failures FROM confirmations WHERE encf = $1',
        [number],
      );
      return rows[0]?.failures ?? 0;
    };
    await until(failures, (count) => count > 0);
    expect((await show(number)).authority_status).toBe('pending');
    await fetch(`${simulator.url}/_control/faults`, { method: 'DELETE' });
    passPauses();
    await shown(number, (one) => one.authority_status === 'confirmed');
  });
});

describe('a confirmed document that comes second', () => {
  /** A forged document that holds a number, and the genuine one that got motive 3. */
  async function forgedFirst(issuer = PROVIDER, number = next()) {
    const forgery = await sampleBytes({ encf: number, issuer, total: '1.00', certificate: forger.certificate });
    const genuine = await sampleBytes({ encf: number, issuer });
    expect(await send(forgery)).toContain('<Estado>0<');
    const first = await shown(number, (one) => one.authority_status === 'unknown', issuer);
    return { number, forgery, genuine, first };
  }

  it('takes the number; the first one competes, its approval is pending again, and both documents are kept', async () => {
    const { number, forgery, genuine, first } = await forgedFirst();
    const key = { env: 'TesteCF', issuer_rnc: PROVIDER, encf: number, buyer_rnc: BUYER } as const;
    const approved = { approval_status: 'approved', approval_datetime: '2026-06-24T10:00:00-04:00' } as const;
    const data = { direction: 'given', ...key, revision: 1, ...approved } as const;
    const draft = { topic: TOPICS.approvals.name, type: 'approval.changed', source: 'approvals', subject: number };
    await world.bus.publish([makeEvent({ ...draft, key: number, data }, { id: randomUUID(), time: world.now() })]);
    await shown(number, (one) => one.approval_status === 'approved');

    await submit(number, genuine);
    const refusal = await world.send(genuine);
    expect([await refusal.text(), refusal.headers.get('x-rejection-reason')]).toEqual([
      expect.stringContaining('<CodigoMotivoNoRecibido>3<'),
      expect.any(String),
    ]);
    const [conflict] = (await show(number)).conflicts;
    expect(conflict).toMatchObject({
      sha256: sha256(genuine),
      authority_status: 'pending',
      signer: { known: expect.any(Boolean) },
    });

    const promoted = await shown(number, (one) => one.authority_status === 'confirmed');
    expect(promoted).toMatchObject({
      id: conflict?.id,
      approval_status: 'pending',
      approval_datetime: null,
      signer: { subject: provider.certificate.subject },
      conflicts: [
        {
          id: first.id,
          sha256: sha256(forgery),
          date_received: first.date_received,
          authority_status: 'unknown',
          signer: { subject: forger.certificate.subject, known: false },
        },
      ],
      conflicts_total: 1,
    });
    const acknowledgement = await world.get(`/arecf/${number}?issuer_rnc=${PROVIDER}`);
    const positive = await acknowledgement.text();
    expect(positive).toContain('<Estado>0<');
    for (const instance of [0, 1, 0]) expect(await send(genuine, instance)).toBe(positive);
    expect(await send(forgery)).toContain('<CodigoMotivoNoRecibido>3<');

    const events = await until(
      () => published(number, 'received_invoice.changed'),
      (seen) => seen.at(-1)?.promoted_at != null,
    );
    expect(events.at(-1)).toMatchObject({
      id: conflict?.id,
      xml_checksum: sha256(genuine),
      conflicts: [{ id: first.id, sha256: sha256(forgery), authority_status: 'unknown' }],
    });
    expect(published(number, 'received.confirmed')).toMatchObject([
      { id: conflict?.id, xml_checksum: sha256(genuine) },
    ]);
    const revisions = events.map(({ revision }) => revision);
    expect(revisions).toEqual([...revisions].sort((one, other) => one - other));
    for (const [bytes, path] of [
      [genuine, events.at(-1)?.xml_storage_path],
      [forgery, events.at(-1)?.conflicts[0]?.xml_storage_path],
    ] as const)
      expect(sha256(Buffer.from(await world.archive.get(String(path), sha256(bytes))))).toBe(sha256(bytes));
    // The bus delivers the decision about the first one again.
    await world.bus.publish([makeEvent({ ...draft, key: number, data }, { id: randomUUID(), time: world.now() })]);
    expect((await show(number)).approval_status).toBe('pending');
  });

  it('takes the number also during the dispute about the first one', async () => {
    const { number, genuine } = await forgedFirst();
    await submit(number, genuine);
    // The genuine document comes when the last pause of 72 hours ends.
    await world.database.query('UPDATE confirmations SET answers = 60, due_at = $2 WHERE encf = $1', [
      number,
      world.now(),
    ]);
    await Promise.all([send(genuine, 0), send(genuine, 1)]);
    const promoted = await shown(number, (one) => one.authority_status === 'confirmed');
    expect(promoted).toMatchObject({ conflicts: [{ authority_status: 'unknown' }], conflicts_total: 1 });
    const disputed = await until(
      () => published(number, 'received.disputed'),
      ({ length }) => length > 0,
    );
    expect(disputed).toMatchObject([{ authority_status: 'unknown', promoted_at: null }]);
    const { rows } = await world.database.query('SELECT 1 FROM confirmations WHERE encf = $1 AND due_at IS NOT NULL', [
      number,
    ]);
    expect(rows.length).toBeLessThanOrEqual(1);
  });

  it('takes the number when it is sent again, if its bytes were not kept because strangers had used up the quota', async () => {
    const { number, genuine, first } = await forgedFirst(STRANGER);
    await world.database.query('INSERT INTO used_quotas (scope, hour, used) VALUES ($1, 0, $2)', [
      `number:${first.id}`,
      GIBIBYTE,
    ]);
    await submit(number, genuine, STRANGER);
    expect(await send(genuine)).toContain('<CodigoMotivoNoRecibido>3<');
    const status = async () => {
      const { rows } = await world.database.query<{ status: string }>(
        `SELECT c.status FROM refused_documents r JOIN confirmations c USING (document_id)
          WHERE r.conflict_of = $1 AND r.xml_path IS NULL`,
        [first.id],
      );
      return rows[0]?.status;
    };
    await until(status, (found) => found === 'confirmed');
    expect(await show(number, STRANGER)).toMatchObject({ id: first.id, authority_status: 'unknown' });
    expect(await send(genuine, 1)).toContain('<CodigoMotivoNoRecibido>3<');
    const promoted = await shown(number, (one) => one.authority_status === 'confirmed', STRANGER);
    expect(promoted).toMatchObject({
      signer: { subject: provider.certificate.subject },
      conflicts: [{ id: first.id }],
    });
    expect(await send(genuine)).toContain('<Estado>0<');
  });

  it('gets no number that a confirmed document holds', async () => {
    const number = next();
    const disputes = async () =>
      (await world.metrics.render()).match(/^ecf_reception_disputed_documents_total.*$/gm)?.join();
    const before = await disputes();
    const first = await confirmed(number);
    const forgery = await sampleBytes({ encf: number, total: '1.00', certificate: forger.certificate });
    expect(await send(forgery)).toContain('<CodigoMotivoNoRecibido>3<');
    const after = await shown(number, (one) => one.conflicts[0]?.authority_status === 'unknown');
    expect(after).toMatchObject({ id: first.id, authority_status: 'confirmed' });
    const { rows } = await world.database.query('SELECT 1 FROM confirmations WHERE encf = $1 AND due_at IS NOT NULL', [
      number,
    ]);
    expect(rows).toEqual([]);
    // A document that competes does not make the one that holds the number disputed.
    expect(published(number, 'received.disputed')).toEqual([]);
    expect(await disputes()).toBe(before);
  });
});

describe('an answer of the authority', () => {
  const document: Confirmation = {
    documentId: 1,
    env: 'eCF',
    issuerRnc: PROVIDER,
    encf: 'E310000000001',
    buyerRnc: BUYER,
    securityCode: 'abc+/=',
    totalAmount: '1180.00',
    status: 'pending',
    answers: 0,
    failures: 0,
  };
  const accepted = { status: 'Aceptado', securityCode: 'abc+/=', totalAmount: '1180', buyerRnc: BUYER };

  it.each([
    ['an acceptance of this document', accepted, 'confirmed'],
    ['a conditional acceptance', { ...accepted, status: 'AceptadoCondicional' }, 'confirmed'],
    ['an RNC with dashes', { ...accepted, buyerRnc: `${BUYER.slice(0, 3)}-${BUYER.slice(3)}` }, 'confirmed'],
    ['another security code', { ...accepted, securityCode: 'abc+/-' }, 'unknown'],
    ['another total', { ...accepted, totalAmount: '1180.01' }, 'unknown'],
    ['another buyer', { ...accepted, buyerRnc: PROVIDER }, 'unknown'],
    ['no security code', { ...accepted, securityCode: null }, 'unknown'],
    ['no total', { ...accepted, totalAmount: null }, 'unknown'],
    ['no buyer', { ...accepted, buyerRnc: null }, 'unknown'],
    ['a rejection', { ...accepted, status: 'Rechazado' }, 'rejected'],
    ['a rejection of another document', { ...accepted, status: 'Rechazado', securityCode: 'xxxxxx' }, 'unknown'],
    ['not found', { ...accepted, status: 'No encontrado' }, 'unknown'],
    ['in process', { ...accepted, status: 'EnProceso' }, null],
  ] as const)('leads to the right status of the document: %s', (_, state, expected) => {
    expect(confirmationResult(document, state)).toBe(expected);
  });

  it('is queried again, with growing pauses, until the authority has answered for 72 hours', () => {
    const pauses: number[] = [];
    for (let answers = 1, pause = pauseAfterAnswer(answers); pause !== null; pause = pauseAfterAnswer(++answers))
      pauses.push(pause);
    expect(pauses.slice(0, 4)).toEqual([5_000, 10_000, 20_000, 40_000]);
    expect(Math.max(...pauses)).toBe(2 * HOUR);
    const whole = pauses.reduce((sum, pause) => sum + pause, 0);
    expect(whole).toBeGreaterThanOrEqual(72 * HOUR);
    expect(whole).toBeLessThan(75 * HOUR);
    expect(pauses.length + 1).toBe(47);
    expect([1, 2, 30].map(pauseAfterFailure)).toEqual([5_000, 10_000, 300_000]);
  });
});
