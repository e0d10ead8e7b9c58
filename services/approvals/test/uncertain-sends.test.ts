import { renameSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { camelCaseRows, openDatabase } from '@ecf/postgres';
import { until } from '@ecf/test-support/until';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Unwritable } from '../src/errors.js';
import { createApprovalStore } from '../src/given/approvals.postgres.js';
import type { Exchange } from '../src/given/ports.js';
import { createSendToAuthority, createSendToIssuer } from '../src/given/send.js';
import type { Approvals } from '../src/index.js';
import { endingWith } from '../src/sending/endings.js';
import type { Claimed, Ending } from '../src/sending/outgoing.js';
import { claimedFrom, type OutgoingRow } from '../src/sending/outgoing.postgres.js';
import { BUYER, ISSUER, order, receivedInvoice, World } from './support/world.js';

let world: World;
let issuer: Issuer;

/** An issuer's receiver: keeps the bytes of every request and gives the answers of a test. */
interface Issuer {
  url: string;
  requests: { method: string; path: string; headers: IncomingMessage['headers']; body: string }[];
  answers: Answering[];
  /** Its answers by the end of the path. */
  always: Record<string, Answering>;
  server: Server;
}

interface Answering {
  status: number;
  body: string;
  headers?: Record<string, string>;
  /** Closes the connection without an answer. */
  cut?: boolean;
  delayMs?: number;
  /** Runs before it answers. */
  meanwhile?: () => Promise<unknown>;
}

async function startIssuer(): Promise<Issuer> {
  const started: Issuer = { url: '', requests: [], answers: [], always: {}, server: createServer() };
  started.server.on('request', (req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const { method = '', url = '', headers } = req;
      started.requests.push({ method, path: url, headers, body: Buffer.concat(chunks).toString('latin1') });
      const always = Object.entries(started.always).find(([end]) => url.endsWith(end))?.[1];
      const answer = always ??
        started.answers.shift() ?? { status: 200, body: '{"codigo":"OK","estado":"x","mensaje":[]}' };
      if (answer.cut) return void res.destroy();
      const send = () =>
        res.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers }).end(answer.body);
      setTimeout(() => void (answer.meanwhile?.() ?? Promise.resolve()).then(send), answer.delayMs ?? 0);
    });
  });
  await new Promise<void>((resolve) => started.server.listen(0, '127.0.0.1', resolve));
  started.url = `http://127.0.0.1:${(started.server.address() as AddressInfo).port}/base`;
  return started;
}

beforeAll(async () => {
  world = await World.start({ settings: { APPROVAL_ISSUER_WAIT_MS: '1500' }, instances: 2 });
  issuer = await startIssuer();
});
afterAll(async () => {
  await world.stop();
  issuer.server.closeAllConnections();
  await new Promise((resolve) => issuer.server.close(resolve));
});
afterEach(async () => {
  await world.control('DELETE', 'faults');
  issuer.requests.length = 0;
  issuer.answers.length = 0;
  issuer.always = {};
  await world.list(ISSUER, issuer.url);
});

const post = (body: unknown) => world.call('POST', '/acecf/', body);
const settled = (id: number, holds: (seen: Record<string, unknown>) => boolean) =>
  until(async () => (await world.call('GET', `/acecf/${id}`)).body, holds);
const statuses = (encf: string) =>
  world.published
    .filter(({ data }) => data.encf === encf && data.direction === 'given')
    .map(({ data }) => data.approval_status);

/** The relay publishes an event up to its spacing after the commit. */
const published = (encf: string, count: number) =>
  until(
    () => statuses(encf),
    (seen) => seen.length >= count,
  );

/** The operations of the administration. */
const operations = () => (world.instances[0] as Approvals).internal;
const retry = (id: number) => operations().retryApproval({ id });

/** The due time at the issuer. */
async function due(id: number): Promise<Date | null> {
  const sql = "SELECT due_at FROM outgoing_documents WHERE approval_id = $1 AND kind = 'issuer'";
  return (await world.database.query<{ due_at: Date | null }>(sql, [id])).rows[0]?.due_at ?? null;
}

/** Moves the request to send back by `hours`; it is due at the issuer now. */
const later = (id: number, hours: number) =>
  world.database.query(
    `UPDATE outgoing_documents SET due_at = now(), deadline_at = deadline_at - $2 * interval '1 hour'
      WHERE approval_id = $1 AND kind = 'issuer'`,
    [id, hours],
  );

/** The authority's answer where a decision stands already. */
const BEFORE = (encf: string) => ({
  codigo: '02',
  estado: 'Aprobacion Comercial Rechazada.',
  mensajes: [
    { codigo: '02', valor: `La aprobación comercial del e-CF ${encf} ya habia sido cargada y aceptada previamente` },
  ],
});

const decided = (seen: Record<string, unknown>) =>
  ['Aceptado', 'Rechazado'].includes(String(seen.authority_submission_status));

describe('the authority', () => {
  beforeAll(() => world.list(ISSUER, issuer.url));

  it.each(['timeout-after', 'reset-after'])(
    'the same bytes are sent again after a lost answer of the authority (%s), and are accepted',
    async (kind) => {
      const encf = await world.invoice();
      await world.fault({ kind, times: 1 });
      const { status, body } = await post(order(encf));
      expect([status, body]).toMatchObject([
        201,
        { authority_submission_status: 'submitted', sent_to_authority: true, issuer_delivery_status: 'delivered' },
      ]);
      const after = await settled(body.id, decided);
      expect(after).toMatchObject({
        authority_submission_status: 'Aceptado',
        authority_response: expect.stringContaining('previamente'),
      });
      const sent = await world.submissions(encf);
      expect(sent.map(({ sha256, effective }) => [sha256, effective])).toEqual([
        [body.xml_checksum, true],
        [body.xml_checksum, false],
      ]);
      expect(await published(encf, 1)).toEqual(['approved']);
      expect((await post(order(encf))).status).toBe(409);
    },
  );

  it.each([
    { kind: 'reset', times: 2 },
    { kind: 'http', status: 503, body: 'busy', times: 2 },
    { kind: 'http', status: 400, body: '<html>ERROR</html>', times: 1 },
    { kind: 'http', status: 401, body: '', times: 1 },
    {
      kind: 'verdict',
      times: 1,
      verdict: {
        codigo: '02',
        estado: 'Aprobacion Comercial Rechazada.',
        mensajes: [
          { codigo: '02', valor: 'No fue posible procesar la Aprobación comercial. Favor intentar nuevamente' },
        ],
      },
    },
  ])('an approval is sent again after an answer of the authority without a decision: %j', async (fault) => {
    const encf = await world.invoice();
    await world.fault(fault);
    const { body } = await post(order(encf));
    const after = await settled(body.id, decided);
    expect(after.authority_submission_status).toBe('Aceptado');
    expect((await world.submissions(encf)).filter(({ effective }) => effective)).toHaveLength(1);
  });

  it('a decision that the authority has already refuses an approval that never left', async () => {
    const encf = await world.invoice();
    // Neither the first token nor its replacement was accepted.
    await world.fault({ kind: 'http', status: 401, body: '', times: 2 });
    await world.fault({ kind: 'verdict', verdict: BEFORE(encf) });
    const { body } = await post(order(encf));
    expect(body).toMatchObject({ sent_to_authority: false });
    const after = await settled(body.id, decided);
    expect(after).toMatchObject({
      authority_submission_status: 'Rechazado',
      authority_response: expect.stringContaining('previamente'),
    });
  });

  it('a refused login at the authority causes `failed`, and sending continues', async () => {
    const encf = await world.invoice();
    await world.fault({ kind: 'http', status: 401, body: '' });
    const { body } = await post(order(encf));
    const waiting = await settled(body.id, (seen) => seen.authority_submission_status === 'failed');
    expect(waiting).toMatchObject({ sent_to_authority: false, sent_to_authority_at: null });
    expect((await post(order(encf))).status).toBe(409);
    await world.control('DELETE', 'faults');
    expect(await settled(body.id, decided)).toMatchObject({ authority_submission_status: 'Aceptado' });
    expect(await published(encf, 1)).toEqual(['approved']);
  });

  it('an approval whose bytes cannot be read is `failed` without a call, and is sent when they can be read', async () => {
    const encf = await world.invoice();
    const local = await world.call('POST', '/acecf/?submit_to_authority=false', order(encf));
    const file = path.join(world.folder, 'xml', local.body.xml_storage_path);
    const pending = () => world.database.query('SELECT 1 FROM pending_document');
    await until(pending, ({ rowCount }) => rowCount === 0);
    renameSync(file, `${file}.away`);
    const { body } = await post(order(encf));
    expect(body).toMatchObject({ id: local.body.id, sent_to_authority: false });
    // It is tried again by then, and is `submitted` while a try is in flight.
    await settled(body.id, (seen) => seen.authority_submission_status === 'failed');
    expect(await world.submissions(encf)).toEqual([]);
    renameSync(`${file}.away`, file);
    const after = await settled(body.id, (seen) => decided(seen) && seen.issuer_delivery_status === 'delivered');
    expect(after).toMatchObject({ authority_submission_status: 'Aceptado', sent_to_authority: true });
  });

  it('a decision that the authority has already refuses the first send of an approval', async () => {
    const encf = await world.invoice();
    await world.fault({ kind: 'verdict', times: 1, verdict: BEFORE(encf) });
    expect((await post(order(encf))).body).toMatchObject({ authority_submission_status: 'Rechazado' });
  });

  it('a refusal of the authority makes the invoice pending again, and the same decision is then sent to the authority only', async () => {
    const encf = await world.invoice('31', { at: ['issued', 'received'] });
    const first = await post(order(encf));
    expect(first.body).toMatchObject({
      authority_submission_status: 'Rechazado',
      issuer_delivery_status: 'delivered',
      authority_response: expect.stringContaining('Factura no encontrada'),
    });
    expect(await published(encf, 2)).toEqual(['approved', 'pending']);
    const events = world.published.filter(({ data }) => data.encf === encf && data.direction === 'given');
    expect(events.map(({ data }) => data.refused_by_authority)).toEqual([undefined, true]);
    const other = await post(order(encf, { approval_status: 2, rejection_code: 1 }));
    expect([other.status, other.body.detail]).toEqual([409, expect.stringContaining(`id ${first.body.id}`)]);
    await world.accept(encf);
    issuer.requests.length = 0;
    const again = await post(order(encf));
    expect([again.status, again.body]).toMatchObject([
      201,
      {
        authority_submission_status: 'Aceptado',
        issuer_delivery_status: null,
        warnings: [expect.stringContaining('authority alone')],
      },
    ]);
    expect(again.body.id).not.toBe(first.body.id);
    expect(issuer.requests).toEqual([]);
    expect(await published(encf, 3)).toEqual(['approved', 'pending', 'approved']);
  });

  it('the later decision is sent to the issuer too if the authority and then the issuer refused the first one', async () => {
    const encf = await world.invoice('31', { at: ['issued', 'received'] });
    issuer.answers.push(...Array.from({ length: 50 }, () => ({ status: 503, body: 'busy' })));
    const first = await post(order(encf));
    expect(first.body).toMatchObject({ authority_submission_status: 'Rechazado', issuer_delivery_status: 'pending' });
    await world.accept(encf);
    const again = await post(order(encf));
    expect(again.body).toMatchObject({ authority_submission_status: 'Aceptado', issuer_delivery_status: null });
    issuer.answers.splice(0, 50, { status: 400, body: '{"codigo":"2","estado":"x","mensaje":["no"]}' });
    await settled(first.body.id, (seen) => seen.issuer_delivery_status === 'refused');
    await settled(again.body.id, (seen) => seen.issuer_delivery_status === 'delivered');
  });

  it('another decision is allowed if the authority refuses an approval that the issuer has not received', async () => {
    await world.list(ISSUER, null);
    const encf = await world.invoice('31', { at: ['issued', 'received'] });
    const first = await post(order(encf));
    expect(first.body).toMatchObject({
      authority_submission_status: 'Rechazado',
      issuer_delivery_status: 'no_receiver',
    });
    await world.accept(encf);
    await world.list(ISSUER, issuer.url);
    const other = await post(order(encf, { approval_status: 2, rejection_code: 1 }));
    expect([other.status, other.body]).toMatchObject([
      201,
      { authority_submission_status: 'Aceptado', issuer_delivery_status: 'delivered' },
    ]);
    // The first instance looks for no receiver and sends nothing there.
    expect(await due(first.body.id)).toBeNull();
    await expect(retry(first.body.id)).rejects.toMatchObject({
      status: 409,
      message: expect.stringContaining('refused'),
    });
    expect(issuer.requests).toHaveLength(1);
  });

  it('an approval gets 503 and is not recorded if the authority is unreachable before it is signed', async () => {
    const encf = await world.invoice();
    const rnc = '133333336';
    // Another certificate, so that no token is cached.
    await world.register(rnc, { signer: (await import('./support/world.js')).issueCertificate('00300000003') });
    await world.control('POST', 'faults', { operation: 'autenticacion', kind: 'down' });
    const { status, headers, body } = await post(order(encf, { receiver_rnc: rnc }));
    expect([status, body.code, headers.get('retry-after')]).toEqual([503, 'authority_unreachable', expect.any(String)]);
    await world.control('DELETE', 'faults');
    expect((await world.call('GET', `/acecf?receiver_rnc=${rnc}`)).body).toEqual([]);
  });

  it('an approval in CerteCF is accepted without a directory', async () => {
    const encf = await world.invoice('31', { at: ['issued', 'received'], env: 'CerteCF' });
    const { status, body } = await post(order(encf, { authority_environment: 'CerteCF' }));
    expect([status, body]).toMatchObject([
      201,
      { authority_environment: 'CerteCF', issuer_delivery_status: 'no_receiver' },
    ]);
    expect((await world.call('GET', `/acecf?receiver_rnc=${BUYER}`, undefined, { env: 'CerteCF' })).body).toMatchObject(
      [{ id: body.id }],
    );
  });
});

describe('the issuer of the e-CF', () => {
  it('the issuer gets a multipart with the right file name at the standard path under its base address', async () => {
    const encf = await world.invoice();
    const { body } = await post(order(encf));
    expect(body.issuer_delivery_status).toBe('delivered');
    const [request] = issuer.requests;
    expect([request?.method, request?.path]).toEqual(['POST', '/base/fe/aprobacioncomercial/api/ecf']);
    expect(request?.headers.authorization).toBeUndefined();
    expect(request?.body).toContain(`name="xml"; filename="${BUYER}${encf}.xml"`);
    const xml = (await world.call('GET', `/acecf/${body.id}/xml`)).body;
    expect(request?.body).toContain(Buffer.from(xml, 'utf8').toString('latin1'));
  });

  it('an issuer that offers authentication gets a token from one login for several approvals', async () => {
    await world.list(ISSUER, issuer.url, `${world.simulator.url}/testecf/emisorreceptor`);
    for (let i = 0; i < 2; i++) await post(order(await world.invoice()));
    const tokens = issuer.requests.map(({ headers }) => headers.authorization);
    expect(tokens).toEqual([expect.stringMatching(/^Bearer \S+$/), tokens[0]]);
    issuer.answers.push({ status: 401, body: '' });
    const { body } = await post(order(await world.invoice()));
    expect(body.issuer_delivery_status).toBe('delivered');
    expect(issuer.requests.at(-1)?.headers.authorization).not.toBe(tokens[0]);
  });

  it('an issuer without receiver is looked up again', async () => {
    await world.list(ISSUER, null);
    const { body } = await post(order(await world.invoice()));
    expect(body).toMatchObject({ issuer_delivery_status: 'no_receiver', sent_to_issuer: false });
    const next = ((await due(body.id))?.getTime() ?? 0) - Date.now();
    expect([next > 40 * 60_000, next <= 75 * 60_000]).toEqual([true, true]);
    await world.list(ISSUER, issuer.url);
    await later(body.id, 1);
    await settled(body.id, (seen) => seen.issuer_delivery_status === 'delivered');
    expect(issuer.requests).toHaveLength(1);
    // A look-up without result counts as a send that never left.
    const { rows } = await world.database.query(
      "SELECT outcome FROM approval_exchanges WHERE approval_id = $1 AND target = 'issuer' ORDER BY id",
      [body.id],
    );
    expect(rows).toEqual([
      { outcome: expect.stringMatching(/^not_sent:the directory names no/) },
      { outcome: 'verdict' },
    ]);
    await expect(retry(body.id)).rejects.toMatchObject({
      status: 409,
      message: expect.stringContaining('the issuer has it'),
    });
  });

  it('an issuer without receiver at the deadline is not looked up again until an operator retries', async () => {
    const undelivered = async (id: number) => {
      const filter = { settled: 'false', undelivered: 'true', after: id - 1, limit: 1 } as const;
      return (await operations().listUndecided(filter)).approvals.find((one) => one.id === id);
    };
    await world.list(ISSUER, null);
    const { body } = await post(order(await world.invoice()));
    await later(body.id, 72);
    await until(
      () => due(body.id),
      (seen) => seen === null,
    );
    expect(await undelivered(body.id)).toMatchObject({
      issuer_delivery_status: 'no_receiver',
      issuer_tries: 2,
      authority_submission_status: 'Aceptado',
    });
    // Still no receiver: it starts again with a short pause and a new deadline.
    expect(await retry(body.id)).toMatchObject({ issuer_delivery_status: 'pending' });
    await settled(body.id, (seen) => seen.issuer_delivery_status === 'no_receiver');
    expect(((await due(body.id))?.getTime() ?? 0) - Date.now()).toBeLessThanOrEqual(75 * 60_000);
    await world.list(ISSUER, issuer.url);
    issuer.answers.push({ status: 400, body: '{"codigo":"2","estado":"x","mensaje":["Factura no encontrada"]}' });
    await retry(body.id);
    await settled(body.id, (seen) => seen.issuer_delivery_status === 'refused');
    expect(await undelivered(body.id)).toMatchObject({ issuer_delivery_error: 'Factura no encontrada' });
    await retry(body.id);
    await settled(body.id, (seen) => seen.issuer_delivery_status === 'delivered');
    expect(await undelivered(body.id)).toBeUndefined();
    expect(issuer.requests).toHaveLength(2);
  });

  it('an operator can retry an approval that failed at its issuer, and no local record', async () => {
    const { body } = await post(order(await world.invoice()));
    await world.database.query(
      `UPDATE outgoing_documents SET status = 'failed' WHERE approval_id = $1 AND kind = 'issuer'`,
      [body.id],
    );
    await retry(body.id);
    await settled(body.id, (seen) => seen.issuer_delivery_status === 'delivered');
    const local = await world.call('POST', '/acecf/?submit_to_authority=false', order(await world.invoice()));
    await expect(retry(local.body.id)).rejects.toMatchObject({
      status: 409,
      message: expect.stringContaining('local'),
    });
    await expect(retry(99_999_999)).rejects.toMatchObject({ status: 404, code: 'not_found' });
  });

  it('an issuer that refuses gets no further copy, its text is kept, and each refusal is published', async () => {
    const refusal = {
      status: 400,
      body: '{"codigo":"Error","estado":"Rechazada","mensaje":["Factura no encontrada"]}',
    };
    issuer.answers.push(refusal);
    const encf = await world.invoice();
    const { body } = await post(order(encf));
    expect(body).toMatchObject({
      authority_submission_status: 'Aceptado',
      issuer_delivery_status: 'refused',
      issuer_delivery_error: 'Factura no encontrada',
      sent_to_issuer: true,
    });
    issuer.answers.push(refusal);
    await retry(body.id);
    // The decision stands at the authority.
    expect(await published(encf, 3)).toEqual(['approved', 'approved', 'approved']);
    const events = world.published.filter(({ data }) => data.encf === encf && data.direction === 'given');
    expect(events.map(({ data }) => [data.revision, data.refused_by_issuer])).toEqual([
      [1, undefined],
      [2, true],
      [3, true],
    ]);
  });

  it.each([
    ['nothing', '', 'The issuer refused it.'],
    ['a text', 'Rechazado: monto no coincide', 'Rechazado: monto no coincide'],
    ['a JSON text', '"Monto no coincide"', 'Monto no coincide'],
  ])('an issuer that refuses with %s in its body gets no further copy', async (_, body, words) => {
    issuer.answers.push({ status: 400, body, headers: { 'content-type': 'text/plain' } });
    const { body: record } = await post(order(await world.invoice()));
    expect(record).toMatchObject({ issuer_delivery_status: 'refused', issuer_delivery_error: words });
    expect(issuer.requests).toHaveLength(1);
  });

  it('an issuer that moved gets the approval at its new address after the old one refused it', async () => {
    const next = await startIssuer();
    try {
      const meanwhile = () => world.list(ISSUER, next.url);
      issuer.answers.push({ status: 400, body: '{"codigo":"2","mensaje":["No es de esta casa"]}', meanwhile });
      const { body } = await post(order(await world.invoice()));
      const after = await settled(body.id, (seen) => seen.issuer_delivery_status !== 'pending');
      expect(after).toMatchObject({ issuer_delivery_status: 'delivered', issuer_delivery_error: null });
      expect([issuer.requests.length, next.requests.length]).toEqual([1, 1]);
    } finally {
      next.server.closeAllConnections();
      await new Promise((resolve) => next.server.close(resolve));
    }
  });

  it.each([
    { status: 503, body: 'busy' },
    { status: 404, body: '<html></html>' },
    { status: 302, body: '', headers: { location: 'http://127.0.0.1:1/' } },
    { status: 200, body: '<html><body>welcome</body></html>' },
  ])('an approval is sent again after an answer of the issuer without a decision: %j', async (answer) => {
    issuer.answers.push(answer, answer);
    const { body } = await post(order(await world.invoice()));
    const after = await settled(body.id, (seen) => seen.issuer_delivery_status !== 'pending');
    expect(after).toMatchObject({ issuer_delivery_status: 'delivered', issuer_delivery_error: null });
    expect(issuer.requests.length).toBe(3);
  });

  it('an issuer that requests a pause beyond the deadline gets the approval again before it', async () => {
    const busy = { status: 503, body: '', headers: { 'retry-after': '86400000' } };
    issuer.answers.push(busy, busy);
    const { body } = await post(order(await world.invoice()));
    await settled(body.id, (seen) => seen.issuer_delivery_error !== null);
    await world.database.query(
      `UPDATE outgoing_documents SET deadline_at = now() + interval '10 minutes', due_at = now()
        WHERE approval_id = $1 AND kind = 'issuer'`,
      [body.id],
    );
    const after = await settled(body.id, (seen) => seen.issuer_delivery_status !== 'pending');
    expect(after).toMatchObject({ issuer_delivery_status: 'delivered', issuer_delivery_error: null });
  });

  it('an issuer has the approval if its answer was lost and it answers "loaded before" to the second copy', async () => {
    issuer.answers.push(
      { status: 0, body: '', cut: true },
      {
        status: 400,
        body: '{"codigo":"2","estado":"Aprobacion Comercial Rechazada","mensaje":["La aprobación comercial del e-CF X ya habia sido cargada y aceptada previamente"]}',
      },
    );
    const { body } = await post(order(await world.invoice()));
    const after = await settled(body.id, (seen) => seen.issuer_delivery_status !== 'pending');
    expect(after).toMatchObject({ issuer_delivery_status: 'delivered', authority_submission_status: 'Aceptado' });
    expect(issuer.requests).toHaveLength(2);
    expect(issuer.requests[0]?.body.split('<?xml')[1]?.split('--')[0]).toBe(
      issuer.requests[1]?.body.split('<?xml')[1]?.split('--')[0],
    );
  });
});

describe('an answer that cannot be recorded', () => {
  const overdue = (id: number) =>
    world.database.query(
      `UPDATE outgoing_documents SET deadline_at = now() - interval '1 hour', due_at = now()
        WHERE approval_id = $1 AND kind = 'issuer'`,
      [id],
    );

  it('an approval is pending with the text of a refused login, and failed after the deadline', async () => {
    const seed = '<SemillaModel><valor>s</valor><fecha>2026-06-23T17:45:47-04:00</fecha></SemillaModel>';
    const refusal = { status: 400, body: 'certificado\0x', headers: { 'content-type': 'text/plain' } };
    issuer.always = {
      '/semilla': { status: 200, body: seed, headers: { 'content-type': 'application/xml' } },
      '/validacioncertificado': refusal,
    };
    await world.list(ISSUER, issuer.url, issuer.url);
    const { body } = await post(order(await world.invoice()));
    const says = expect.stringContaining('certificado\ufffdx');
    expect(await settled(body.id, (seen) => seen.issuer_delivery_error !== null)).toMatchObject({
      issuer_delivery_status: 'pending',
      issuer_delivery_error: says,
      sent_to_issuer: false,
    });
    await overdue(body.id);
    expect(await settled(body.id, (seen) => seen.issuer_delivery_status !== 'pending')).toMatchObject({
      issuer_delivery_status: 'failed',
      issuer_delivery_error: says,
    });
  });

  it('an answer that cannot be recorded is left out, and the approval is sent again up to the deadline', async () => {
    // Another host, because an instance may still remember that this one refused a login.
    const other = await startIssuer();
    await world.list(ISSUER, other.url);
    await world.database.query(
      `ALTER TABLE outgoing_documents ADD CONSTRAINT unwritable CHECK (last_error <> 'never') NOT VALID`,
    );
    try {
      const never = { status: 400, body: '{"codigo":"2","estado":"x","mensaje":["never"]}' };
      other.answers.push(...Array.from({ length: 20 }, () => never));
      const { body } = await post(order(await world.invoice()));
      const says = expect.stringMatching(/The result cannot be recorded: .*unwritable/);
      expect(await settled(body.id, (seen) => seen.issuer_delivery_error !== null)).toMatchObject({
        issuer_delivery_status: 'pending',
        issuer_delivery_error: says,
        sent_to_issuer: true,
      });
      await overdue(body.id);
      expect(await settled(body.id, (seen) => seen.issuer_delivery_status !== 'pending')).toMatchObject({
        issuer_delivery_status: 'failed',
        issuer_delivery_error: says,
      });
    } finally {
      await world.database.query('ALTER TABLE outgoing_documents DROP CONSTRAINT unwritable');
      other.server.close();
      other.server.closeAllConnections();
    }
  });
});

describe('one send', () => {
  const now = new Date('2026-06-23T16:00:00Z');
  const item = {
    ...{ id: 1, approvalId: 1, key: { env: 'TesteCF', issuerRnc: ISSUER, encf: 'E310000000001' }, buyerRnc: BUYER },
    ...{ accountId: 'a', xml: { path: 'x', sha256: 'x' }, tries: 2, sentAt: null, uncertain: false, lastError: null },
    deadlineAt: new Date(now.getTime() + 3_600_000),
  } as unknown as Claimed;

  /** Sends the approval. The database refuses the first `unwritable` records. Gives the records and the number of sends. */
  async function sending(target: 'authority' | 'issuer', answer: () => unknown, unwritable = 0) {
    const written: { ending: Ending; exchange: Exchange }[] = [];
    let sends = 0;
    const send = async () => {
      sends += 1;
      return answer();
    };
    const parts = {
      store: {
        conclude: async (_: unknown, ending: Ending, exchange: Exchange) => {
          written.push({ ending, exchange });
          if (written.length <= unwritable) throw new Unwritable('out of range');
        },
      },
      taxpayers: { taxpayer: async () => ({ account_id: 'a' }) },
      certificates: { open: () => ({}) },
      archive: { get: async () => Buffer.from('x') },
      tokens: { get: async () => ({ token: 't' }) },
      endpoints: {
        find: async () => ({ approvalUrl: 'https://issuer.example' }),
        call: send,
        moved: async () => false,
      },
      client: { submitCommercialApproval: send },
      report: { failed: () => undefined, sent: () => undefined },
      rules: { firstRetryMs: 1_000, clock: () => now, random: () => 0.5 },
      stopping: new AbortController().signal,
    } as never;
    await (target === 'authority' ? createSendToAuthority(parts) : createSendToIssuer(parts))(item);
    return { written, sends };
  }

  it.each([
    ['authority', 'submitted'],
    ['issuer', 'pending'],
  ] as const)(
    'a send to the %s whose result the database refuses is recorded as one that may have arrived',
    async (target, open) => {
      const verdict = { status: 'Aceptado', transient: false, accepted: true, messages: [] };
      const raw = { status: 200, body: 'a\0b', contentType: null };
      const { written, sends } = await sending(target, () => ({ outcome: 'verdict', verdict, raw }), 1);
      expect([sends, written.length]).toEqual([1, 2]);
      expect(written[1]).toMatchObject({
        ending: { status: open, sentAt: now, dueAt: expect.any(Date) },
        exchange: { outcome: 'unwritable', body: null },
      });
      expect(JSON.stringify(written.map(({ ending }) => ending))).not.toContain('\\u0000');
    },
  );

  it('an issuer that answers "loaded before" although no copy left has refused, and its text is kept', async () => {
    const [text] = BEFORE('E310000000001').mensajes;
    const verdict = { accepted: false, messages: [text] };
    const raw = { status: 400, body: '', contentType: null };
    const { written } = await sending('issuer', () => ({ outcome: 'verdict', verdict, raw }));
    expect(written).toMatchObject([{ ending: { status: 'refused', error: text?.valor, dueAt: null } }]);
  });

  it('a send whose login fails keeps the text as far as the database takes it', async () => {
    const { written } = await sending('issuer', () => {
      throw new Error(`x\0${'y'.repeat(2_000)}`);
    });
    expect(written).toMatchObject([{ ending: { status: 'pending', error: `x\ufffd${'y'.repeat(998)}` } }]);
  });
});

describe('a send that two instances have', () => {
  let database: ReturnType<typeof openDatabase>;
  let store: ReturnType<typeof createApprovalStore>;
  beforeAll(() => {
    database = openDatabase(world.databaseUrl, { max: 4 });
    store = createApprovalStore(database, 72 * 3_600_000);
  });
  afterAll(async () => {
    await database.close();
    await world.database.query(
      `UPDATE outgoing_documents SET due_at = NULL WHERE due_at > now() + interval '10 minutes'`,
    );
  });

  const hours = (count: number) => new Date(Date.now() + count * 3_600_000);
  const exchange = { at: new Date(), outcome: 'test', httpStatus: null, contentType: null, body: null };

  /** The sends of one record, each claimed by a second instance after the lease of the first ended. */
  async function overtaken() {
    const encf = await world.invoice();
    const local = await world.call('POST', '/acecf/?submit_to_authority=false', order(encf));
    const outcome = await store.submit(local.body.id, hours(1), new Date());
    if (!('added' in outcome)) throw new Error('not sent');
    const second = async (kind: 'authority' | 'issuer') => {
      const { rows } = await world.database.query(
        `UPDATE outgoing_documents SET claim = gen_random_uuid(), due_at = $3, tries = tries + 1, uncertain = true
          WHERE approval_id = $1 AND kind = $2 RETURNING *`,
        [local.body.id, kind, hours(3)],
      );
      return claimedFrom(camelCaseRows<OutgoingRow>(rows as object[])[0] as OutgoingRow);
    };
    const [authority, issuer] = outcome.sends as [Claimed, Claimed];
    const after = { authority: await second('authority'), issuer: await second('issuer') };
    return { id: local.body.id as number, encf, first: { authority, issuer }, second: after };
  }
  const due = async ({ id }: Claimed) =>
    (await world.database.query<{ due_at: Date | null }>('SELECT due_at FROM outgoing_documents WHERE id = $1', [id]))
      .rows[0]?.due_at ?? null;
  const write = (item: Claimed, status: Ending['status'], sentAt: Date | null, dueAt: Date | null) =>
    store.conclude(item, endingWith({ status, outcome: status, error: status, sentAt, dueAt }), exchange);

  it('a late send that did not arrive overwrites nothing of the other', async () => {
    const { id, first, second } = await overtaken();
    const before = await due(first.authority);
    await write(first.authority, 'failed', null, new Date());
    expect((await store.find(id))?.authority.status).toBe('submitted');
    expect(await due(first.authority)).toEqual(before);
    await write(second.authority, 'submitted', new Date(), hours(4));
    await write(first.authority, 'failed', null, null);
    expect(await store.find(id)).toMatchObject({ authority: { status: 'submitted', response: 'submitted' } });
    expect(await due(first.authority)).not.toBeNull();
  });

  it('a late send that may have arrived records that, and ends nothing', async () => {
    const { id, first, second } = await overtaken();
    await write(second.authority, 'failed', null, hours(4));
    await write(first.authority, 'submitted', new Date(), new Date());
    expect((await store.find(id))?.authority).toMatchObject({ status: 'submitted', sentAt: expect.any(Date) });
    // The other copy may be the reason of this refusal, so a late refusal decides nothing.
    await write(first.authority, 'Rechazado', new Date(), null);
    expect((await store.find(id))?.authority.status).toBe('submitted');
    expect((await due(first.authority))?.getTime()).toBeGreaterThan(hours(3).getTime());
  });

  it('a late send that was accepted counts permanently, also after a refusal of the other copy', async () => {
    const { id, encf, first, second } = await overtaken();
    await write(second.authority, 'Rechazado', new Date(), null);
    await write(first.authority, 'Aceptado', new Date(), null);
    await write(second.authority, 'failed', null, hours(4));
    expect((await store.find(id))?.authority.status).toBe('Aceptado');
    expect(await due(first.authority)).toBeNull();
    expect(await published(encf, 3)).toEqual(['approved', 'pending', 'approved']);
  });

  it('a late send changes nothing that an operator settled', async () => {
    const { id, first, second } = await overtaken();
    expect((await store.settle(id, 'Rechazado', 'the portal', new Date(), null))?.authority.status).toBe('Rechazado');
    await write(second.authority, 'submitted', new Date(), hours(4));
    await write(first.authority, 'Aceptado', new Date(), null);
    expect(await store.find(id)).toMatchObject({
      authority: { status: 'Rechazado' },
      settled: { note: 'the portal' },
    });
    expect(await due(first.authority)).toBeNull();
    expect(await store.settle(id, 'Aceptado', 'again', new Date(), null)).toBeNull();
  });

  it('a late send to the issuer counts only if the issuer took it', async () => {
    const { id, first, second } = await overtaken();
    await write(first.issuer, 'failed', new Date(), null);
    expect((await store.find(id))?.issuer).toMatchObject({ status: 'pending', sentAt: expect.any(Date) });
    await write(second.issuer, 'refused', new Date(), null);
    await write(first.issuer, 'delivered', new Date(), null);
    await write(second.issuer, 'pending', new Date(), hours(4));
    expect((await store.find(id))?.issuer.status).toBe('delivered');
    expect(await due(first.issuer)).toBeNull();
  });
});

describe('an approval without a readable answer of the authority', () => {
  const open = async (settled: 'true' | 'false' = 'false') =>
    (await operations().listUndecided({ settled, undelivered: 'false', after: 0, limit: 100, env: 'TesteCF' }))
      .approvals;
  const settle = (id: number, outcome: 'accepted' | 'rejected') =>
    operations().settleApproval({ id, outcome, note: 'shown by the portal, M. Pena' });
  const unreadable = async () => {
    const encf = await world.invoice();
    await world.fault({ kind: 'http', status: 400, body: '<html>ERROR</html>' });
    const { body } = await post(order(encf));
    await settled(body.id, (seen) => seen.authority_submission_status === 'submitted');
    return { encf, id: body.id as number };
  };

  it('an operator can settle an approval as accepted: no further copy is sent, and the note is kept', async () => {
    const { encf, id } = await unreadable();
    const listed = (await open()).find((one) => one.id === id);
    expect(listed).toMatchObject({
      encf,
      receiver_rnc: BUYER,
      authority_submission_status: 'submitted',
      authority_response: expect.stringContaining('ERROR'),
      note: null,
    });
    expect(await settle(id, 'accepted')).toMatchObject({ authority_submission_status: 'Aceptado' });
    expect((await open()).some((one) => one.id === id)).toBe(false);
    expect((await open('true')).find((one) => one.id === id)).toMatchObject({
      note: 'shown by the portal, M. Pena',
      settled_at: expect.stringMatching(/-04:00$/),
    });
    const sends = "SELECT due_at, claim FROM outgoing_documents WHERE approval_id = $1 AND kind = 'authority'";
    expect((await world.database.query(sends, [id])).rows).toEqual([{ due_at: null, claim: null }]);
    await world.control('DELETE', 'faults');
    expect((await world.call('GET', `/acecf/${id}`)).body.authority_submission_status).toBe('Aceptado');
    expect(await published(encf, 1)).toEqual(['approved']);
    await expect(settle(id, 'rejected')).rejects.toMatchObject({ status: 409, code: 'conflict' });
  });

  it('an operator can settle an approval as rejected: the e-CF is pending again, and a new decision is allowed', async () => {
    await world.list(ISSUER, null);
    const { encf, id } = await unreadable();
    await settle(id, 'rejected');
    expect(await published(encf, 2)).toEqual(['approved', 'pending']);
    await world.control('DELETE', 'faults');
    const again = await post(order(encf, { approval_status: 2, rejection_code: 1 }));
    expect([again.status, again.body]).toMatchObject([201, { authority_submission_status: 'Aceptado' }]);
  });

  it('a decided, local or unknown record cannot be settled', async () => {
    const { body: decidedOne } = await post(order(await world.invoice()));
    const local = await world.call('POST', '/acecf/?submit_to_authority=false', order(await world.invoice()));
    for (const id of [decidedOne.id, local.body.id])
      await expect(settle(id, 'accepted')).rejects.toMatchObject({ status: 409, code: 'conflict' });
    await expect(settle(99_999_999, 'accepted')).rejects.toMatchObject({ status: 404, code: 'not_found' });
  });
});

describe('instances', () => {
  it('an instance finishes once what a crashed instance left at any step', async () => {
    const encf = await world.invoice();
    const { body } = await post(order(encf));
    const ended = body.id;
    // As after a crash: after the row, before or after either send, with an ended lease.
    for (const kinds of [['authority'], ['issuer'], ['authority', 'issuer']]) {
      issuer.answers.push({ status: 200, body: '{}' });
      await world.database.query(
        `UPDATE outgoing_documents SET status = CASE kind WHEN 'authority' THEN 'submitted' ELSE 'pending' END,
           sent_at = NULL, claim = gen_random_uuid(), due_at = now() - interval '1 second'
          WHERE approval_id = $1 AND kind = ANY($2)`,
        [ended, kinds],
      );
      const after = await settled(ended, (seen) => decided(seen) && seen.issuer_delivery_status !== 'pending');
      expect(after).toMatchObject({ authority_submission_status: 'Aceptado', issuer_delivery_status: 'delivered' });
    }
    expect((await world.submissions(encf)).filter(({ effective }) => effective)).toHaveLength(1);
    expect(await published(encf, 1)).toEqual(['approved']);
  });

  it('instances that get a local and a sent request at the same moment make one record, and it is sent', async () => {
    for (let round = 0; round < 3; round += 1) {
      const encf = await world.invoice();
      const asked = [{ submit: true }, { submit: false }, { submit: true }, { submit: false }].map(({ submit }, n) =>
        world.call('POST', `/acecf/?submit_to_authority=${submit}`, order(encf), { instance: (n + round) % 2 }),
      );
      const answers = await Promise.all(asked);
      expect(answers.filter(({ status }) => status === 201).length).toBeGreaterThan(0);
      expect(answers.map(({ status }) => status).filter((status) => status !== 201 && status !== 409)).toEqual([]);
      const { rows } = await world.database.query(
        "SELECT status FROM outgoing_documents WHERE encf = $1 AND kind = 'authority'",
        [encf],
      );
      expect(rows).toEqual([{ status: 'Aceptado' }]);
    }
  });

  it('instances share due work and send no approval twice', async () => {
    const encfs = await Promise.all(Array.from({ length: 6 }, () => world.invoice()));
    await world.fault({ kind: 'reset' });
    issuer.answers.push(...Array.from({ length: 6 }, () => ({ status: 503, body: '' })));
    const made = await Promise.all(
      encfs.map((encf, i) => world.call('POST', '/acecf/', order(encf), { instance: i % 2 })),
    );
    expect(made.map(({ status }) => status)).toEqual(Array(6).fill(201));
    await world.control('DELETE', 'faults');
    for (const { body } of made) {
      await settled(
        body.id,
        (seen) => seen.authority_submission_status === 'Aceptado' && seen.issuer_delivery_status === 'delivered',
      );
    }
    for (const encf of encfs) expect(await world.submissions(encf)).toHaveLength(1);
    expect(issuer.requests).toHaveLength(12);
  });

  it('an instance that stops renews its lease until the answer came, and no other instance sends meanwhile', async () => {
    const ending = await world.addInstance({ RECEIVER_TIMEOUT_MS: '10000', APPROVAL_CLAIM_MS: '2000' });
    const encf = await world.invoice();
    let answer: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => {
      answer = resolve;
    });
    issuer.answers.push({ status: 200, body: '{"codigo":"OK","estado":"x","mensaje":[]}', meanwhile: () => asked });
    const instance = world.instances.indexOf(ending);
    const { body } = await world.call('POST', '/acecf/', order(encf), { instance });
    expect(body.issuer_delivery_status).toBe('pending');
    const leased = await due(body.id);
    const ended = world.end(ending);
    // The lease is renewed after the first one has ended.
    await until(
      async () => [await due(body.id), new Date()] as const,
      ([until, now]) => leased !== null && until !== null && now > leased && until > now,
    );
    answer();
    await ended;
    expect((await world.call('GET', `/acecf/${body.id}`)).body.issuer_delivery_status).toBe('delivered');
    expect(issuer.requests).toHaveLength(1);
  });

  it('undecided approvals are counted in metrics', async () => {
    const encf = await world.invoice();
    await world.fault({ kind: 'reset' });
    await post(order(encf));
    expect(await world.metrics.render()).toMatch(/ecf_approvals_undecided\{target="authority"\} 1/);
    expect(await world.metrics.render()).toMatch(/ecf_approvals_overdue\{target="authority"\} 0/);
    await world.database.query(
      `UPDATE outgoing_documents SET created_at = now() - interval '73 hours' WHERE encf = $1`,
      [encf],
    );
    expect(await world.metrics.render()).toMatch(/ecf_approvals_overdue\{target="authority"\} 1/);
    await world.control('DELETE', 'faults');
  });

  it('a superseded approval is not listed as undecided', async () => {
    const encf = await world.invoice();
    await world.fault({ kind: 'reset' });
    const { body } = await post(order(encf));
    const undecided = async () => {
      const filter = { env: 'TesteCF', settled: 'false', undelivered: 'false', after: 0, limit: 1_000 } as const;
      return (await operations().listUndecided(filter)).approvals.some(({ id }) => id === body.id);
    };
    expect(await undecided()).toBe(true);
    await world.database.query('UPDATE given_approvals SET superseded_at = now() WHERE encf = $1', [encf]);
    expect(await undecided()).toBe(false);
    await world.control('DELETE', 'faults');
  });
});

describe('after a restore of the database', () => {
  const TABLES = ['given_approvals', 'standing_decisions', 'outgoing_documents', 'approval_exchanges'];
  const LOADED_BEFORE = {
    status: 400,
    body: '{"codigo":"2","estado":"x","mensaje":["La aprobación comercial ya habia sido cargada y aceptada previamente"]}',
  };
  beforeAll(() => world.list(ISSUER, issuer.url));
  const taken = (seen: Record<string, unknown>) => decided(seen) && seen.issuer_delivery_status !== 'pending';

  it('an approval that the authority and the issuer accepted in the lost time is accepted when it is sent again', async () => {
    const twice = await world.invoice('31', { at: ['issued', 'received'] });
    expect((await post(order(twice))).body).toMatchObject({ authority_submission_status: 'Rechazado' });
    await world.accept(twice);
    expect((await post(order(twice))).body).toMatchObject({ authority_submission_status: 'Aceptado' });
    const waiting = await world.invoice();
    await world.fault({ kind: 'http', status: 401, body: '' });
    issuer.answers.push(...Array.from({ length: 200 }, () => ({ status: 503, body: '' })));
    const { id } = (await post(order(waiting))).body;
    await settled(id, (seen) => seen.authority_submission_status === 'failed');
    const [first, second] = world.instances as [Approvals, Approvals];
    await world.end(second);
    await world.database.query('CREATE SCHEMA backup');
    for (const table of TABLES) await world.database.query(`CREATE TABLE backup.${table} AS TABLE ${table}`);
    // It was not sent when the backup was made.
    await world.database.query(
      `UPDATE backup.outgoing_documents SET status = CASE kind WHEN 'authority' THEN 'failed' ELSE 'pending' END,
         claim = NULL, sent_at = NULL, uncertain = false, due_at = now() WHERE approval_id = $1`,
      [id],
    );
    await world.control('DELETE', 'faults');
    issuer.answers.length = 0;
    await settled(id, taken);
    const lost = await world.invoice();
    expect((await post(order(lost))).body).toMatchObject({ authority_submission_status: 'Aceptado' });

    await world.end(first);
    await world.database.query(
      `INSERT INTO restored (of_others, restored_at, backup_at) VALUES (false, '2026-06-20T16:00:00Z', '2026-06-20T08:00:00Z')`,
    );
    await world.database.query(`TRUNCATE ${TABLES.join(', ')}`);
    for (const table of TABLES)
      await world.database.query(`INSERT INTO ${table} SELECT * FROM backup.${table} ORDER BY 1`);
    issuer.always = { '/ecf': LOADED_BEFORE };
    world.published.length = 0;
    await world.addInstance();

    const accepted = { authority_submission_status: 'Aceptado', issuer_delivery_status: 'delivered' };
    expect(await settled(id, taken)).toMatchObject(accepted);
    const again = (await post(order(lost))).body;
    expect(await settled(again.id, taken)).toMatchObject(accepted);
    expect((await post(order(lost, { approval_status: 2, rejection_code: 1 }))).status).toBe(409);
    for (const encf of [twice, waiting, lost]) expect(await published(encf, 1)).toEqual(['approved']);

    // The lost time has no approval of a later e-CF.
    for (const [day, status] of [
      ['2026-06-20', 'Aceptado'],
      ['2026-06-21', 'Rechazado'],
    ] as const) {
      const encf = await world.invoice('31', { at: ['authority'] });
      world.received.set(`${ISSUER}|${encf}`, receivedInvoice(encf, { date_issued: day }));
      await world.fault({ kind: 'verdict', verdict: BEFORE(encf), times: 1 });
      const { body } = await post(order(encf, { invoice_date_issued: day }));
      expect(await settled(body.id, decided)).toMatchObject({ authority_submission_status: status });
    }
  });
});
