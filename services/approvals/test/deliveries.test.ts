import { createHash, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createCircuitBreakers } from '@ecf/authority-client';
import { makeEvent } from '@ecf/bus/events';
import type { DeliveryChanged, InvoiceChanged } from '@ecf/contracts';
import { writeXml } from '@ecf/ecf-xml';
import type { Logger } from '@ecf/kit/telemetry';
import { limitDueTimes, openDatabase } from '@ecf/postgres';
import { testKey } from '@ecf/test-support';
import { silentLogger } from '@ecf/test-support/services';
import { until } from '@ecf/test-support/until';
import { type SigningCertificate, signXml } from '@ecf/xml-signing';
import { createCertificateAuthority } from '@ecf/xml-signing/certificate-authority';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { DUE_TIMES } from '../src/background.js';
import { createDeliveryStore } from '../src/buyers/deliveries.postgres.js';
import type { DeliveryEnding } from '../src/buyers/ports.js';
import type { Approvals } from '../src/index.js';
import { endingWith } from '../src/sending/endings.js';
import type { Claimed } from '../src/sending/outgoing.js';
import { createOutgoingStore } from '../src/sending/outgoing.postgres.js';
import { createSending } from '../src/sending/sending.js';
import { type Answering, BuyerReceiver, lost, received, saying, status, xml } from './support/buyer-receiver.js';
import { ACCOUNT, AUTHORITY, certificate, ISSUER, issueCertificate, issuedInvoice, World } from './support/world.js';

const SETTINGS = { DELIVERY_FIRST_RETRY_MS: '30', DELIVERY_CONCURRENCY: '4' };
const changes: DeliveryChanged[] = [];
const receivers: BuyerReceiver[] = [];
/** The step at which an attempt crashes; the row stays claimed. */
let dying: string | null = null;
/** What the instances logged as errors. */
const failures: string[] = [];
let world: World;
let rnc = 120000000;

beforeAll(async () => {
  const checkpoint = (step: string) => {
    if (step !== dying) return;
    dying = null;
    throw new Error(`killed when ${step}`);
  };
  const logger: Logger = Object.assign(Object.create(silentLogger), {
    error: (_fields: unknown, text: string) => failures.push(text),
  });
  world = await World.start({ settings: SETTINGS, overrides: { checkpoint, logger }, instances: 2 });
  await world.bus.subscribe({
    topics: ['deliveries.v1'],
    group: 'query',
    handler: async (event) => void changes.push(event.data as DeliveryChanged),
  });
});
afterEach(async () => {
  for (const receiver of receivers.splice(0)) await receiver.stop();
});
afterAll(() => world.stop());

/** A new buyer, listed in the directory. */
async function buyer(authenticates = false): Promise<BuyerReceiver> {
  rnc += 1;
  const receiver = await BuyerReceiver.start(String(rnc));
  receivers.push(receiver);
  await world.list(receiver.rnc, receiver.url, authenticates ? receiver.url : null);
  return receiver;
}

/** Publishes an accepted e-CF. */
async function accepted(buyerRnc: string | null, state: Partial<InvoiceChanged> = {}, at = world) {
  const encf = state.encf ?? at.nextEncf(state.ecf_type ?? '31');
  const issuer = state.issuer_rnc ?? ISSUER;
  const text = `<?xml version="1.0"?><ECF><RNCEmisor>${issuer}</RNCEmisor><eNCF>${encf}</eNCF><x>ñ</x></ECF>`;
  const path = `TesteCF/ecf/${ISSUER}/issued/2026/06/${ISSUER}${encf}.xml`;
  const { checksum } = await at.archive.put(path, Buffer.from(text));
  const data = issuedInvoice(encf, { buyer_rnc: buyerRnc, xml_storage_path: path, xml_checksum: checksum, ...state });
  await publish(data, at);
  return { encf, text, data };
}

function publish(data: InvoiceChanged, at = world): Promise<void> {
  const draft = {
    topic: 'invoices.v1',
    type: 'invoice.changed',
    source: 'emission',
    subject: data.encf,
    key: `${data.env}:${data.issuer_rnc}:${data.encf}`,
    data,
  };
  return at.bus.publish([makeEvent(draft, { id: randomUUID(), time: new Date() })]);
}

const internal = (at = world) => {
  const [instance] = at.instances;
  if (instance === undefined) throw new Error('no instance');
  return instance.internal;
};
async function delivery(encf: string, at = world) {
  const { deliveries } = await internal(at).listDeliveries({ encf, limit: 10 });
  return deliveries[0];
}
const reaches = (encf: string, wanted: string, at = world) =>
  until(
    () => delivery(encf, at),
    (seen) => seen?.delivery_status === wanted,
  );
const published = (encf: string) =>
  changes.filter((change) => change.encf === encf).map((change) => change.delivery_status);
const ended = (encf: string) => changes.filter((change) => change.encf === encf).map((change) => change.final);
const acknowledged = (encf: string, query = '') =>
  world.call('GET', `/received-arecf/${encf}${query === '' ? `?issuer_rnc=${ISSUER}` : query}`);
/** The document in a delivery, byte for byte. */
const documentIn = ({ body }: { body: string }) =>
  Buffer.from(/<\?xml.*<\/ECF>/s.exec(body)?.[0] ?? '', 'latin1').toString('utf8');
/** Ends the lease of the delivery. */
const leaseEnds = (encf: string) =>
  world.database.query('UPDATE outgoing_documents SET due_at = now() WHERE encf = $1', [encf]);

describe('a delivery', () => {
  it('a delivery sends the accepted bytes under their name and keeps the acknowledgement byte for byte', async () => {
    const to = await buyer();
    let sent = '';
    to.answers = [
      async (res, reached, self) => {
        self.ledger.add(reached.encf);
        // Without declaration and with a line end after it, as some systems write.
        sent = `${(await self.acknowledgement(reached)).replace(/^<\?xml.*?\?>/, '')}\n`;
        xml(res, sent);
      },
    ];
    const { encf, text } = await accepted(to.rnc);
    await reaches(encf, 'delivered');
    expect(to.deliveries).toHaveLength(1);
    const [request] = to.deliveries;
    expect(request?.filename).toBe(`${ISSUER}${encf}.xml`);
    expect(request?.headers.authorization).toBeUndefined();
    expect(Buffer.from(request?.body ?? '', 'latin1').toString('utf8')).toContain(text);
    expect(request?.body).toContain('name="xml"');
    const stored = await world.call('GET', `/received-arecf/${encf.toLowerCase()}/xml/?issuer_rnc=${ISSUER}`);
    expect([stored.status, stored.body]).toEqual([200, sent]);
    expect(stored.headers.get('content-type')).toMatch(/^application\/xml/);
    const one = await acknowledged(encf);
    expect(one).toMatchObject({
      status: 200,
      body: {
        issuer_rnc: ISSUER,
        buyer_rnc: to.rnc,
        encf,
        env: 'TesteCF',
        receipt_status: 0,
        rejection_code: null,
        rejection_reason: null,
        valid: true,
        validation_error: null,
        xml_checksum: createHash('sha256').update(sent).digest('hex'),
      },
    });
    expect(one.body.acknowledged_at).toMatch(/-04:00$/);
    await until(
      () => published(encf),
      (seen) => seen.length === 1,
    );
    expect(published(encf)).toEqual(['delivered']);
  });

  it('the signer of an acknowledgement is known: its approvals are confirmed, and earlier ones of strangers no longer count', async () => {
    const to = await buyer();
    const signer = issueCertificate('00500000005', AUTHORITY, undefined, testKey(2));
    const answer = async (encf: string, by: SigningCertificate, decision: '1' | '2') => {
      const detail = {
        Version: '1.0',
        RNCEmisor: ISSUER,
        eNCF: encf,
        FechaEmision: '15-06-2026',
        MontoTotal: '11430.00',
        RNCComprador: to.rnc,
        Estado: decision,
        ...(decision === '2' ? { DetalleMotivoRechazo: 'No recibido' } : {}),
        FechaHoraAprobacionComercial: '23-06-2026 17:45:47',
      };
      return (await world.send((await signXml(writeXml({ ACECF: { DetalleAprobacionComercial: detail } }), by)).xml))
        .status;
    };
    const shown = async (encf: string) =>
      (await world.call('GET', `/fe/aprobacioncomercial/api/invoices/${encf}?issuer_rnc=${ISSUER}`)).body;
    const answered = world.nextEncf();
    world.issued.set(`${ISSUER}|${answered}`, issuedInvoice(answered, { buyer_rnc: to.rnc }));
    expect(await answer(answered, certificate, '2')).toBe(200);
    expect(await answer(answered, signer, '1')).toBe(400);
    expect(await shown(answered)).toMatchObject({ approval_status: 'rejected', approval_confirmed: false });
    // A receiver that says that it does not serve the buyer proves nothing about the buyer's signers.
    to.answers = [saying({ motive: 1, signer: certificate }), saying({ signer })];
    await reaches((await accepted(to.rnc)).encf, 'refused');
    const { encf } = await accepted(to.rnc);
    await reaches(encf, 'delivered');
    expect((await acknowledged(encf)).body).toMatchObject({
      receiver: new URL(to.url).origin,
      signer: { fingerprint: signer.fingerprint, serial_number: expect.any(String), trusted: null, known: false },
    });
    expect(await shown(answered)).toMatchObject({ approval_status: 'approved', approval_confirmed: true });
    const next = world.nextEncf();
    world.issued.set(`${ISSUER}|${next}`, issuedInvoice(next, { buyer_rnc: to.rnc }));
    expect(await answer(next, certificate, '2')).toBe(200);
    expect(await answer(next, signer, '1')).toBe(200);
    expect(await shown(next)).toMatchObject({ approval_status: 'approved', approval_confirmed: true });
    to.answers = [saying({ signer })];
    const later = (await accepted(to.rnc)).encf;
    await reaches(later, 'delivered');
    expect((await acknowledged(later)).body.signer.known).toBe(true);
  });

  it('a delivery is made once for each accepted or conditionally accepted document of the right type', async () => {
    const to = await buyer();
    const sent = await Promise.all([
      accepted(to.rnc, { ecf_type: '33' }),
      accepted(to.rnc, { ecf_type: '34', status: 'AceptadoCondicional' }),
      accepted(to.rnc, { ecf_type: '44' }),
    ]);
    for (const { data } of sent) await publish(data);
    await accepted(to.rnc, { ecf_type: '31', status: 'Rechazado' });
    await accepted(to.rnc, { ecf_type: '31', status: 'EnProceso', final: false });
    await accepted(null, { ecf_type: '44' });
    for (const type of ['32', '41', '43', '46', '47'] as const) await accepted(to.rnc, { ecf_type: type });
    await accepted(to.rnc, { ecf_type: '32', route: 'rfce' });
    const government = await accepted(to.rnc, { ecf_type: '45' });
    for (const { encf } of sent) await reaches(encf, 'delivered');
    await reaches(government.encf, 'not_required');
    const asked = internal().retryDelivery({ env: 'TesteCF', issuer_rnc: ISSUER, encf: government.encf });
    await expect(asked).rejects.toMatchObject({ status: 409, message: expect.stringContaining('DELIVER_TYPE_45') });
    await reaches(government.encf, 'not_required');
    await until(
      () => published(government.encf),
      (seen) => seen.length === 1,
    );
    expect(to.deliveries.map(({ encf }) => encf).sort()).toEqual(sent.map(({ encf }) => encf).sort());
  });

  it('a delivery whose bytes cannot be read waits for them and reports it', async () => {
    const to = await buyer();
    const path = `TesteCF/ecf/${ISSUER}/issued/2026/06/restored-later.xml`;
    const { encf, text } = await accepted(to.rnc, { xml_storage_path: path });
    const waiting = await until(
      () => delivery(encf),
      (seen) => (seen?.last_error ?? null) !== null,
    );
    expect(waiting).toMatchObject({
      delivery_status: 'pending',
      last_error: expect.stringMatching(/^The stored document cannot be read/),
    });
    expect(to.deliveries).toEqual([]);
    await world.archive.put(path, Buffer.from(text));
    await reaches(encf, 'delivered');
  });

  it('a delivery logs in where the receiver offers it, once for many documents, and again after a 401', async () => {
    const to = await buyer(true);
    to.token = 'first';
    const first = await accepted(to.rnc);
    await reaches(first.encf, 'delivered');
    const second = await accepted(to.rnc);
    await reaches(second.encf, 'delivered');
    // Each instance logs in for itself, once.
    expect(to.seeds).toBeLessThanOrEqual(2);
    expect(to.deliveries.map(({ headers }) => headers.authorization)).toEqual(['Bearer first', 'Bearer first']);
    const validated = to.reached.find(({ path }) => path.endsWith('validacioncertificado'));
    expect(validated?.body).toContain('<SignatureValue>');
    const seeds = to.seeds;
    to.token = 'other';
    const third = await accepted(to.rnc);
    await reaches(third.encf, 'delivered');
    expect(to.seeds).toBe(seeds + 1);
    expect(to.deliveries.at(-1)?.headers.authorization).toBe('Bearer other');
  });

  it('an RNC without directory entry is looked up again, and an operator can retry its delivery immediately', async () => {
    const to = await buyer();
    await world.control('PUT', `taxpayers/${to.rnc}`, { name: 'X', reception_url: null });
    const { encf } = await accepted(to.rnc);
    const waiting = await reaches(encf, 'no_receiver');
    expect(waiting?.due_at).not.toBeNull();
    await world.list(to.rnc, to.url);
    await internal().retryDelivery({ env: 'TesteCF', issuer_rnc: ISSUER, encf });
    await reaches(encf, 'delivered');
    await until(
      () => published(encf),
      (seen) => seen.length === 3,
    );
    expect(published(encf)).toEqual(['no_receiver', 'pending', 'delivered']);
    const again = internal().retryDelivery({ env: 'TesteCF', issuer_rnc: ISSUER, encf });
    await expect(again).rejects.toMatchObject({ status: 409, code: 'conflict' });
    const unknown = internal().retryDelivery({ env: 'CerteCF', issuer_rnc: ISSUER, encf });
    await expect(unknown).rejects.toMatchObject({ status: 404, code: 'not_found' });
    expect(to.deliveries).toHaveLength(1);
  });
});

describe('an issuer without a stored certificate', () => {
  const issuer = '101000055';
  const later = (encf: string) =>
    world.database.query("UPDATE outgoing_documents SET due_at = now() + interval '1 hour' WHERE encf = $1", [encf]);

  it('an issuer without a stored certificate logs in with the one that came with the document', async () => {
    await world.register(issuer, { signer: null });
    const to = await buyer(true);
    to.token = 'theirs';
    const signer = issueCertificate('00300000007');
    const encf = world.nextEncf();
    world.sentAlong.set(encf, signer);
    await accepted(to.rnc, { issuer_rnc: issuer, encf });
    await reaches(encf, 'delivered');
    const [validated] = to.reached.filter(({ path }) => path.endsWith('validacioncertificado'));
    expect(validated?.body).toContain(`<X509Certificate>${signer.certificate}<`);
    expect(to.deliveries.map(({ headers }) => headers.authorization)).toEqual(['Bearer theirs']);
  });

  it('a missing certificate is reported, and the deliveries continue once one is stored', async () => {
    await world.register(issuer, { signer: null });
    const to = await buyer();
    const { encf } = await accepted(to.rnc, { issuer_rnc: issuer });
    const waiting = await until(
      () => delivery(encf),
      (seen) => (seen?.last_error ?? null) !== null,
    );
    expect(waiting?.delivery_status).toBe('pending');
    expect(waiting?.last_error).toMatch(/101000055 has no certificate.*None is kept.*Upload one in the administration/);
    expect(to.reached).toEqual([]);
    await until(
      async () => {
        await later(encf);
        return world.database.query<{ claim: string | null }>('SELECT claim FROM outgoing_documents WHERE encf = $1', [
          encf,
        ]);
      },
      ({ rows }) => rows[0]?.claim === null,
    );
    await world.register(issuer);
    await reaches(encf, 'delivered');
    expect(to.deliveries).toHaveLength(1);
  });
});

it('a look-up without receiver postpones all documents that wait for their first look-up, and no others', async () => {
  const clock = () => new Date(Date.now() + 48 * 3_600_000);
  const database = openDatabase(world.databaseUrl, { max: 1 });
  const store = createDeliveryStore(database, 'absent', clock);
  const [now, due] = [clock(), new Date(clock().getTime() + 3_600_000)];
  const [issuer, absent, present] = ['101999955', '101999956', '101999957'];
  const add = (name: string, change: Record<string, unknown> = {}) => {
    const row = { buyer: absent, status: 'no_receiver', created: now, tries: 0, deadline: '3 days', ...change };
    return world.database.query(
      `INSERT INTO outgoing_documents (kind, recipient, env, issuer_rnc, encf, buyer_rnc, account_id, xml_path, xml_sha256,
         status, created_at, deadline_at, due_at, tries)
       VALUES ('delivery', $3, 'TesteCF', $1, $2, $3, $4, $9, 'x', $5, $6, $6::timestamptz + $7::interval, $6, $8)`,
      [issuer, world.nextEncf('31'), row.buyer, ACCOUNT, row.status, row.created, row.deadline, row.tries, name],
    );
  };
  await add('asked', { status: 'pending', tries: 1 });
  const claimed = await world.database.query<{ id: number; claim: string }>(
    'UPDATE outgoing_documents SET claim = gen_random_uuid() WHERE issuer_rnc = $1 RETURNING id::int, claim::text',
    [issuer],
  );
  for (const name of ['alike', 'alike too']) await add(name);
  await add('later', { created: new Date(now.getTime() + 1) });
  await add('of another buyer', { buyer: present });
  await add('pending', { status: 'pending' });
  await add('looked up before', { tries: 1 });
  await add('over before', { deadline: '1 hour' });
  const ending = {
    ...endingWith({ status: 'no_receiver', outcome: 'none', dueAt: due, error: 'none' }),
    acknowledgement: null,
  };
  const asked = { ...claimed.rows[0], status: 'pending' } as Claimed;
  await store.conclude(asked, ending as DeliveryEnding);
  await database.close();
  const { rows: put } = await world.database.query<{ name: string; tries: number; minutes: number }>(
    `SELECT xml_path AS name, tries, floor(extract(epoch FROM due_at - $1) / 60)::int AS minutes FROM outgoing_documents
      WHERE issuer_rnc = $2 AND last_error = 'none'`,
    [now, issuer],
  );
  await world.database.query('DELETE FROM outgoing_documents WHERE issuer_rnc = $1', [issuer]);
  expect(put.map(({ name, tries }) => [name, tries]).sort()).toEqual([
    ['alike too', 1],
    ['alike', 1],
    ['asked', 1],
  ]);
  for (const { minutes } of put) expect([minutes >= 60, minutes < 70]).toEqual([true, true]);
});

it('renewing a lease never shortens it', async () => {
  const database = openDatabase(world.databaseUrl, { max: 1 });
  const store = createOutgoingStore(database, async () => undefined);
  const issuer = '101999958';
  const { rows } = await world.database.query<Claimed>(
    `INSERT INTO outgoing_documents (kind, recipient, env, issuer_rnc, encf, buyer_rnc, account_id, xml_path, xml_sha256,
       status, created_at, deadline_at, due_at, claim)
     VALUES ('delivery', 'x', 'TesteCF', $1, $2, $1, $3, 'x', 'x', 'pending', now(), now() + interval '9 days', now() + interval '2 hours',
       gen_random_uuid()) RETURNING id::int, claim::text`,
    [issuer, world.nextEncf('31'), ACCOUNT],
  );
  const hours = async (count: number) => {
    await store.renew(rows, new Date(Date.now() + count * 3_600_000));
    const due =
      'SELECT round(extract(epoch FROM due_at - now()) / 3600)::int AS hours FROM outgoing_documents WHERE issuer_rnc = $1';
    return (await world.database.query<{ hours: number }>(due, [issuer])).rows[0]?.hours;
  };
  expect([await hours(1), await hours(3)]).toEqual([2, 3]);
  await database.close();
  await world.database.query('DELETE FROM outgoing_documents WHERE issuer_rnc = $1', [issuer]);
});

describe('the end of a delivery', () => {
  it('the last change of a delivery says that it is final: delivered, not required, or without receiver at the deadline', async () => {
    const to = await buyer();
    to.answers = [status(200)];
    const { encf } = await accepted(to.rnc);
    await reaches(encf, 'delivered');
    const nobody = await accepted(to.rnc, { ecf_type: '45' });
    const absent = await buyer();
    await world.control('PUT', `taxpayers/${absent.rnc}`, { name: 'X', reception_url: null });
    const waiting = await accepted(absent.rnc);
    await reaches(waiting.encf, 'no_receiver');
    await world.database.query('UPDATE outgoing_documents SET deadline_at = now(), due_at = now() WHERE encf = $1', [
      waiting.encf,
    ]);
    await until(
      () => [encf, nobody.encf, waiting.encf].map(ended),
      (seen) => seen.every((finals) => finals.at(-1) === true),
    );
    expect([encf, nobody.encf, waiting.encf].map(ended)).toEqual([[false, true], [true], [false, true]]);
    expect(published(waiting.encf)).toEqual(['no_receiver', 'no_receiver']);
  });
});

describe('the directory', () => {
  const directory = (fault: object) => world.fault({ operation: 'consultadirectorio', ...fault });

  it('a receiver that the directory drops gets no more documents, until it is listed elsewhere', async () => {
    const to = await buyer();
    const first = await accepted(to.rnc);
    await reaches(first.encf, 'delivered');
    await world.control('DELETE', `taxpayers/${to.rnc}`);
    const { encf } = await accepted(to.rnc);
    expect((await reaches(encf, 'no_receiver'))?.last_error).toContain(to.rnc);
    expect(to.deliveries).toHaveLength(1);
    const moved = await BuyerReceiver.start(to.rnc);
    receivers.push(moved);
    await world.list(to.rnc, moved.url);
    await internal().retryDelivery({ env: 'TesteCF', issuer_rnc: ISSUER, encf });
    await reaches(encf, 'delivered');
    expect([to.deliveries.length, moved.deliveries.length]).toEqual([1, 1]);
  });

  it('a known address is used while the directory is unavailable, and a delivery to an unknown one waits', async () => {
    const known = await buyer();
    const fresh = await buyer();
    await reaches((await accepted(known.rnc)).encf, 'delivered');
    await directory({ kind: 'http', status: 503, body: 'x' });
    const second = await accepted(known.rnc);
    const waiting = await accepted(fresh.rnc);
    await until(
      () => delivery(waiting.encf),
      (seen) => (seen?.last_error ?? null) !== null,
    );
    expect((await delivery(waiting.encf))?.delivery_status).toBe('pending');
    // Only the instance that delivered before knows the address.
    await until(
      async () => {
        await world.database.query(
          'UPDATE outgoing_documents SET due_at = now() WHERE encf = $1 AND due_at IS NOT NULL AND claim IS NULL',
          [second.encf],
        );
        return delivery(second.encf);
      },
      (seen) => seen?.delivery_status === 'delivered',
    );
    await world.control('DELETE', 'faults');
    await reaches(waiting.encf, 'delivered');
    expect([known.deliveries.length, fresh.deliveries.length]).toEqual([2, 1]);
  });
});

describe('a deployment with other settings', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'ecf-trusted-'));
  let other: World;
  beforeAll(async () => {
    const file = path.join(folder, 'issuers.pem');
    writeFileSync(file, AUTHORITY.pem);
    const settings = { ...SETTINGS, DELIVER_TYPE_45: 'true', TRUSTED_ISSUERS_FILE: file, RECEIVER_LOGINS: 'false' };
    other = await World.start({ settings });
  });
  afterAll(async () => {
    await other.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** A buyer that offers logins, and demands a token unless it is null. */
  async function listed(token: string | null): Promise<BuyerReceiver> {
    rnc += 1;
    const to = await BuyerReceiver.start(String(rnc));
    receivers.push(to);
    to.token = token;
    await other.list(to.rnc, to.url, to.url);
    return to;
  }

  it('a deployment can deliver type 45 and require trusted signers', async () => {
    const to = await listed(null);
    const elsewhere = createCertificateAuthority({ commonName: 'Otra autoridad', key: testKey(3) });
    to.answers = [saying({ signer: issueCertificate('00400000006', elsewhere) })];
    const { encf } = await accepted(to.rnc, { ecf_type: '45' }, other);
    await reaches(encf, 'delivered', other);
    expect(to.deliveries.map((reached) => reached.encf)).toEqual([encf, encf]);
    const { body } = await other.call('GET', `/received-arecf/?issuer_rnc=${ISSUER}&encf=${encf}`);
    const trust = 'does not lead to an issuer that this receiver trusts';
    expect(body).toMatchObject([
      { valid: true, receipt_status: 0 },
      { valid: false, validation_error: expect.stringContaining(trust) },
    ]);
    expect(to.seeds).toBe(0);
  });

  it('a deployment without logins fails a delivery with the reason if the receiver demands a token', async () => {
    const to = await listed('theirs');
    const { encf } = await accepted(to.rnc, {}, other);
    await until(
      () => delivery(encf, other),
      (one) => (one?.last_error ?? null) !== null,
    );
    const overdue =
      'UPDATE outgoing_documents SET deadline_at = now(), due_at = now() WHERE encf = $1 AND due_at IS NOT NULL';
    const failed = await until(
      async () => {
        await other.database.query(overdue, [encf]);
        return delivery(encf, other);
      },
      (one) => one?.delivery_status === 'failed',
    );
    expect(failed?.last_error).toContain('RECEIVER_LOGINS=false turns logins at receivers off');
    expect(to.seeds).toBe(0);
  });

  it('a deployment with one instance sends no document twice if the lease ends while it waits for the answer', async () => {
    const [to, next] = [await listed(null), await listed(null)];
    await reaches((await accepted(to.rnc, {}, other)).encf, 'delivered', other);
    let answer: () => void = () => undefined;
    const answering = new Promise<void>((resolve) => (answer = resolve));
    const asked = new Promise<void>((resolve) => {
      to.answers = [
        async (...all) => {
          resolve();
          await answering;
          await received(...all);
        },
      ];
    });
    const { encf } = await accepted(to.rnc, {}, other);
    await asked;
    const ended = "UPDATE outgoing_documents SET due_at = now() - interval '1 hour' WHERE encf = $1";
    await other.database.query(ended, [encf]);
    // The claim that takes this document comes after the lease ended.
    await reaches((await accepted(next.rnc, {}, other)).encf, 'delivered', other);
    answer();
    await reaches(encf, 'delivered', other);
    expect(to.deliveries.filter((reached) => reached.encf === encf)).toHaveLength(1);
    expect((await delivery(encf, other))?.tries).toBe(1);
  });
});

describe('an answer', () => {
  it('a refusal of the buyer is final', async () => {
    const to = await buyer();
    to.answers = [saying({ motive: 4 })];
    const { encf } = await accepted(to.rnc);
    await reaches(encf, 'refused');
    expect((await acknowledged(encf)).body).toMatchObject({
      receipt_status: 1,
      rejection_code: 4,
      rejection_reason: 'RNC Comprador no corresponde',
      valid: true,
    });
    expect(to.deliveries).toHaveLength(1);
  });

  it('motive 4 is a refusal only while the buyer is listed there; a buyer that moved gets the document', async () => {
    const to = await buyer();
    const next = await BuyerReceiver.start(to.rnc);
    receivers.push(next);
    const notServed = saying({ motive: 4 });
    to.answers = [
      async (...all) => {
        await world.list(to.rnc, next.url);
        await notServed(...all);
      },
    ];
    const { encf } = await accepted(to.rnc);
    await reaches(encf, 'delivered');
    expect([to.deliveries.length, next.deliveries.length, published(encf).includes('refused')]).toEqual([1, 1, false]);
    expect((await acknowledged(encf)).body).toMatchObject({ receipt_status: 0, valid: true });
    next.answers = [
      async (...all) => {
        await world.fault({ operation: 'consultadirectorio', kind: 'http', status: 503, body: 'x' });
        await notServed(...all);
      },
      async (...all) => {
        await world.control('DELETE', 'faults');
        await notServed(...all);
      },
    ];
    const second = await accepted(to.rnc);
    await reaches(second.encf, 'refused');
    expect(next.deliveries.filter((reached) => reached.encf === second.encf)).toHaveLength(2);
  });

  it.each([503, 401])(
    'a valid acknowledgement counts with status %i, and the document is not sent again',
    async (code) => {
      const to = await buyer(true);
      to.token = 'first';
      to.answers = [
        async (res, reached, self) => {
          res.statusCode = code;
          await received(res, reached, self);
        },
      ];
      const { encf } = await accepted(to.rnc);
      await reaches(encf, 'delivered');
      expect((await acknowledged(encf)).body).toMatchObject({ valid: true, receipt_status: 0 });
      expect(to.deliveries).toHaveLength(1);
    },
  );

  it('an acknowledgement counts and can be read while the archive is unreachable, and is archived when it is back', async () => {
    const put = world.archive.put.bind(world.archive);
    const to = await buyer();
    let away = true;
    const spied = jest.spyOn(world.archive, 'put').mockImplementation(async (path, bytes) => {
      if (away && path.includes(`/${to.rnc}E`)) throw new Error('the disk is full');
      return put(path, bytes);
    });
    const { encf } = await accepted(to.rnc);
    await reaches(encf, 'delivered');
    expect((await acknowledged(encf)).body).toMatchObject({ valid: true, receipt_status: 0 });
    const asked = await world.call('GET', `/received-arecf/${encf}/xml?issuer_rnc=${ISSUER}`);
    expect([asked.status, asked.body]).toEqual([200, to.answered[0]?.toString()]);
    const { rows } = await world.database.query<{ xml_path: string }>(
      'SELECT xml_path FROM received_acknowledgements WHERE encf = $1',
      [encf],
    );
    const path = rows[0]?.xml_path as string;
    const isPending = async () => {
      const { stored } = world.instances[0] as Approvals;
      const page = await stored.pageOfStoredFiles({ after: 'received_acknowledgements:0', limit: 1_000 });
      return page.files.find((file) => file.path === path)?.pending;
    };
    expect(await isPending()).toBe(true);
    away = false;
    await until(isPending, (pending) => pending === false);
    expect(await world.archive.get(path)).toEqual(to.answered[0]);
    expect((await world.call('GET', `/received-arecf/${encf}/xml?issuer_rnc=${ISSUER}`)).body).toBe(asked.body);
    expect(to.deliveries).toHaveLength(1);
    spied.mockRestore();
  });

  it('an acknowledgement waits while the database cannot record it, and the document is not sent again', async () => {
    const to = await buyer();
    const renamed = (from: string, into: string) => world.database.query(`ALTER TABLE ${from} RENAME TO ${into}`);
    await renamed('received_acknowledgements', 'acknowledgements_away');
    const { encf } = await accepted(to.rnc);
    try {
      await until(
        async () => to.answered.length,
        (count) => count === 1,
      );
      await until(
        () => failures,
        (seen) => seen.some((text) => text.startsWith('recording an answer')),
      );
    } finally {
      await renamed('acknowledgements_away', 'received_acknowledgements');
    }
    await reaches(encf, 'delivered');
    expect(to.deliveries).toHaveLength(1);
    expect((await acknowledged(encf)).body).toMatchObject({ valid: true, receipt_status: 0 });
  });

  it.each(['31-12-9999 23:59:59', '31-02-2026 10:00:00'])(
    'an acknowledgement with an impossible time (%s) counts, without a time',
    async (at) => {
      const to = await buyer();
      to.answers = [saying({ at })];
      const { encf } = await accepted(to.rnc);
      await reaches(encf, 'delivered');
      expect(to.deliveries).toHaveLength(1);
      const { body } = await acknowledged(encf);
      expect(body).toMatchObject({ valid: true, receipt_status: 0, acknowledged_at: null });
    },
  );

  it('an acknowledgement that can never be recorded counts as a failure, with pauses and the deadline', async () => {
    const to = await buyer();
    const constraint = 'ALTER TABLE received_acknowledgements ADD CONSTRAINT unwritable CHECK (buyer_rnc <> ';
    await world.database.query(`${constraint}'${to.rnc}') NOT VALID`);
    const { encf } = await accepted(to.rnc);
    try {
      const waiting = await reaches(encf, 'unacknowledged');
      expect(waiting?.last_error).toMatch(/^The result cannot be recorded: .*unwritable/);
      await world.database.query('UPDATE outgoing_documents SET deadline_at = now() WHERE encf = $1', [encf]);
      await until(
        async () => {
          await leaseEnds(encf);
          return delivery(encf);
        },
        (seen) => seen?.delivery_status === 'failed',
      );
    } finally {
      await world.database.query('ALTER TABLE received_acknowledgements DROP CONSTRAINT unwritable');
    }
  });

  it.each([429, 503])(
    'the pause of an invalid acknowledgement with status %i is obeyed, and the first retry comes within a minute',
    async (code) => {
      const to = await buyer();
      const unsigned: Answering = async (res, reached, self) => {
        res.writeHead(code, { 'retry-after': '3600', 'content-type': 'text/xml' });
        res.end((await self.acknowledgement(reached)).replace(/<Signature.*<\/Signature>/s, ''));
      };
      to.answers = [unsigned, unsigned];
      const { encf } = await accepted(to.rnc);
      const waiting = await reaches(encf, 'unacknowledged');
      expect(waiting?.last_error).toMatch(/signature/);
      const pause = Date.parse(waiting?.due_at ?? '') - Date.now();
      expect([pause > 30_000, pause <= 60_000]).toEqual([true, true]);
      expect(to.deliveries).toHaveLength(1);
      // The other instance takes it: the first one obeys the pause.
      await leaseEnds(encf);
      const later = await until(
        () => delivery(encf),
        (seen) => Date.parse(seen?.due_at ?? '') - Date.now() > 3_500_000,
      );
      expect(later?.tries).toBe(2);
    },
  );

  it('motive 3 for a repeat counts as delivered after the first acknowledgement was lost', async () => {
    const to = await buyer();
    to.answers = [lost];
    const { encf, text } = await accepted(to.rnc);
    await reaches(encf, 'delivered');
    expect(to.deliveries.map(documentIn)).toEqual([text, text]);
    expect((await acknowledged(encf)).body).toMatchObject({ receipt_status: 1, rejection_code: 3, valid: true });
  });

  const bad: [string, Answering, RegExp | null][] = [
    ['a page', status(200, '<html><body>ok</html>', { 'content-type': 'text/html' }), /cannot be read/],
    ['JSON', status(200, '{"estado":"0","\u0000ñ":1}', { 'content-type': 'application/json' }), /cannot be read/],
    ['cut off', async (res, reached, self) => xml(res, (await self.acknowledgement(reached)).slice(0, 300)), /read/],
    ['no ARECF', status(200, '<ACECF/>', { 'content-type': 'application/xml' }), /its root is "ACECF"/],
    ['nothing', status(200), null],
    ['the page of a 404', status(404, '<html/>'), null],
    ['another number', saying({ encf: 'E310000099999' }), /eNCF is "E310000099999"/],
    ['another issuer', saying({ issuerRnc: '101000001' }), /RNCEmisor/],
    ['another buyer', saying({ buyerRnc: '101000001' }), /RNCComprador/],
    [
      'a changed text',
      async (res, reached, self) =>
        xml(res, (await self.acknowledgement(reached, { motive: 1 })).replace('<Estado>1<', '<Estado>0<')),
      /signature/,
    ],
    [
      'no signature',
      async (res, reached, self) =>
        xml(res, (await self.acknowledgement(reached)).replace(/<Signature.*<\/Signature>/s, '')),
      /signature/,
    ],
  ];
  it.each(bad)(
    'an answer that is %s is kept with the reason, and the same bytes are sent again',
    async (_name, answer, reason) => {
      const to = await buyer();
      to.answers = [answer];
      const { encf, text } = await accepted(to.rnc);
      await reaches(encf, 'delivered');
      await until(
        () => published(encf),
        (seen) => seen.length === 2,
      );
      expect(published(encf)).toEqual(['unacknowledged', 'delivered']);
      expect(to.deliveries.map(documentIn)).toEqual([text, text]);
      const all = (await world.call('GET', `/received-arecf/?issuer_rnc=${ISSUER}&encf=${encf}`)).body;
      const invalid = all.filter((one: { valid: boolean }) => !one.valid);
      expect(invalid).toHaveLength(reason === null ? 0 : 1);
      if (reason !== null) {
        expect(invalid[0]).toMatchObject({ validation_error: expect.stringMatching(reason) });
        const kept = await world.stored(invalid[0].xml_storage_path, invalid[0].xml_checksum);
        expect(Buffer.from(kept)).toEqual(to.answered[0]);
      }
      expect((await acknowledged(encf)).body.valid).toBe(true);
    },
  );

  it('an acknowledgement with line breaks added after signing is valid', async () => {
    const to = await buyer();
    to.answers = [
      async (res, reached, self) =>
        xml(
          res,
          (await self.acknowledgement(reached)).replaceAll(/(<\/?(?:DetalleAcusedeRecibo|RNCEmisor)>)(?=<)/g, '$1\n  '),
        ),
    ];
    const { encf } = await accepted(to.rnc);
    await reaches(encf, 'delivered');
    expect((await acknowledged(encf)).body).toMatchObject({ valid: true, receipt_status: 0 });
  });
});

describe('failing and hostile receivers', () => {
  it('a receiver that hangs gets one document of each instance, and the others are served', async () => {
    const hung = await buyer();
    hung.usually = () => undefined;
    const good = await buyer();
    const stuck = await Promise.all(Array.from({ length: 12 }, () => accepted(hung.rnc)));
    const served = await Promise.all(Array.from({ length: 12 }, () => accepted(good.rnc)));
    const inFlight = 'SELECT 1 FROM outgoing_documents WHERE buyer_rnc = $1 AND claim IS NOT NULL';
    for (const { encf } of served) {
      await reaches(encf, 'delivered');
      expect((await world.database.query(inFlight, [hung.rnc])).rowCount).toBeLessThanOrEqual(2);
    }
    for (const { encf } of stuck) await internal().retryDelivery({ env: 'TesteCF', issuer_rnc: ISSUER, encf });
    hung.usually = received;
    await reaches(stuck[0]?.encf ?? '', 'delivered');
  });

  it('a host that hangs for many buyers uses its own slots only, and recovers for all of them', async () => {
    const shared = await buyer();
    let waiting = 0;
    let most = 0;
    // Each of the two instances gives the host half of its four slots. The end of one request may be noticed after the next ones
    // begin. Without the bound, 40 hang.
    const bound = 20;
    const counted =
      (answer: Answering): Answering =>
      async (res, reached, self) => {
        waiting += 1;
        most = Math.max(most, waiting);
        res.once('close', () => {
          waiting -= 1;
        });
        await answer(res, reached, self);
      };
    shared.usually = counted(() => undefined);
    const clients = Array.from({ length: 40 }, () => String(++rnc));
    for (const client of clients) await world.list(client, `${shared.url}/${client}`);
    const good = await buyer();
    const stuck = await Promise.all(clients.map((client) => accepted(client)));
    const { encf: healthy } = await accepted(good.rnc);
    await reaches(healthy, 'delivered');
    expect(most).toBeLessThan(bound);
    const hosts = await until(
      async () =>
        (
          await world.database.query<{ host: string | null }>(
            'SELECT host FROM outgoing_documents WHERE encf = ANY($1)',
            [stuck.map(({ encf }) => encf)],
          )
        ).rows,
      (rows) => rows.filter(({ host }) => host !== null).length >= clients.length - 4,
    );
    expect(new Set(hosts.map(({ host }) => host).filter(Boolean))).toEqual(new Set([new URL(shared.url).origin]));
    expect(most).toBeLessThan(bound);
    most = 0;
    shared.usually = counted(async (res, reached, self) => {
      const buyerRnc = /base\/(\d+)\//.exec(reached.path)?.[1] ?? '';
      await saying({ buyerRnc })(res, reached, self);
    });
    for (const { encf } of stuck) await reaches(encf, 'delivered');
    expect(most).toBeLessThan(bound);
    const tries = (await Promise.all(stuck.map(({ encf }) => delivery(encf)))).map((one) => one?.tries ?? 0);
    // A delivery that waits for a slot counts no try.
    expect(tries.reduce((sum, count) => sum + count, 0)).toBeLessThan(clients.length + 20);
  });

  it.each([
    ['requests a pause', { 'retry-after': '300' }],
    ['fails', {}],
  ])('other buyers of the same host are served while one buyer %s', async (_, headers) => {
    const shared = await buyer();
    const [bad, good] = [String(++rnc), String(++rnc)];
    for (const client of [bad, good]) await world.list(client, `${shared.url}/${client}`);
    shared.usually = async (res, reached, self) => {
      if (reached.path.includes(`/${bad}/`)) await status(503, 'no certificate', headers)(res, reached, self);
      else await saying({ buyerRnc: good })(res, reached, self);
    };
    const troubled = await Promise.all(Array.from({ length: 4 }, () => accepted(bad)));
    const failed = () => shared.deliveries.filter(({ path }) => path.includes(`/${bad}/`)).length;
    // Each of the two instances pauses immediately, or after three failures.
    await until(
      async () => failed(),
      (count) => count >= ('retry-after' in headers ? 1 : 3),
    );
    for (let one = 0; one < 3; one += 1) await reaches((await accepted(good)).encf, 'delivered');
    const { rows } = await world.database.query<{ status: string }>(
      'SELECT status FROM outgoing_documents WHERE encf = ANY($1)',
      [troubled.map(({ encf }) => encf)],
    );
    expect(rows.map((row) => row.status)).toEqual(Array(4).fill('pending'));
  });

  it('a thousand documents that wait for one host do not delay the documents of others', async () => {
    const database = openDatabase(world.databaseUrl, { max: 4 });
    // A clock of tomorrow keeps these documents from the instances of the other tests.
    const clock = () => new Date(Date.now() + 24 * 3_600_000);
    const store = createOutgoingStore(database, async () => undefined);
    const deliveries = createDeliveryStore(database, 'many-entries', clock);
    const [many, other, attempted] = ['https://many.example', 'https://other.example', [] as (string | null)[]];
    const add = (host: string, first: number, count: number) =>
      world.database.query(
        `INSERT INTO outgoing_documents (kind, recipient, env, issuer_rnc, encf, buyer_rnc, account_id, xml_path, xml_sha256,
           status, created_at, deadline_at, due_at, host)
         SELECT 'delivery', 'TesteCF:' || n, 'TesteCF', $1, 'E31' || n, n, $2, 'x', 'x', 'pending', now(), now() + interval '9 days',
           now() + interval '12 hours' + (n - 7000000000) * interval '1 millisecond', $3 FROM generate_series($4::bigint, $5::bigint) AS n`,
        [ISSUER, ACCOUNT, host, first, first + count - 1],
      );
    await add(many, 7_000_000_001, 1_500);
    await add(other, 7_000_009_999, 1);
    const delivery = async (item: Claimed) => {
      const { host } = item;
      const isOfTest = host === many || host === other;
      const later = { status: item.status, dueAt: new Date(clock().getTime() + 24 * 3_600_000) };
      const end = isOfTest ? ({ status: 'delivered', dueAt: null } as const) : later;
      if (isOfTest) attempted.push(host);
      const ending = { ...endingWith({ outcome: 'test', health: 'healthy', host, ...end }), acknowledgement: null };
      await deliveries.conclude(item, ending as DeliveryEnding);
      return ending;
    };
    const background = createSending(
      {
        store,
        send: { delivery, authority: delivery, issuer: delivery },
        recipientCircuits: createCircuitBreakers({ options: {}, elapsed: () => performance.now() }),
        hostCircuits: { waiting: () => new Map() },
        report: { failed: (what: string) => attempted.push(what), gaveUp: () => undefined },
        clock,
      },
      {
        ...{
          leaseMs: 15_000,
          concurrency: 4,
          maxInFlight: 128,
          slowMs: 60_000,
          toAuthority: 1,
          perBuyer: 8,
          perHost: 2,
        },
        idleMs: 20,
      },
    );
    try {
      background.start();
      const seen = await until(
        () => [...attempted],
        (all) => all.includes(other),
      );
      expect(seen.indexOf(other)).toBeLessThan(200);
    } finally {
      await background.stop();
      await database.close();
      await world.database.query('DELETE FROM outgoing_documents WHERE host = ANY($1)', [[many, other]]);
    }
  });

  it('a receiver that refuses the login of one issuer serves others, and refuses once for each instance', async () => {
    const [to, barred, signer] = [await buyer(true), '101000063', issueCertificate('00300000015')];
    Object.assign(to, { token: 'theirs', bars: signer });
    await world.register(barred, { signer });
    const refused = await Promise.all(Array.from({ length: 6 }, () => accepted(to.rnc, { issuer_rnc: barred })));
    const tries = async () => {
      const all = await Promise.all(refused.map((one) => delivery(one.encf)));
      return all.reduce((sum, one) => sum + (one?.tries ?? 0), 0);
    };
    await until(tries, (sum) => sum >= 6);
    const { encf } = await accepted(to.rnc);
    expect((await reaches(encf, 'delivered'))?.tries).toBe(1);
    // Each instance was refused once, and logged in once for the other issuer.
    expect(to.seeds).toBeLessThan(12);
    expect(await delivery(refused[0]?.encf ?? '')).toMatchObject({
      delivery_status: 'pending',
      last_error: expect.stringContaining('no token'),
    });
    const numbers = refused.map((one) => one.encf);
    await world.database.query('DELETE FROM outgoing_documents WHERE encf = ANY($1)', [numbers]);
  });

  it('a redirect is not followed, and no token is sent elsewhere', async () => {
    const elsewhere = await buyer();
    const to = await buyer(true);
    to.token = 'theirs';
    to.answers = [status(307, '', { location: `${elsewhere.url}/fe/recepcion/api/ecf` })];
    const { encf } = await accepted(to.rnc);
    await reaches(encf, 'delivered');
    expect(elsewhere.reached).toEqual([]);
    expect(to.deliveries.map(({ headers }) => headers.authorization)).toEqual(['Bearer theirs', 'Bearer theirs']);
  });

  it('an answer without end is cut off', async () => {
    const to = await buyer();
    let written = 0;
    to.answers = [
      (res) => {
        const block = Buffer.alloc(65_536, 32);
        const more = () => {
          while (written < 1e9 && !res.destroyed) {
            written += block.length;
            if (!res.write(block)) return void res.once('drain', more);
          }
        };
        more();
      },
    ];
    const { encf } = await accepted(to.rnc);
    await reaches(encf, 'delivered');
    expect(written).toBeLessThan(64e6);
  });

  it('a receiver that requests a pause beyond the deadline gets the document again before it', async () => {
    const to = await buyer();
    to.usually = status(503);
    const { encf } = await accepted(to.rnc);
    const reached = (times: number) =>
      until(
        async () => to.reached.length,
        (count) => count >= times,
      );
    await reached(1);
    await world.database.query(
      "UPDATE outgoing_documents SET deadline_at = now() + interval '10 minutes' WHERE encf = $1",
      [encf],
    );
    // An attempt in flight does not know the new deadline.
    await reached(to.reached.length + 2);
    to.usually = (res) => void res.writeHead(503, { 'retry-after': '86400000' }).end();
    await reached(to.reached.length + 3);
    expect((await delivery(encf))?.delivery_status).toBe('pending');
    to.usually = received;
    await reaches(encf, 'delivered');
  });

  it('a receiver that fails gets the document again, until the deadline', async () => {
    const to = await buyer();
    to.usually = status(503);
    const { encf } = await accepted(to.rnc);
    await until(
      () => delivery(encf),
      (seen) => (seen?.tries ?? 0) >= 2,
    );
    expect((await delivery(encf))?.delivery_status).toBe('pending');
    await world.database.query('UPDATE outgoing_documents SET deadline_at = now() WHERE encf = $1', [encf]);
    await until(
      async () => {
        await leaseEnds(encf);
        return delivery(encf);
      },
      (seen) => seen?.delivery_status === 'failed',
    );
  });

  it('a receiver that fails is not probed for each of its documents: at the deadline all have failed', async () => {
    const dead = await buyer();
    dead.usually = status(503);
    const neighbour = String(++rnc);
    await world.list(neighbour, `${dead.url}/${neighbour}`);
    const waiting = await Promise.all(
      Array.from({ length: 40 }, (_, n) => accepted(n % 2 === 0 ? dead.rnc : neighbour)),
    );
    const numbers = waiting.map(({ encf }) => encf);
    await until(
      async () => dead.reached.length,
      (count) => count >= 6,
    );
    await world.database.query('UPDATE outgoing_documents SET deadline_at = now() WHERE encf = ANY($1)', [numbers]);
    for (const encf of numbers) await reaches(encf, 'failed');
    const left = (await Promise.all(numbers.map((encf) => delivery(encf)))).filter((one) => one?.tries === 0);
    expect(left.length).toBeGreaterThan(0);
    expect(left[0]?.last_error).toMatch(/got no calls until the deadline/);
    await until(
      () => ended(numbers.at(-1) ?? '').at(-1),
      (last) => last === true,
    );
    dead.usually = received;
    const last = { env: 'TesteCF', issuer_rnc: ISSUER, encf: numbers.at(-1) ?? '' } as const;
    expect(await internal().retryDelivery(last)).toMatchObject({ delivery_status: 'pending' });
  });
});

describe('addresses of receivers', () => {
  it('an address of a receiver is refused if it is private, loopback, or not https', async () => {
    const guarded = await World.start({ settings: { ...SETTINGS, ALLOW_PRIVATE_ADDRESSES: 'false' } });
    try {
      const to = await BuyerReceiver.start('130000001');
      receivers.push(to);
      const addresses: [string, RegExp][] = [
        [to.url, /address is not https but http:/],
        [`https://127.0.0.1:${to.port}`, /is not an allowed address/],
        [`https://localhost:${to.port}`, /localhost has no allowed address/],
        [`https://[::1]:${to.port}`, /is not an allowed address/],
        ['https://10.0.0.1', /is not an allowed address/],
        ['https://169.254.169.254/latest', /is not an allowed address/],
        ['https://user:pass@example.com', /address carries credentials/],
      ];
      const refused = addresses.map(async ([address, words], index) => {
        const name = String(131000000 + index);
        await guarded.list(name, address);
        const { encf } = await accepted(name, {}, guarded);
        const seen = await until(
          () => delivery(encf, guarded),
          (one) => (one?.last_error ?? null) !== null,
        );
        expect([address, seen?.delivery_status, seen?.last_error]).toEqual([
          address,
          'pending',
          expect.stringMatching(words),
        ]);
      });
      await Promise.all(refused);
      expect([to.reached, to.connections]).toEqual([[], 0]);
    } finally {
      await guarded.stop();
    }
  });
});

describe('an instance that crashes', () => {
  /** Keeps the deliveries of earlier tests from being the attempt that crashes. */
  const othersRest = () =>
    until(
      async () => {
        await world.database.query(
          "UPDATE outgoing_documents SET due_at = now() + interval '1 hour' WHERE due_at IS NOT NULL AND claim IS NULL",
        );
        return (
          await world.database.query('SELECT id FROM outgoing_documents WHERE claim IS NOT NULL AND due_at IS NOT NULL')
        ).rows;
      },
      (claimed) => claimed.length === 0,
    );

  it.each(['claimed', 'answered', 'recorded'])(
    'another instance finishes the work of one that crashes at the step "%s"',
    async (step) => {
      await othersRest();
      const to = await buyer();
      dying = step;
      const { encf } = await accepted(to.rnc);
      await until(
        () => dying,
        (seen) => seen === null,
      );
      if (step !== 'recorded') {
        await until(
          () => delivery(encf),
          (seen) => seen?.tries === 1,
        );
        await leaseEnds(encf);
      }
      await reaches(encf, 'delivered');
      expect(to.ledger.size).toBe(1);
      expect(to.deliveries.length).toBe(step === 'claimed' || step === 'recorded' ? 1 : 2);
      await until(
        () => published(encf),
        (seen) => seen.length > 0,
      );
      expect(published(encf)).toEqual(['delivered']);
    },
  );
});

describe('the interface of acknowledgements', () => {
  const get = (address: string, options = {}) => world.call('GET', address, undefined, options);

  it('acknowledgements are listed with filters, newest first', async () => {
    const to = await buyer();
    to.answers = [received, saying({ motive: 2 })];
    const first = await accepted(to.rnc);
    await reaches(first.encf, 'delivered');
    const second = await accepted(to.rnc);
    await reaches(second.encf, 'refused');
    const list = await get(`/received-arecf?issuer_rnc=${ISSUER}&limit=2`);
    expect(list.body.map(({ encf }: { encf: string }) => encf)).toEqual([second.encf, first.encf]);
    const page = await get(`/received-arecf/?issuer_rnc=${ISSUER}&limit=1&offset=1`);
    expect(page.body.map(({ encf }: { encf: string }) => encf)).toEqual([first.encf]);
    for (const receipt_status of [0, 1]) {
      const filtered = await get(`/received-arecf/?issuer_rnc=${ISSUER}&receipt_status=${receipt_status}&limit=100`);
      expect(filtered.body.length).toBeGreaterThan(0);
      expect(filtered.body.every((one: { receipt_status: number }) => one.receipt_status === receipt_status)).toBe(
        true,
      );
    }
    expect((await get(`/received-arecf/?issuer_rnc=${ISSUER}&encf=e319999999999`)).body).toEqual([]);
    expect((await get(`/received-arecf/?issuer_rnc=${ISSUER}&offset=100000`)).body).toEqual([]);
    expect((await get(`/received-arecf/?issuer_rnc=${ISSUER}`, { env: 'CerteCF' })).body).toEqual([]);
  });

  it.each([
    ['/received-arecf/', ['query', 'issuer_rnc']],
    ['/received-arecf/?issuer_rnc=12', ['query', 'issuer_rnc']],
    [`/received-arecf/?issuer_rnc=${ISSUER}&encf=E1`, ['query', 'encf']],
    [`/received-arecf/?issuer_rnc=${ISSUER}&receipt_status=2`, ['query', 'receipt_status']],
    [`/received-arecf/?issuer_rnc=${ISSUER}&limit=101`, ['query', 'limit']],
    [`/received-arecf/?issuer_rnc=${ISSUER}&offset=-1`, ['query', 'offset']],
    [`/received-arecf/nothing?issuer_rnc=${ISSUER}`, ['path', 'encf']],
    ['/received-arecf/E310000000001', ['query', 'issuer_rnc']],
    ['/received-arecf/E310000000001/xml', ['query', 'issuer_rnc']],
  ])('the query %s gets 422', async (address, loc) => {
    const answer = await get(address);
    expect(answer).toMatchObject({ status: 422, body: { detail: [{ loc }] } });
  });

  it.each([
    `/received-arecf/E319999999999?issuer_rnc=${ISSUER}`,
    `/received-arecf/E319999999999/xml?issuer_rnc=${ISSUER}`,
    '/received-arecf/?issuer_rnc=101000001',
  ])('the query %s gets 404', async (address) => {
    expect((await get(address)).status).toBe(404);
  });

  it('acknowledgements of another account get 404', async () => {
    const to = await buyer();
    const { encf } = await accepted(to.rnc);
    await reaches(encf, 'delivered');
    for (const address of [`/received-arecf/?issuer_rnc=${ISSUER}`, `/received-arecf/${encf}/xml?issuer_rnc=${ISSUER}`])
      expect((await get(address, { account: `not-${ACCOUNT}` })).status).toBe(404);
  });

  it('acknowledgements and deliveries are counted in metrics', async () => {
    const text = await world.metrics.render();
    expect(text).toMatch(/ecf_delivery_status_total\{env="TesteCF",status="delivered"\} \d+/);
    expect(text).toMatch(/ecf_delivery_seconds_count\{env="TesteCF",status="delivered"\} [1-9]/);
    expect(text).toMatch(/ecf_received_acknowledgements_total\{env="TesteCF",receipt_status="0",valid="true"\} \d+/);
    expect(text).toMatch(/ecf_delivery_attempt_seconds_count\{env="TesteCF",outcome="duplicate"\} \d+/);
  });
});

describe('a rebuild of read models', () => {
  it('a rebuild of read models gets the present state of every delivery, page by page', async () => {
    const owner = (world.instances[0] as Approvals).outcomes;
    const pages: DeliveryChanged[] = [];
    for (let after: number | null = 0; after !== null; ) {
      const page: { deliveries: DeliveryChanged[]; next: number | null } = await owner.pageOfDeliveries({
        after,
        limit: 3,
      });
      pages.push(...page.deliveries);
      after = page.next;
    }
    expect(pages.length).toBeGreaterThan(3);
    expect(new Set(pages.map(({ encf }) => encf)).size).toBe(pages.length);
    // Published through the outbox, so a moment later.
    for (const one of pages.filter(({ final }) => final))
      expect(
        await until(
          async () => changes.findLast(({ encf }) => encf === one.encf),
          (last) => last?.revision === one.revision,
        ),
      ).toEqual(one);
    expect(await owner.pageOfDecisions({ after: 1_000, limit: 3 })).toEqual({ decisions: [], next: null });
  });
});

it('due times beyond the longest pause are brought back to it', async () => {
  const now = new Date();
  const far = new Date(now.getTime() + 92 * 86_400_000);
  const hours = (count: number) => new Date(now.getTime() + count * 3_600_000);
  const dueOf = async (encf: string) =>
    (await world.database.query<{ due_at: Date }>('SELECT due_at FROM outgoing_documents WHERE encf = $1', [encf]))
      .rows[0]?.due_at;
  for (const [encf, status] of [
    ['E319999999998', 'no_receiver'],
    ['E319999999999', 'pending'],
  ])
    await world.database.query(
      `INSERT INTO outgoing_documents (kind, recipient, env, issuer_rnc, encf, buyer_rnc, account_id, xml_path, xml_sha256,
         status, created_at, deadline_at, due_at)
        VALUES ('delivery', 'x', 'TesteCF', '101010101', $1, '202020202', 'account-1', 'x', 'x', $2, $3, $4, $4)`,
      [encf, status, now, far],
    );
  await limitDueTimes(world.database, DUE_TIMES);
  const late = Date.now() - now.getTime();
  expect((await dueOf('E319999999999'))?.getTime()).toBeLessThanOrEqual(hours(1).getTime() + late);
  expect((await dueOf('E319999999998'))?.getTime()).toBeLessThanOrEqual(hours(41).getTime() + late);
  await world.database.query("DELETE FROM outgoing_documents WHERE issuer_rnc = '101010101'");
});
