import { randomUUID } from 'node:crypto';
import http from 'node:http';
import { Readable } from 'node:stream';
import { toCalendarDate } from '@ecf/domain';
import { type BodiesInFlight, type BodyInFlight, createBodiesInFlight } from '@ecf/http';
import { createMetrics } from '@ecf/kit/telemetry';
import { setProcessClockAhead } from '@ecf/test-support/process-clock';
import { beginPost, chunkOf } from '@ecf/test-support/raw-posts';
import { CALLER_HEADER } from '@ecf/test-support/services';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { DUE_TIMES } from '../src/background.js';
import { createPostgresBatchStore } from '../src/batches/batches.postgres.js';
import { BUYER, creditNote, type Document, encf, example, ISSUER } from './support/documents.js';
import { until } from './support/until.js';
import { type Answer, type Instance, World } from './support/world.js';

let world: World;
let emission: Instance;
let sequence = 20_000;

beforeAll(async () => {
  world = await World.create({ settings: { MAX_BODY_BYTES: '65536' } });
  emission = await world.start();
});
afterAll(() => world.stop());

function invoice(edit?: (ecf: Document) => void): { document: Document; encf: string } {
  sequence += 1;
  return { document: example('ecf-31', sequence, edit), encf: encf('31', sequence) };
}

const ndjson = (lines: readonly unknown[]) =>
  lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('');

function send(body: string | Buffer, headers: Record<string, string> = {}, query = ''): Promise<Answer> {
  return world.call(emission, 'POST', `/batches${query}`, {
    body: body as string,
    headers: { 'content-type': 'application/x-ndjson', ...headers },
  });
}

async function done(batchId: string, status = 'done'): Promise<Answer['body']> {
  let body: Answer['body'];
  await until(async () => {
    body = (await world.call(emission, 'GET', `/batches/${batchId}`)).body;
    const { pending, accepted, conditional, rejected, in_process, refused, total } = body;
    expect(pending + accepted + conditional + rejected + in_process + refused).toBe(total);
    return body.finished_at !== null;
  }, `the end of batch ${batchId}`);
  expect(body.status).toBe(status);
  return body;
}

async function results(batchId: string, query = ''): Promise<Answer['body'][]> {
  return (await world.call(emission, 'GET', `/batches/${batchId}/results${query}`)).body.results;
}

const batchStore = () =>
  createPostgresBatchStore({
    database: world.database,
    timeoutMs: 1_000,
    describe: () => {
      throw new Error('no batch ends here');
    },
  });

/** Makes the only line of a finished batch one whose instance crashed before its outcome; `readings` of it had not ended. */
async function interrupted(batchId: string, line: string, readings = 0): Promise<void> {
  await world.database.query(
    `UPDATE batch_line SET outcome = NULL, emission_id = NULL, attempt = NULL, document = $2, due_at = now(), leased = true,
        readings = $3, result = NULL
      WHERE batch_id = $1`,
    [batchId, Buffer.from(line), readings],
  );
  const unfinished = 'UPDATE batch SET finished_at = NULL, counts = NULL, due_at = now() WHERE id = $1';
  await world.database.query(unfinished, [batchId]);
}

/** Leaves its number to the service. */
function open(type = '31'): Document {
  return example(`ecf-${type}`, 1, ({ Encabezado: { IdDoc } }) => {
    delete IdDoc.eNCF;
    delete IdDoc.FechaVencimientoSecuencia;
  });
}
const TEN_NUMBERS = {
  env: 'TesteCF',
  ecf_type: '41',
  from: encf('41', 1),
  to: encf('41', 10),
  expires: '2099-12-31',
} as const;

async function batches(): Promise<number> {
  const { rows } = await world.database.query<{ count: number }>('SELECT count(*)::int AS count FROM batch');
  return rows[0]?.count as number;
}

describe('a batch', () => {
  it('issues each line as /fe_Submit would, and refuses a line at fault alone', async () => {
    const [first, second, faulty] = [
      invoice(),
      invoice(),
      invoice((ecf) => delete ecf.Encabezado.Emisor.RazonSocialEmisor),
    ];
    const other = example('ecf-31', sequence - 2, (ecf) => {
      ecf.Encabezado.Comprador.RazonSocialComprador = 'OTRO COMPRADOR';
    });
    const tooLarge = invoice((ecf) => {
      ecf.Encabezado.Emisor.DireccionEmisor = 'x'.repeat(70_000);
    });
    const lines = [
      first.document,
      '{"ECF": {',
      faulty.document,
      '',
      first.document,
      other,
      tooLarge.document,
      second.document,
    ];
    const { status, body, headers } = await send(ndjson(lines));
    expect({ status, body }).toEqual({
      status: 202,
      body: { batch_id: expect.stringMatching(/^\d+$/), total: 7, status_url: `/batches/${body.batch_id}` },
    });
    expect(headers.get('location')).toBe(body.status_url);
    expect(await done(body.batch_id)).toMatchObject({ total: 7, accepted: 3, refused: 4, pending: 0, in_process: 0 });
    const found = await results(body.batch_id);
    expect(
      found.map(({ line, status: word, error }) => [line, word, error?.status ?? null, error?.code ?? null]),
    ).toEqual([
      [1, 'Aceptado', null, null],
      [2, null, 400, 'invalid_json'],
      [3, null, 400, 'invalid_document'],
      [4, 'Aceptado', null, null],
      [5, null, 409, 'encf_already_used'],
      [6, null, 413, 'body_too_large'],
      [7, 'Aceptado', null, null],
    ]);
    expect(found[0]).toMatchObject({
      encf: first.encf,
      issuer_rnc: ISSUER,
      track_id: expect.stringMatching(/./),
      security_code: expect.stringMatching(/^.{6}$/),
      qr_url: expect.stringContaining('ConsultaTimbre'),
      sequence_used: true,
      messages: [],
    });
    expect(found[2].faults.map(({ path }: { path: string }) => path)).toEqual([
      'ECF.Encabezado.Emisor.RazonSocialEmisor',
    ]);
    expect((await world.ledger(first.encf)).length).toBe(1);
    expect((await results(body.batch_id, '?only=refused&limit=2')).map(({ line }) => line)).toEqual([2, 3]);
    expect((await results(body.batch_id, '?only=refused&after=3')).map(({ line }) => line)).toEqual([5, 6]);
  });

  it('signs line feeds for carriage returns, and refuses a line with a number where leading zeros count', async () => {
    const carriage = invoice((ecf) => {
      ecf.Encabezado.Emisor.DireccionEmisor = 'Calle Uno 1\r\nEdificio Dos';
    });
    const number = invoice((ecf) => {
      ecf.Encabezado.Comprador.RNCComprador = 120000229;
    });
    const { body } = await send(ndjson([carriage.document, number.document]));
    expect(await done(body.batch_id)).toMatchObject({ accepted: 1, refused: 1 });
    const rules = ({ warnings, faults }: Answer['body']) =>
      [...warnings, ...faults].map(({ rule, path }: Record<string, string>) => `${rule} ${path}`);
    expect((await results(body.batch_id)).map(rules)).toEqual([
      ['schema.carriage-return ECF.Encabezado.Emisor.DireccionEmisor'],
      ['schema.text-expected ECF.Encabezado.Comprador.RNCComprador'],
    ]);
    expect(await world.row(number.encf)).toBeNull();
  });

  it('lets a note wait for its document of the same batch, on an earlier or a later line', async () => {
    const original = invoice();
    const bad = invoice((ecf) => delete ecf.Encabezado.Emisor.RazonSocialEmisor);
    sequence += 2;
    const note = creditNote(sequence - 1, original.encf, '100.00');
    const lost = creditNote(sequence, bad.encf, '100.00');
    // A list of one value counts as that value.
    const { ECF } = note as unknown as { ECF: Record<string, unknown> };
    const listed = { ECF: [{ ...ECF, InformacionReferencia: [ECF.InformacionReferencia] }] };
    const { body } = await send(ndjson([listed, original.document, lost, bad.document]));
    expect(await done(body.batch_id)).toMatchObject({ accepted: 2, refused: 2 });
    const found = await results(body.batch_id);
    expect(found.map(({ status, error }) => [status, error?.code ?? null])).toEqual([
      ['Aceptado', null],
      ['Aceptado', null],
      [null, 'reference_refused'],
      [null, 'invalid_document'],
    ]);
    expect(await world.row(encf('34', sequence))).toBeNull();
  });

  it('reads the numbers of its lines as their check does: behind a byte order mark, escaped, and between blanks', async () => {
    const original = invoice((ecf) => {
      ecf.Encabezado.IdDoc.eNCF = ecf.Encabezado.IdDoc.eNCF.replace('E', '&#69;');
    });
    sequence += 1;
    const note = creditNote(sequence, ` ${original.encf} `, '100.00');
    const { body } = await send(`\ufeff${ndjson([original.document, note])}`);
    const { rows } = await world.database.query(
      'SELECT encf, reference_line FROM batch_line WHERE batch_id = $1 ORDER BY line',
      [body.batch_id],
    );
    expect(rows).toEqual([
      { encf: original.encf, reference_line: null },
      { encf: encf('34', sequence), reference_line: 1 },
    ]);
    expect(await done(body.batch_id)).toMatchObject({ accepted: 2 });
  });

  it('lets a note wait for every line with the number that it modifies, and refuses it only if all of them are refused', async () => {
    const original = invoice();
    const faulty = example('ecf-31', sequence, (ecf) => delete ecf.Encabezado.Emisor.RazonSocialEmisor);
    sequence += 1;
    const note = creditNote(sequence, original.encf, '100.00');
    const { body } = await send(ndjson([note, faulty, original.document, faulty]));
    expect(await done(body.batch_id)).toMatchObject({ accepted: 2, refused: 2 });
    expect((await results(body.batch_id)).map(({ status }) => status)).toEqual(['Aceptado', null, 'Aceptado', null]);
  });

  it('with warnings=refuse, lets a note wait until the document that it modifies is decided', async () => {
    const original = invoice();
    sequence += 1;
    const note = creditNote(sequence, original.encf, '100.00');
    const { body } = await send(ndjson([original.document, note]), {}, '?warnings=refuse');
    expect(await done(body.batch_id)).toMatchObject({ accepted: 2, refused: 0 });
    expect((await results(body.batch_id)).map(({ warnings }) => warnings)).toEqual([[], []]);
  });

  it('lets a note on the document of another taxpayer wait for no line', async () => {
    const faulty = invoice((ecf) => {
      ecf.Encabezado.Totales.MontoTotal = 'x';
    });
    sequence += 1;
    const note = creditNote(sequence, faulty.encf, '100.00', (ecf) => {
      ecf.InformacionReferencia.RNCOtroContribuyente = BUYER;
    });
    const { body } = await send(ndjson([faulty.document, note]));
    await done(body.batch_id);
    const lines = await results(body.batch_id);
    expect(lines.map(({ error }) => error?.code ?? null)).toEqual(['invalid_document', null]);
    expect(await world.ledger(encf('34', sequence))).toHaveLength(1);
  });

  it('lets an invoice that goes as a summary wait for no line, because its reference does not count', async () => {
    const faulty = invoice((ecf) => delete ecf.Encabezado.Emisor.RazonSocialEmisor);
    sequence += 1;
    const InformacionReferencia = {
      NCFModificado: faulty.encf,
      FechaNCFModificado: faulty.document.ECF.Encabezado.Emisor.FechaEmision,
      CodigoModificacion: '5',
    };
    const refers = (edit?: (ecf: Document) => void) =>
      example('ecf-32', sequence, (ecf) => {
        ecf.InformacionReferencia = InformacionReferencia;
        edit?.(ecf);
      });
    const single = await world.submit(emission, refers());
    expect([single.status, single.body.status]).toEqual([200, 'Aceptado']);
    sequence += 1;
    const { body } = await send(ndjson([faulty.document, refers()]));
    await done(body.batch_id);
    const lines = await results(body.batch_id);
    expect(lines.map(({ status, error }) => [status, error?.code ?? null])).toEqual([
      [null, 'invalid_document'],
      ['Aceptado', null],
    ]);
  });

  it('counts a note that waits for a verdict as pending', async () => {
    const id = await world.fault({ operation: 'consultaresultado', kind: 'processing' });
    const quick = await world.start({}, { STATUS_WAIT_MS: 0 });
    const original = invoice();
    await world.submit(quick, original.document);
    sequence += 1;
    const { body } = await send(ndjson([creditNote(sequence, original.encf, '100.00')]));
    await world.reaches(encf('34', sequence), ['held']);
    const shown = await world.call(emission, 'GET', `/batches/${body.batch_id}`);
    expect(shown.body).toMatchObject({ status: 'processing', pending: 1, in_process: 0 });
    await world.clearFaults(id);
    expect(await done(body.batch_id)).toMatchObject({ accepted: 1 });
    await quick.stop();
  });

  it('stores the own reference that a line states, and refuses a line whose reference is not printable text', async () => {
    const [good, wrong, bad] = [invoice(), invoice(), invoice()];
    const faulty = { ECF: { ...bad.document.ECF, DetallesItems: null }, reference: 'order-9' };
    const lines = [{ ...good.document, reference: 'order-7' }, { ...wrong.document, reference: 'a\nb' }, faulty];
    const { body } = await send(ndjson(lines));
    await done(body.batch_id);
    const [first, second, third] = await results(body.batch_id);
    expect(first).toMatchObject({ status: 'Aceptado', reference: 'order-7' });
    expect(await world.row(good.encf)).toMatchObject({ own_reference: 'order-7' });
    expect(second).toMatchObject({ reference: null, error: { status: 422, detail: [{ loc: ['body', 'reference'] }] } });
    expect(third).toMatchObject({ reference: 'order-9', error: { status: 400, code: 'invalid_document' } });
  });

  it('streams its results as NDJSON, and takes a JSON array', async () => {
    const some = [invoice(), invoice(), invoice()];
    const array = JSON.stringify(
      some.map(({ document }) => document),
      null,
      2,
    );
    const { body, status } = await send(array, { 'content-type': 'application/json' }, '?validate=true');
    expect([status, body.total]).toEqual([202, 3]);
    expect(await done(body.batch_id)).toMatchObject({ validate: true, accepted: 3 });
    const response = await fetch(`${emission.url}/batches/${body.batch_id}/results`, {
      headers: { [CALLER_HEADER]: world.identity(), accept: 'application/x-ndjson' },
    });
    expect(response.headers.get('content-type')).toBe('application/x-ndjson');
    const lines = (await response.text()).trimEnd().split('\n');
    expect(lines.map((line) => [JSON.parse(line).line, JSON.parse(line).status])).toEqual([
      [1, 'Validado'],
      [2, 'Validado'],
      [3, 'Validado'],
    ]);
    expect(await world.row(some[0]?.encf as string)).toBeNull();
  });

  it('returns each line of its results once, in pages of any limit and in a stream', async () => {
    const { body } = await send('{}\n'.repeat(250));
    await done(body.batch_id);
    const page = async (query: string) =>
      (await world.call(emission, 'GET', `/batches/${body.batch_id}/results${query}`)).body;
    const lines = (found: Answer['body'][]) => found.map(({ line }) => line);
    const all = Array.from({ length: 250 }, (_, index) => index + 1);
    for (const [query, from, to, next] of [
      ['?limit=1000', 0, 250, null],
      ['?limit=250', 0, 250, '250'],
      ['', 0, 200, '200'],
      ['?after=200', 200, 250, null],
      ['?limit=99', 0, 99, '99'],
      ['?limit=101&after=100', 100, 201, '201'],
      ['?after=250', 250, 250, null],
    ] as const) {
      const { count, next: following, results: found } = await page(query);
      expect([query, count, following, lines(found)]).toEqual([query, to - from, next, all.slice(from, to)]);
    }
    const stream = await fetch(`${emission.url}/batches/${body.batch_id}/results`, {
      headers: { [CALLER_HEADER]: world.identity(), accept: 'application/x-ndjson' },
    });
    const streamed = (await stream.text()).trimEnd().split('\n');
    expect(lines(streamed.map((line) => JSON.parse(line)))).toEqual(all);
  });

  it('gives lines without eNCF the next numbers, if it has an idempotency key', async () => {
    const range = (type: '31' | '32', expires: string) =>
      ({ env: 'TesteCF', ecf_type: type, from: encf(type, 90_001), to: encf(type, 90_009), expires }) as const;
    world.ranges(ISSUER, [range('31', '2099-12-31'), range('32', '2020-12-31')]);
    try {
      const body = ndjson([open(), open('32'), open(), open()]);
      const { body: receipt } = await send(body, { 'idempotency-key': randomUUID() });
      expect(await done(receipt.batch_id)).toMatchObject({ accepted: 3, refused: 1 });
      const lines = await results(receipt.batch_id);
      expect(lines.map(({ error }) => error?.code ?? null)).toEqual([null, 'range_expired', null, null]);
      expect(lines.flatMap((line) => line.encf ?? []).sort()).toEqual([1, 2, 3].map((n) => encf('31', 90_000 + n)));
      const keyless = await send(ndjson([open(), open()]));
      expect([keyless.status, keyless.body.code]).toEqual([422, 'idempotency_key_required']);
      expect((await send(ndjson([open()]), {}, '?validate=true')).status).toBe(202);
      const { body: mixed } = await send(ndjson([open(), example('ecf-31', 90_020)]));
      await done(mixed.batch_id);
      const [refused] = await results(mixed.batch_id);
      expect(refused?.error).toMatchObject({ status: 422, code: 'idempotency_key_required' });
    } finally {
      world.ranges(ISSUER, []);
    }
  });

  it('continues when a range expires, and refuses the lines that would draw or that state a number of the range', async () => {
    let later = 0;
    const clock = () => new Date(Date.now() + later);
    let committed = 0;
    await emission.stop();
    emission = await world.start(
      {
        clock,
        checkpoint: (step) => {
          committed += step === 'committed' ? 1 : 0;
          if (committed === 3) later = 86_400_000;
        },
      },
      { BATCH_CONCURRENCY: 1 },
    );
    const expires = toCalendarDate(clock());
    const range = {
      env: 'TesteCF',
      ecf_type: '31',
      from: encf('31', 95_001),
      to: encf('31', 95_099),
      expires,
    } as const;
    world.ranges(ISSUER, [range]);
    const open = example('ecf-31', 1, (ecf) => {
      delete ecf.Encabezado.IdDoc.eNCF;
      delete ecf.Encabezado.IdDoc.FechaVencimientoSecuencia;
    });
    const stated = example('ecf-31', 95_050, (ecf) => {
      const [year, month, day] = expires.split('-');
      ecf.Encabezado.IdDoc.FechaVencimientoSecuencia = `${day}-${month}-${year}`;
    });
    try {
      const { body } = await send(ndjson([open, open, open, open, stated]), { 'idempotency-key': randomUUID() });
      expect(await done(body.batch_id)).toMatchObject({ accepted: 3, refused: 2 });
      const found = await results(body.batch_id);
      expect(found.map(({ encf: number, status, error }) => [number, status, error?.status, error?.code])).toEqual([
        ...[1, 2, 3].map((n) => [encf('31', 95_000 + n), 'Aceptado', undefined, undefined]),
        [null, null, 409, 'range_expired'],
        [encf('31', 95_050), null, 400, 'invalid_document'],
      ]);
      const { rows } = await world.database.query(
        `SELECT FROM emission WHERE encf > '${encf('31', 95_003)}' AND encf < '${encf('31', 95_100)}'`,
      );
      expect(rows).toEqual([]);
    } finally {
      world.ranges(ISSUER, []);
      await emission.stop();
      emission = await world.start();
    }
  });

  it('is found by its idempotency key if its lines have another FechaHoraFirma and amounts of the same value', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const { document } = invoice();
    const at = (time: string, total: string, reference: string) => {
      const ECF = structuredClone(document.ECF);
      ECF.FechaHoraFirma = `15-06-2026 ${time}`;
      ECF.Encabezado.Totales.MontoTotal = total;
      return { reference, ECF };
    };
    const { MontoTotal } = document.ECF.Encabezado.Totales;
    const first = await send(ndjson([at('10:00:00', MontoTotal, 'a'), 'no JSON']), headers);
    const again = await send(ndjson([at('10:00:30', `${MontoTotal}0`, 'b'), 'no JSON']), headers);
    expect([first.status, again.status, again.body]).toEqual([202, 202, first.body]);
    for (const lines of [
      [at('10:00:30', '1.00', 'a'), 'no JSON'],
      [at('10:00:30', MontoTotal, 'a'), 'other text'],
    ])
      expect((await send(ndjson(lines), headers)).status).toBe(409);
  });

  it('with warnings=refuse, explains how to send a refused line again, because its key keeps the outcome', async () => {
    const odd = invoice((ecf) => {
      ecf.Encabezado.Totales.MontoTotal = '11437.00';
    });
    const headers = { 'idempotency-key': randomUUID() };
    const { body } = await send(ndjson([odd.document]), headers, '?warnings=refuse');
    await done(body.batch_id);
    expect((await send(ndjson([odd.document]), headers, '?warnings=accept')).body).toEqual(body);
    const [line] = await results(body.batch_id);
    expect(line?.error?.message).toContain('without the other lines, in a batch with another idempotency-key');
    const again = await send(ndjson([odd.document]), { 'idempotency-key': randomUUID() }, '?warnings=accept');
    expect(await done(again.body.batch_id)).toMatchObject({ refused: 0, total: 1 });
  });

  it('is a conflict under its idempotency key after a number in a document was corrected to text', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const { document } = invoice((ecf) => {
      ecf.Encabezado.Comprador.RNCComprador = 131880681;
    });
    expect((await send(ndjson([document]), headers)).status).toBe(202);
    document.ECF.Encabezado.Comprador.RNCComprador = '131880681';
    expect((await send(ndjson([document]), headers)).body.code).toBe('idempotency_conflict');
  });

  it('is found by its idempotency key, and other content under the key is a conflict', async () => {
    const key = `key ${randomUUID()}`;
    const body = ndjson([invoice().document]);
    const [first, again] = await Promise.all([1, 2].map(() => send(body, { 'idempotency-key': key })));
    expect([first?.status, again?.status, again?.body]).toEqual([202, 202, first?.body]);
    expect((await send(body, { 'idempotency-key': key })).body).toEqual(first?.body);
    const other = await send(ndjson([invoice().document]), { 'idempotency-key': key });
    expect([other.status, other.body.code]).toEqual([409, 'idempotency_conflict']);
    expect(other.body.detail ?? other.body.message).toContain(`Batch ${first?.body.batch_id}, stored with this`);
    const checked = await send(body, { 'idempotency-key': key }, '?validate=true');
    expect([checked.status, checked.body.code]).toEqual([409, 'idempotency_conflict']);
    const query = `?idempotency_key=${encodeURIComponent(key)}`;
    const { body: list } = await world.call(emission, 'GET', `/batches${query}`);
    expect(list.batches.map(({ batch_id }: { batch_id: string }) => batch_id)).toEqual([first?.body.batch_id]);
    const stranger = await world.call(emission, 'GET', `/batches/${first?.body.batch_id}`, {
      identity: world.identity('TesteCF', 'account-2'),
    });
    expect(stranger.status).toBe(404);
    await done(first?.body.batch_id);
  });

  it('continues on another instance after a crash, and sends nothing twice', async () => {
    const some = Array.from({ length: 12 }, () => invoice());
    let committed = 0;
    let crash = (_: Error): void => undefined;
    const crashed = new Promise<void>((_, reject) => {
      crash = reject;
    });
    crashed.catch(() => undefined);
    const hanging = await world.start({
      checkpoint: (step) => {
        if (step !== 'committed') return undefined;
        committed += 1;
        return crashed;
      },
    });
    await emission.stop();
    const { body } = await world.call(hanging, 'POST', '/batches', {
      body: ndjson(some.map(({ document }) => document)),
      headers: { 'content-type': 'application/x-ndjson' },
    });
    await until(() => committed === some.length);
    // The leases end immediately instead of half a minute after the crash.
    await world.database.query('UPDATE batch_line SET due_at = now() WHERE batch_id = $1', [body.batch_id]);
    await world.database.query('UPDATE attempt SET next_action_at = now() WHERE owner IS NOT NULL');
    emission = await world.start();
    expect(await done(body.batch_id)).toMatchObject({ total: 12, accepted: 12 });
    crash(new Error('crashed'));
    await hanging.stop();
    for (const { encf: number } of some) expect((await world.ledger(number)).length).toBe(1);
  });

  it('shows the rejection of an interrupted line whose number is free, and does not send it again', async () => {
    const rejected = {
      codigo: '2',
      estado: 'Rechazado',
      mensajes: [{ codigo: 1, valor: 'x' }],
      secuenciaUtilizada: false,
    };
    const { document, encf: number } = invoice();
    await world.fault({ operation: 'consultaresultado', kind: 'verdict', verdict: rejected, times: 1 });
    const line = ndjson([document]);
    const { body } = await send(line);
    expect(await done(body.batch_id)).toMatchObject({ rejected: 1 });
    const [before] = await results(body.batch_id);
    await interrupted(body.batch_id, line);
    expect(await done(body.batch_id)).toMatchObject({ rejected: 1 });
    expect(await results(body.batch_id)).toEqual([before]);
    expect(await world.ledger(number)).toHaveLength(1);
    await world.clearFaults();
  });

  it('refuses a line whose reading ended its process twice, and reads one again that ended it once', async () => {
    const { document } = invoice();
    const { body } = await send(ndjson([document]), {}, '?validate=true');
    expect(await done(body.batch_id)).toMatchObject({ accepted: 1 });
    await interrupted(body.batch_id, JSON.stringify(document), 2);
    expect(await done(body.batch_id)).toMatchObject({ refused: 1 });
    expect((await results(body.batch_id))[0]).toMatchObject({ error: { status: 400, code: 'document_too_costly' } });
    await interrupted(body.batch_id, JSON.stringify(document), 1);
    expect(await done(body.batch_id)).toMatchObject({ accepted: 1 });
  });

  it('counts the readings of a large line that do not end, and refuses the line after two', async () => {
    const impatient = await world.start({}, { MAX_BODY_BYTES: 10_000_000, VALIDATION_TIMEOUT_MS: 100 });
    await emission.stop();
    const { document } = invoice((ecf) => {
      ecf.Encabezado.Emisor.RazonSocialEmisor = '&lt;'.repeat(2_400_000);
    });
    const { body } = await world.call(impatient, 'POST', '/batches', {
      body: ndjson([document]),
      headers: { 'content-type': 'application/x-ndjson' },
    });
    const readings = async () => {
      const { rows } = await world.database.query(
        'SELECT readings, postponements, outcome FROM batch_line WHERE batch_id = $1',
        [body.batch_id],
      );
      return rows[0];
    };
    await until(async () => (await readings())?.postponements === 1);
    expect(await readings()).toMatchObject({ readings: 1, outcome: null });
    await until(async () => (await readings())?.outcome !== null);
    expect(await readings()).toMatchObject({ readings: 2, outcome: 'refused' });
    const single = await world.submit(impatient, document);
    expect([single.status, single.body.code, single.headers.get('retry-after')]).toEqual([
      400,
      'document_too_costly',
      null,
    ]);
    emission = await world.start();
    await impatient.stop();
    expect((await results(body.batch_id))[0]).toMatchObject({ error: { code: 'document_too_costly' } });
  });

  it('does not show the document of another request with the same request id as that of an interrupted line', async () => {
    const number = invoice();
    const faulty = example('ecf-31', sequence, (ecf) => delete ecf.Encabezado.Emisor.RazonSocialEmisor);
    const stranger = { [CALLER_HEADER]: world.identity('TesteCF', 'account-2') };
    const [ofStranger, own] = await Promise.all([send(ndjson([number.document]), stranger), send(ndjson([faulty]))]);
    const results = async () =>
      (
        await Promise.all([
          world.call(emission, 'GET', `/batches/${ofStranger.body.batch_id}/results`, { headers: stranger }),
          world.call(emission, 'GET', `/batches/${own.body.batch_id}/results`),
        ])
      ).map(({ body }) => body.results[0]);
    const haveEnded = async () => {
      const ids = [ofStranger.body.batch_id, own.body.batch_id];
      const { rows } = await world.database.query('SELECT FROM batch WHERE id = ANY($1) AND finished_at IS NULL', [
        ids,
      ]);
      return rows.length === 0;
    };
    await until(haveEnded);
    const before = await results();
    expect(before.map(({ error }) => error.code)).toEqual(['taxpayer_not_found', 'invalid_document']);
    expect((await world.submit(emission, number.document)).status).toBe(200);
    await interrupted(ofStranger.body.batch_id, ndjson([number.document]));
    await interrupted(own.body.batch_id, ndjson([faulty]));
    await until(haveEnded);
    expect(await results()).toEqual(before);
  });

  it('shows the document of an interrupted line that drew its number, though the taxpayer is inactive now', async () => {
    world.ranges(ISSUER, [TEN_NUMBERS]);
    const line = ndjson([open('41')]);
    const { body } = await send(line, { 'idempotency-key': randomUUID() });
    expect(await done(body.batch_id)).toMatchObject({ accepted: 1 });
    const [before] = await results(body.batch_id);
    await emission.stop();
    world.register(ISSUER, world.certificate, { active: false });
    emission = await world.start();
    await world.call(emission, 'GET', '/obtain_token');
    await interrupted(body.batch_id, line);
    expect(await done(body.batch_id)).toMatchObject({ accepted: 1 });
    expect(await results(body.batch_id)).toEqual([before]);
    world.register(ISSUER, world.certificate);
  });

  it('is shared by instances, and sends nothing twice', async () => {
    const committed = [0, 0];
    await emission.stop();
    const counting = (instance: 0 | 1) =>
      world.start(
        {
          checkpoint: (step) => {
            if (step === 'committed') committed[instance] = (committed[instance] as number) + 1;
          },
        },
        { BATCH_CONCURRENCY: 4 },
      );
    const other = await counting(0);
    emission = await counting(1);
    const some = Array.from({ length: 16 }, () => invoice());
    const { body } = await send(ndjson(some.map(({ document }) => document)));
    expect(await done(body.batch_id)).toMatchObject({ accepted: 16 });
    for (const { encf: number } of some) expect((await world.ledger(number)).length).toBe(1);
    expect([committed[0] === 0, committed[1] === 0]).toEqual([false, false]);
    await other.stop();
  });

  it('whose process ended before the body did is deleted after a day', async () => {
    const begin = (age: string) =>
      world.database.query<{ id: number }>(
        `INSERT INTO batch (account_id, env, validate, may_wait, caller, created_at, sha256, total)
          VALUES ('account-1', 'TesteCF', false, false, '{}', now() - $1::interval, '', 0) RETURNING id`,
        [age],
      );
    const [old, young] = [await begin('25 hours'), await begin('23 hours')].map(({ rows }) => rows[0]?.id);
    await batchStore().deleteExpired(new Date());
    const { rows } = await world.database.query<{ id: number }>('SELECT id FROM batch WHERE NOT received');
    expect(rows.map(({ id }) => id)).toEqual([young]);
    expect(old).not.toBe(young);
    await world.database.query('DELETE FROM batch WHERE id = $1', [young]);
  });

  it('is deleted with its lines 30 days after it finished, and its key may then begin a new batch', async () => {
    const headers = { 'idempotency-key': `kept ${randomUUID()}` };
    const body = ndjson([invoice().document]);
    const first = (await send(body, headers)).body.batch_id;
    await done(first);
    const finishedBefore = (days: number) =>
      world.database.query(`UPDATE batch SET finished_at = now() - interval '${days} days' WHERE id = $1`, [first]);

    await finishedBefore(29);
    await batchStore().deleteExpired(new Date());
    expect((await send(body, headers)).body.batch_id).toBe(first);

    await finishedBefore(31);
    await batchStore().deleteExpired(new Date());
    expect((await world.call(emission, 'GET', `/batches/${first}`)).status).toBe(404);
    expect((await world.call(emission, 'GET', `/batches/${first}/results`)).status).toBe(404);
    const { rows } = await world.database.query('SELECT line FROM batch_line WHERE batch_id = $1', [first]);
    expect(rows).toEqual([]);
    // The document was submitted by the first batch; the second one shows the same outcome and sends nothing.
    const second = (await send(body, headers)).body.batch_id;
    expect(second).not.toBe(first);
    expect((await done(second)).accepted).toBe(1);
  });

  it('is deleted by a clock that is 92 days ahead only with the batches of one day', async () => {
    await world.database.query(
      `INSERT INTO batch (account_id, env, validate, may_wait, caller, created_at, finished_at, received, sha256, total)
        SELECT 'account-3', 'TesteCF', false, false, '{}', at, at, true, '', 0
        FROM generate_series(now() - interval '20 days', now(), interval '1 day') AS at`,
    );
    const count = async () => (await world.database.query("SELECT FROM batch WHERE account_id = 'account-3'")).rowCount;
    expect(await count()).toBe(21);
    await batchStore().deleteExpired(new Date(Date.now() + 92 * 86_400_000));
    expect(await count()).toBeGreaterThanOrEqual(19);
    await world.database.query("DELETE FROM batch WHERE account_id = 'account-3'");
  });
});

describe('submissions over MAX_SUBMISSIONS', () => {
  it('are answered 503 before anything is stored, and the depth of the queue is a metric', async () => {
    const metrics = createMetrics();
    const busy = await world.start({ metrics }, { MAX_SUBMISSIONS: 1 });
    const slow = await world.fault({ operation: 'recepcion', kind: 'slow', delay_ms: 60_000, times: 1 });
    const first = world.submit(busy, invoice().document);
    const queue = async () =>
      (await metrics.render()).match(/ecf_queue_(depth|limit)\{[^}]*"submissions"\} \d+/g) ?? [];
    await until(async () => (await queue()).some((row) => /depth.* 1$/.test(row)));
    expect((await queue()).map((row) => row.split(' ')[1])).toEqual(['1', '1']);
    const over = invoice();
    const refused = await world.submit(busy, over.document);
    expect([refused.status, refused.body.code, refused.headers.get('retry-after')]).toEqual([503, 'overloaded', '5']);
    expect(await world.row(over.encf)).toBeNull();
    await world.clearFaults(slow);
    await first;
    expect((await world.submit(busy, over.document)).status).toBe(200);
    await busy.stop();
  });
});

describe('submissions whose body does not end', () => {
  it('do not count towards MAX_SUBMISSIONS', async () => {
    const busy = await world.start({}, { MAX_SUBMISSIONS: 1 });
    const begin = (route: string, type: string) =>
      beginPost(
        `${busy.url}${route}`,
        { [CALLER_HEADER]: world.identity(), 'content-type': type, 'x-token': 'any' },
        chunkOf('--B\r\nContent-Disposition: form-data; name="data"\r\n\r\n'),
      );
    const open = [
      begin('/fe_Submit', 'multipart/form-data; boundary=B'),
      begin('/submit_ecf', 'application/json'),
      begin('/submit_fc', 'application/json'),
    ];
    await Promise.all(open.map(({ sent }) => sent));
    expect((await world.submit(busy, invoice().document)).status).toBe(200);
    for (const { socket } of open) socket.destroy();
    await busy.stop();
  });
});

it('emission answers 200 parallel calls of one account by default', async () => {
  const answers = await Promise.all(
    Array.from({ length: 200 }, () => world.submit(emission, invoice().document, { query: '?validate=true' })),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
});

describe('the memory for bodies in flight', () => {
  const MEBIBYTE = 1024 * 1024;
  let most = 0;
  let bodies: BodiesInFlight;
  let small: Instance;
  beforeAll(async () => {
    bodies = createBodiesInFlight({ MAX_BODY_BYTES_IN_FLIGHT: 16 * MEBIBYTE });
    const counted = (body: BodyInFlight): BodyInFlight => ({
      ...body,
      hold(bytes) {
        body.hold(bytes);
        most = Math.max(most, bodies.bytes());
      },
    });
    small = await world.start({ bodies: { ...bodies, begin: (sender) => counted(bodies.begin(sender)) } });
  });
  afterAll(() => small.stop());

  it.each(['application/x-ndjson', 'application/json'])(
    'holds less than 2 MiB of a batch of 12 MiB in %s',
    async (type) => {
      const isArray = type === 'application/json';
      // Documents that are refused one by one: the body is what counts here.
      const line = JSON.stringify({ ECF: { Encabezado: 'x'.repeat(60_000) } });
      async function* body() {
        for (let n = 0; n < 200; n += 1) yield Buffer.from(isArray ? `${n === 0 ? '[' : ','}${line}` : `${line}\n`);
        if (isArray) yield Buffer.from(']');
      }
      most = 0;
      const { status, body: answer } = await world.call(small, 'POST', '/batches?validate=true', {
        body: Readable.toWeb(Readable.from(body())) as never,
        headers: { 'content-type': type },
        duplex: 'half',
      } as RequestInit);
      expect([status, answer.total]).toEqual([202, 200]);
      expect(most).toBeGreaterThan(MEBIBYTE / 2);
      expect(most).toBeLessThan(2 * MEBIBYTE);
      expect(bodies.bytes()).toBe(0);
      await world.call(small, 'POST', `/batches/${answer.batch_id}/cancel`);
    },
  );

  it.each([
    ['/fe_Submit', 'multipart/form-data; boundary=B'],
    ['/submit_ecf', 'application/json'],
    ['/anecf', 'application/json'],
    ['/batches', 'application/x-ndjson'],
  ])(
    'is shared so that unfinished bodies of one account to %s leave the rest to other accounts',
    async (route, type) => {
      const open = Array.from({ length: 90 }, () =>
        beginPost(
          `${small.url}${route}`,
          { [CALLER_HEADER]: world.identity(), 'content-type': type, 'x-token': 'any' },
          `${(60_000).toString(16)}\r\n${'x'.repeat(50_000)}`,
        ),
      );
      const answers = open.map(async (one) => {
        const answer = await one.answer();
        // The server cuts a refused body after two seconds; on a busy machine its answer may be unread until then.
        if (Number.isNaN(answer.status)) throw new Error('the connection was cut before its answer was read');
        return answer;
      });
      const refused = await Promise.any(answers);
      expect(refused).toMatchObject({ status: 429, code: 'rate_limited' });
      expect(refused.head).toMatch(/retry-after: 5/i);
      expect(bodies.bytes()).toBeLessThanOrEqual(4 * MEBIBYTE);
      const other = { identity: world.identity('TesteCF', 'account-2') };
      const form = new FormData();
      form.set('data', JSON.stringify(invoice().document));
      expect(await world.call(small, 'POST', '/fe_Submit', { body: form, ...other })).toMatchObject({ status: 404 });
      for (const { socket } of open) socket.destroy();
      await until(async () => bodies.bytes() === 0);
    },
  );
});

describe('the limit of an account', () => {
  it('makes the lines of its batches wait while its calls continue, and refuses the calls above it with 429', async () => {
    const metrics = createMetrics();
    const limited = await world.start({ metrics }, { RATE_LIMIT_PER_ACCOUNT: 10 });
    await emission.stop();
    const some = Array.from({ length: 12 }, () => invoice());
    const { status, body, headers } = await world.call(limited, 'POST', '/batches', {
      body: ndjson(some.map(({ document }) => document)),
      headers: { 'content-type': 'application/x-ndjson' },
    });
    expect([status, headers.get('ratelimit')]).toEqual([202, null]);
    const call = () => world.submit(limited, invoice().document);
    const first = await call();
    expect([first.status, first.headers.get('ratelimit-policy')]).toEqual([200, '"account";q=10;w=1']);
    expect(first.headers.get('ratelimit')).toMatch(/^"account";r=[0-9];t=1$/);
    const answers = await Promise.all(Array.from({ length: 20 }, call));
    const refused = answers.filter((answer) => answer.status === 429);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]?.body).toMatchObject({ code: 'rate_limited' });
    expect(refused[0]?.headers.get('ratelimit')).toMatch(/^"account";r=0;t=[01]$/);
    expect(refused[0]?.headers.get('retry-after')).toBe('1');
    emission = limited;
    expect(await done(body.batch_id)).toMatchObject({ accepted: 12 });
    expect(await metrics.render()).toMatch(/ecf_limited_documents_total\{source="line"\} [1-9]/);
    const waits = await world.database.query<{ most: number }>(
      'SELECT max(postponements) AS most FROM batch_line WHERE batch_id = $1',
      [body.batch_id],
    );
    expect(waits.rows[0]?.most).toBe(0);
    await limited.stop();
    emission = await world.start();
  });
});

describe('a batch that is cancelled', () => {
  it('refuses the lines that did not begin', async () => {
    const some = Array.from({ length: 5 }, () => invoice());
    const { body } = await send(ndjson(some.map(({ document }) => document)));
    const cancelled = await world.call(emission, 'POST', `/batches/${body.batch_id}/cancel`);
    expect([cancelled.status, cancelled.body.status]).toEqual([200, 'cancelled']);
    const ended = await done(body.batch_id, 'cancelled');
    expect(ended.accepted + ended.refused).toBe(5);
    for (const { error } of await results(body.batch_id, '?only=refused')) expect(error.code).toBe('batch_cancelled');
  });

  it('refuses the lines that a crashed instance had begun, and finishes the lines that it had committed', async () => {
    world.ranges(ISSUER, [TEN_NUMBERS]);
    const passed = { signed: 0, committed: 0 };
    let crash = (_: Error): void => undefined;
    const crashed = new Promise<void>((_, reject) => {
      crash = reject;
    });
    crashed.catch(() => undefined);
    const checkpoint = (step: string) => {
      if (step !== 'signed' && step !== 'committed') return undefined;
      passed[step] += 1;
      return step === 'signed' && passed.signed === 1 ? undefined : crashed;
    };
    // Its lines fill its slots, so it claims none of them again.
    const hanging = await world.start({ checkpoint }, { BATCH_CONCURRENCY: 3 });
    await emission.stop();
    emission = hanging;
    try {
      const lines = [invoice().document, invoice().document, open('41')];
      const { body } = await send(ndjson(lines), { 'idempotency-key': randomUUID() });
      await until(() => passed.signed === 3 && passed.committed === 1);
      await world.call(hanging, 'POST', `/batches/${body.batch_id}/cancel`);
      // The leases end immediately instead of half a minute after the crash.
      await world.database.query('UPDATE batch_line SET due_at = now() WHERE batch_id = $1', [body.batch_id]);
      await world.database.query('UPDATE attempt SET next_action_at = now() WHERE owner IS NOT NULL');
      emission = await world.start();
      expect(await done(body.batch_id, 'cancelled')).toMatchObject({ accepted: 1, refused: 2 });
      for (const { error, encf: number } of await results(body.batch_id, '?only=refused')) {
        expect(error.code).toBe('batch_cancelled');
        if (number !== null) expect(await world.row(number)).toBeNull();
      }
    } finally {
      crash(new Error('crashed'));
      await hanging.stop();
    }
    world.ranges(ISSUER, []);
  });
});

describe('while the authority is unreachable,', () => {
  /** Waits until each line of a batch was postponed at least `times` times. */
  const postponed = (batchId: string, times: number) =>
    until(async () => {
      const { rows } = await world.database.query<{ least: number }>(
        'SELECT min(CASE WHEN leased THEN 0 ELSE postponements END) AS least FROM batch_line WHERE batch_id = $1',
        [batchId],
      );
      return (rows[0]?.least ?? 0) >= times;
    });

  it('the lines of a batch stay pending until it is cancelled, and none of them is sent later', async () => {
    await emission.stop();
    emission = await world.start({}, { AUTHORITY_URL: 'http://127.0.0.1:1' });
    const some = Array.from({ length: 5 }, () => invoice());
    const { body } = await send(ndjson(some.map(({ document }) => document)));
    await postponed(body.batch_id, 1);
    expect((await world.call(emission, 'GET', `/batches/${body.batch_id}`)).body).toMatchObject({ pending: 5 });
    await world.call(emission, 'POST', `/batches/${body.batch_id}/cancel`);
    expect(await done(body.batch_id, 'cancelled')).toMatchObject({ refused: 5 });
    for (const { encf: number } of some) expect(await world.row(number)).toBeNull();
    const patient = invoice();
    const { body: later } = await send(ndjson([patient.document]));
    await emission.stop();
    await world.database.query('UPDATE batch_line SET due_at = now() WHERE batch_id = $1', [later.batch_id]);
    emission = await world.start();
    expect(await done(later.batch_id)).toMatchObject({ accepted: 1 });
    expect(await world.ledger(patient.encf)).toHaveLength(1);
  });

  it('the cancellation of a batch refuses the lines whose instance crashed before it signed them', async () => {
    await emission.stop();
    emission = await world.start({}, { AUTHORITY_URL: 'http://127.0.0.1:1' });
    world.ranges(ISSUER, [TEN_NUMBERS]);
    const { document, encf: number } = invoice();
    const { body } = await send(ndjson([document, open('41')]), { 'idempotency-key': randomUUID() });
    await postponed(body.batch_id, 1);
    // As if an instance had claimed the lines and crashed.
    await world.database.query('UPDATE batch_line SET due_at = now(), leased = true WHERE batch_id = $1', [
      body.batch_id,
    ]);
    await postponed(body.batch_id, 2);
    await world.call(emission, 'POST', `/batches/${body.batch_id}/cancel`);
    expect(await done(body.batch_id, 'cancelled')).toMatchObject({ refused: 2 });
    for (const { error } of await results(body.batch_id)) expect(error.code).toBe('batch_cancelled');
    expect(await world.row(number)).toBeNull();
    await emission.stop();
    emission = await world.start();
  });
});

it('a key that is limited to taxpayers does not see the batches of other keys', async () => {
  const { body } = await send(ndjson([invoice().document]));
  await done(body.batch_id);
  const limited = { identity: world.identity('TesteCF', world.accountId, [ISSUER]) };
  const address = `/batches/${body.batch_id}`;
  for (const path of [address, `${address}/results`])
    expect((await world.call(emission, 'GET', path, limited)).status).toBe(404);
  expect((await world.call(emission, 'POST', `${address}/cancel`, limited)).status).toBe(404);
  expect((await world.call(emission, 'GET', '/batches', limited)).body.batches).toEqual([]);
  const ofBuyer = example('ecf-31', 1, (ecf) => {
    ecf.Encabezado.Emisor.RNCEmisor = BUYER;
  });
  const own = await world.call(emission, 'POST', '/batches', {
    ...limited,
    body: ndjson([invoice().document, ofBuyer]),
    headers: { 'content-type': 'application/x-ndjson' },
  });
  expect(await done(own.body.batch_id)).toMatchObject({ accepted: 1, refused: 1 });
  expect((await results(own.body.batch_id))[1].error).toMatchObject({ status: 404, code: 'taxpayer_not_found' });
  expect((await world.call(emission, 'GET', '/batches', limited)).body.count).toBe(1);
});

it('a line is refused although its fault names characters that PostgreSQL cannot store', async () => {
  const { body } = await send('{"ECF":{"a\\u0000":1}}\n{"ECF":{"a\\ud800":1}}\n');
  expect(await done(body.batch_id)).toMatchObject({ refused: 2 });
});

describe('the batch API', () => {
  const JSON_TYPE = { 'content-type': 'application/json' };
  it.each([
    ['an empty body', '', {}, 400, 'invalid_batch'],
    ['a body of blanks', ' \n\n', {}, 400, 'invalid_batch'],
    ['an object', '{"ECF": {}}', JSON_TYPE, 400, 'invalid_batch'],
    ['an empty array', '[]', JSON_TYPE, 400, 'invalid_batch'],
    ['an array of 12 MiB of blanks', `[${' '.repeat(12 * 1024 * 1024)}]`, JSON_TYPE, 400, 'invalid_batch'],
    ['an array that is cut', '[{"ECF": {}}, {"ECF"', JSON_TYPE, 400, 'invalid_batch'],
    ['an array with an empty element', '[{"ECF": {}},,{}]', JSON_TYPE, 400, 'invalid_batch'],
    ['text after the array', '[{"ECF": {}}] x', JSON_TYPE, 400, 'invalid_batch'],
    ['10,001 lines', '{}\n'.repeat(10_001), {}, 400, 'invalid_batch'],
    ['another content type', '<a/>', { 'content-type': 'application/xml' }, 415, 'unsupported_media_type'],
    ['a compressed body', 'x', { 'content-encoding': 'gzip' }, 415, 'unsupported_media_type'],
    ['an idempotency-key of 256 characters', '{}', { 'idempotency-key': 'x'.repeat(256) }, 422, 'validation_error'],
  ])('refuses %s and keeps no batch', async (_name, body, headers, status, code) => {
    const before = await batches();
    const answer = await send(body, headers as Record<string, string>);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect(await batches()).toBe(before);
  });

  it('refuses a body of more than 100 MiB and keeps no batch', async () => {
    const before = await batches();
    const answer = await send(Buffer.alloc(100 * 1024 * 1024 + 1, '{}\n'));
    expect([answer.status, answer.body.code]).toEqual([413, 'body_too_large']);
    expect(await batches()).toBe(before);
  });

  it('takes one line of 100 MiB as a batch, and refuses the line', async () => {
    const { status, body } = await send(Buffer.alloc(100 * 1024 * 1024, 'x'));
    expect([status, body.total]).toEqual([202, 1]);
    expect(await done(body.batch_id)).toMatchObject({ total: 1, refused: 1 });
    const [line] = await results(body.batch_id);
    expect(line).toMatchObject({ encf: null, error: { status: 413, code: 'body_too_large' } });
  });

  it('keeps no batch if the sender disconnects half way', async () => {
    const before = await batches();
    const request = http.request(`${emission.url}/batches`, {
      method: 'POST',
      headers: {
        [CALLER_HEADER]: world.identity(),
        'content-type': 'application/x-ndjson',
        'content-length': '999999',
      },
    });
    request.on('error', () => undefined);
    request.write(ndjson(Array.from({ length: 600 }, () => ({ ECF: {} }))));
    await until(async () => (await batches()) === before + 1);
    request.destroy();
    await until(async () => (await batches()) === before);
  });

  it('refuses a query of results whose parameters are malformed, and has no results after the last line', async () => {
    const { body } = await send('{}\n');
    const query = (text: string) => world.call(emission, 'GET', `/batches/${body.batch_id}/results${text}`);
    for (const text of ['?after=x', '?limit=0', '?limit=1001', '?only=unknown'])
      expect([text, (await query(text)).status]).toEqual([text, 422]);
    const beyond = await query('?after=9999999999');
    expect([beyond.status, beyond.body.results]).toEqual([200, []]);
  });
});

describe('emission', () => {
  let correct: () => void = () => undefined;
  afterEach(() => correct());

  it.each([
    ['3 hours', 3 * 3_600_000],
    ['92 days', 92 * 86_400_000],
  ])(
    'does not postpone a document or sign it with a wrong time if its clock is %s ahead for a while',
    async (_, ahead) => {
      const key = `clock ${randomUUID()}`;
      const { encf: drawn } = (await world.submit(emission, open(), { key })).body;
      // The simulator judges times by its own clock, which is the one of this process.
      await world.fault({ operation: 'recepcion', kind: 'slow', delay_ms: 500, times: 1 });
      correct = setProcessClockAhead(ahead);
      const wrong = await world.start();
      const { document, encf: number } = invoice();
      const sent = world.submit(wrong, document);
      const sending = `attempt WHERE state = 'sending'`;
      await until(async () => (await furthestDueMs(sending, 'next_action_at')) > 0);
      const lease = await furthestDueMs(sending, 'next_action_at');
      expect((await sent).status).toBeLessThan(300);
      correct();
      expect(lease).toBeLessThan(3_600_000);
      expect(await furthestDueMs('attempt', 'next_action_at')).toBeLessThan(73 * 3_600_000);
      const { rows } = await world.database.query<{ ms: number }>(
        `SELECT extract(epoch FROM a.signed_at - now())::float8 * 1000 AS ms FROM attempt a JOIN emission e ON e.id = a.emission_id
        WHERE e.encf = $1`,
        [number],
      );
      expect(rows[0]?.ms).toBeLessThan(60_000);
      // The key still names the first document, so the sale is not issued twice.
      expect((await world.submit(wrong, open(), { key })).body.encf).toBe(drawn);
      await wrong.stop();
    },
  );

  it('shortens due times beyond the longest pause when it starts', async () => {
    await send(ndjson([invoice().document]));
    await world.submit(emission, invoice().document);
    await emission.stop();
    for (const { table, column } of DUE_TIMES)
      await world.database.query(`UPDATE ${table} SET ${column} = now() + interval '92 days'`);
    emission = await world.start();
    for (const { table, column, longestMs, where = 'true' } of DUE_TIMES)
      await until(async () => (await furthestDueMs(`${table} WHERE ${where}`, column)) <= longestMs);
  });
});

/** Milliseconds until the last due time of a column; 0 if there is none. */
async function furthestDueMs(from: string, column: string): Promise<number> {
  const { rows } = await world.database.query<{ ms: number | null }>(
    `SELECT extract(epoch FROM max(${column}) - clock_timestamp())::float8 * 1000 AS ms FROM ${from}`,
  );
  return rows[0]?.ms ?? 0;
}
