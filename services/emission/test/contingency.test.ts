import { rmSync } from 'node:fs';
import path from 'node:path';
import { createInProcessBus } from '@ecf/bus';
import { invoiceChangedSchema } from '@ecf/contracts';
import { createMetrics } from '@ecf/kit/telemetry';
import { silentLogger } from '@ecf/test-support/services';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createPostgresContingencyStore } from '../src/contingency/contingency.postgres.js';
import { BUYER, creditNote, type Document, encf, example, ISSUER } from './support/documents.js';
import { startRefusingAuthority } from './support/refusing-authority.js';
import { until } from './support/until.js';
import { type Answer, type Instance, World } from './support/world.js';

const LEGEND =
  'e-CF emitido en modalidad de Contingencia, el cual podrá ser consultado para su validez fiscal, a partir de las setenta y dos (72) horas.';
const HOUR = 3_600_000;
const MAIN_HOST = ['autenticacion', 'recepcion', 'consultaresultado', 'consultaestado', 'consultatrackids'];

/**
 * Documents that wait for 80 hours. By hand 5000: `ECF_CONTINGENCY_DOCUMENTS=5000 node scripts/jest.mjs
 * services/emission/test/contingency`.
 */
const WAITING = Number(process.env.ECF_CONTINGENCY_DOCUMENTS ?? 30);

/** Moves the clocks of emission and of the authority. */
let offset = 0;
const clock = () => new Date(Date.now() + offset);
let world: World;
let instance: Instance;

beforeAll(async () => {
  world = await World.create({
    simulator: { clock },
    overrides: { clock },
    settings: {
      STATUS_WAIT_MS: '0',
      RECOVERY_RATE: '20',
      STATUS_KEY: 'key-of-the-test',
      MAINTENANCE_EVERY_MS: '100',
    },
  });
  instance = await world.start();
});
afterAll(() => world.stop());
afterEach(() => world.clearFaults());

const down = (operation = '*') => world.fault({ operation, kind: 'down' });
const waiting = async (query = '', env = 'TesteCF') =>
  (await world.call(instance, 'GET', `/contingency${query}`, { env })).body;
const full = (sequence: number): Document => example('ecf-31', sequence);
const submit = (document: Document, env = 'TesteCF') => world.submit(instance, document, { contingency: 'true', env });
const submitAll = async (first: number, count: number): Promise<number[]> => {
  const sequences = Array.from({ length: count }, (_, index) => first + index);
  for (const sequence of sequences) waits(await submit(full(sequence)));
  return sequences;
};
const sentOnce = async (sequences: readonly number[], type = '31') => {
  for (const sequence of sequences) {
    const row = await world.reaches(encf(type, sequence), ['accepted']);
    expect(row).toMatchObject({ queued_at: null, deadline: expect.any(Date) });
    expect(await world.ledger(encf(type, sequence))).toHaveLength(1);
  }
};

/** Removes the stored bytes of a document; resolves with their path. */
async function loseBytes(sequence: number): Promise<string> {
  const { xml_path: file } = (await world.row(encf('31', sequence))) as { xml_path: string };
  const pending = () => world.database.query('SELECT FROM pending_document WHERE path = $1', [file]);
  while ((await pending()).rows.length > 0) await new Promise((resolve) => setTimeout(resolve, 50));
  rmSync(path.join(world.folder, 'xml', file));
  return file;
}

function waits({ status, body }: Answer, deadline: unknown = null): void {
  expect([status, body.status, body.trackId ?? null]).toEqual([200, 'EnProceso', null]);
  expect(body.contingency).toEqual({ since: expect.any(String), legend: LEGEND, deadline });
}

async function restart(): Promise<void> {
  await instance.stop();
  instance = await world.start();
}

/** Without a token at hand, which a restart forgets. */
async function away(): Promise<void> {
  await restart();
  await down();
}

describe('while the authority is unreachable,', () => {
  it('a document that may wait is signed and stored, is listed, and is sent once after the return', async () => {
    await down();
    const refused = await world.submit(instance, full(1));
    expect([refused.status, refused.body.code]).toEqual([503, 'authority_unreachable']);
    const sequences = await submitAll(2, 8);
    const listed = await waiting();
    expect([listed.count, listed.total, listed.next]).toEqual([8, 8, null]);
    expect(listed.documents.map((one: { encf: string }) => one.encf)).toEqual(sequences.map((one) => encf('31', one)));
    const first = await waiting('?limit=3');
    expect([first.count, first.total]).toEqual([3, 8]);
    expect((await waiting(`?after=${first.next}`)).documents).toEqual(listed.documents.slice(3));
    await restart();
    expect(await world.ledger(encf('31', 2))).toEqual([]);
    await world.clearFaults();
    await sentOnce(sequences);
    expect((await waiting()).total).toBe(0);
    const { body } = await submit(full(2));
    expect(body).toMatchObject({ status: 'Aceptado', contingency: { legend: LEGEND, deadline: expect.any(String) } });
  });

  it('the service refuses a header that is neither true nor false, and pages that do not exist', async () => {
    const { status, body } = await world.submit(instance, full(1), { contingency: 'yes' });
    expect([status, body.detail[0].loc]).toEqual([422, ['header', 'x-contingency']]);
    for (const query of ['limit=0', 'limit=1001', 'after=-1', 'after=x']) {
      const { status: refused } = await world.call(instance, 'GET', `/contingency?${query}`);
      expect([query, refused]).toEqual([query, 422]);
    }
  });

  it('only the documents for the unreachable host wait, although a token is available', async () => {
    expect((await world.submit(instance, full(20))).status).toBe(200);
    // An answer of any service of the host closes its circuit.
    for (const service of MAIN_HOST) await down(service);
    const lost: number[] = [];
    let sequence = 21;
    let answer = await submit(full(sequence));
    while (!answer.body.contingency) {
      expect([answer.status, answer.body.status]).toEqual([200, 'EnProceso']);
      lost.push(sequence);
      sequence += 1;
      answer = await submit(full(sequence));
    }
    waits(answer);
    // Follow-ups of the first ones may be among the five failures that open the circuit.
    expect(lost.length).toBeGreaterThan(0);
    expect(lost.length).toBeLessThanOrEqual(5);
    const consumer = await submit(example('ecf-32', 20));
    expect([consumer.body.status, consumer.body.contingency]).toEqual(['Aceptado', undefined]);
    await world.clearFaults();
    await sentOnce([sequence]);
    for (const one of lost) await world.reaches(encf('31', one), ['accepted']);
  });

  it('summaries wait if only their host is affected, and full documents do not', async () => {
    await restart();
    for (const service of ['recepcionfc', 'consultarfce']) await down(service);
    const summary = (sequence: number) => submit(example('ecf-32', sequence));
    const lost: number[] = [];
    let sequence = 25;
    let answer = await summary(sequence);
    for (; !answer.body.contingency; answer = await summary(sequence)) {
      lost.push(sequence);
      sequence += 1;
    }
    waits(answer);
    expect(lost.length).toBeLessThanOrEqual(5);
    const { body } = await submit(full(29));
    expect([body.status, body.contingency]).toEqual(['EnProceso', undefined]);
    await world.reaches(encf('31', 29), ['accepted']);
    expect((await waiting()).documents.map((one: { encf: string }) => one.encf)).toEqual([encf('32', sequence)]);
    await world.clearFaults();
    await sentOnce([sequence], '32');
    for (const one of lost) await world.reaches(encf('32', one), ['accepted']);
  });

  it('documents wait in CerteCF too, separately from the documents of other environments', async () => {
    await away();
    waits(await submit(full(30), 'CerteCF'));
    expect([(await waiting('', 'CerteCF')).total, (await waiting()).total]).toEqual([1, 0]);
    await world.clearFaults();
    const end = Date.now() + 20_000;
    while ((await waiting('', 'CerteCF')).total > 0 && Date.now() < end) await new Promise((r) => setTimeout(r, 100));
    expect(await world.ledger(encf('31', 30))).toHaveLength(1);
    expect(await world.row(encf('31', 30), 'CerteCF')).toMatchObject({ queued_at: null });
  });

  it('each caller sees the waiting documents of its own account and taxpayers', async () => {
    await away();
    waits(await submit(full(45)));
    const listed = async (identity: string) =>
      (await world.call(instance, 'GET', '/contingency', { identity })).body as { total: number };
    expect(await listed(world.identity('TesteCF', undefined, [ISSUER]))).toMatchObject({ total: 1 });
    for (const identity of [
      world.identity('TesteCF', undefined, [BUYER]),
      world.identity('TesteCF', 'account-2'),
      world.identity('eCF'),
    ])
      expect(await listed(identity)).toEqual({ count: 0, total: 0, next: null, documents: [] });
    await world.clearFaults();
    await sentOnce([45]);
  });

  it('a note on a document that waits is listed with it, and is sent when that one is accepted', async () => {
    await away();
    waits(await submit(full(300)));
    waits(await submit(creditNote(301, encf('31', 300), '100.00')));
    const listed = await waiting();
    expect(listed).toMatchObject({ count: 2, total: 2 });
    expect(listed.documents.map((one: { encf: string }) => one.encf)).toEqual([encf('31', 300), encf('34', 301)]);
    expect(await world.row(encf('34', 301))).toMatchObject({ state: 'held' });
    await world.clearFaults();
    await sentOnce([300]);
    await sentOnce([301], '34');
    expect((await waiting()).total).toBe(0);
  });

  it('a note that is held belongs to the outage, and has no deadline before the return', async () => {
    await world.fault({ operation: 'recepcion', kind: 'processing' });
    expect((await world.submit(instance, full(36))).body.status).toBe('EnProceso');
    await away();
    const note = creditNote(36, encf('31', 36), '100.00');
    const { since } = (await submit(note)).body.contingency;
    expect(await world.row(encf('34', 36))).toMatchObject({ state: 'held' });
    const failures = async () => {
      const sql = 'SELECT sum(failures)::int AS sum FROM contingency WHERE returned_at IS NULL';
      return (await world.database.query<{ sum: number }>(sql)).rows[0]?.sum ?? 0;
    };
    for (let look = 0; look < 2; look += 1) {
      const before = await failures();
      await world.database.query('UPDATE contingency SET due_at = now()');
      await until(async () => (await failures()) > before, 'a probe without an answer');
    }
    expect(await world.row(encf('34', 36))).toMatchObject({ deadline: null });
    const { body } = await submit(full(37));
    expect(body.contingency.since).toBe(since);
    await world.clearFaults();
    await sentOnce([37]);
    await world.reaches(encf('34', 36), ['accepted']);
    // The next look of the recovery sets the deadline.
    await world.database.query('UPDATE contingency SET due_at = now()');
    await until(async () => (await world.row(encf('34', 36)))?.deadline instanceof Date, 'the deadline of the note');
  });

  it('a document without number gets one, is found again by its key, and is sent under it', async () => {
    const range = { env: 'TesteCF' as const, ecf_type: '31' as const, expires: '2099-12-31' };
    world.ranges(ISSUER, [{ ...range, from: encf('31', 46), to: encf('31', 49) }]);
    await away();
    const open = () =>
      world.submit(
        instance,
        example('ecf-31', 1, (ecf) => {
          delete ecf.Encabezado.IdDoc.eNCF;
          delete ecf.Encabezado.IdDoc.FechaVencimientoSecuencia;
        }),
        { contingency: 'true', key: 'sale of the outage' },
      );
    const first = await open();
    waits(first);
    expect(first.body.encf).toBe(encf('31', 46));
    const again = await open();
    waits(again);
    expect(again.body.encf).toBe(encf('31', 46));
    world.ranges(ISSUER, []);
    await world.clearFaults();
    await sentOnce([46]);
  });

  it('documents are listed in the order of their signatures, also under a number that was rejected before', async () => {
    const verdict = { codigo: '2', estado: 'Rechazado', mensajes: [], secuenciaUtilizada: false };
    await world.fault({ operation: 'recepcion', kind: 'verdict', verdict });
    await world.submit(instance, full(38));
    await world.reaches(encf('31', 38), ['rejected-reusable']);
    await world.clearFaults();
    await away();
    waits(await submit(full(39)));
    // Signature times are in whole seconds.
    offset += 1_000;
    waits(await submit(full(38)));
    const pages = [await waiting('?limit=1')];
    pages.push(await waiting(`?limit=1&after=${pages[0].next}`));
    expect(pages.map(({ documents }) => documents[0].encf)).toEqual([encf('31', 39), encf('31', 38)]);
    expect((await waiting(`?after=${pages[1].next}`)).documents).toEqual([]);
    await world.clearFaults();
    await sentOnce([39]);
    await world.reaches(encf('31', 38), ['accepted']);
  });

  it('the lines of a batch wait too, and are pending until they are sent', async () => {
    await away();
    const lines = [31, 32, 33].map((sequence) => JSON.stringify(full(sequence)));
    const send = (contingency: string, body = lines.join('\n')) =>
      world.call(instance, 'POST', '/batches', {
        headers: { 'content-type': 'application/x-ndjson', 'x-contingency': contingency },
        body,
      });
    expect((await send('yes')).status).toBe(422);
    const { batch_id: id } = (await send('true')).body;
    while ((await waiting()).total < 3) await new Promise((resolve) => setTimeout(resolve, 50));
    const batch = async () => (await world.call(instance, 'GET', `/batches/${id}`)).body;
    expect(await batch()).toMatchObject({ pending: 3, in_process: 0, finished_at: null });
    await world.clearFaults();
    await sentOnce([31, 32, 33]);
    while ((await batch()).finished_at === null) await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await batch()).toMatchObject({ pending: 0, accepted: 3 });
  });

  it('the answer warns if the range of the document ends before it may be sent', async () => {
    const ends = (hours: number) => new Date(Date.now() + hours * HOUR).toISOString().slice(0, 10);
    const range = { env: 'TesteCF' as const, ecf_type: '31' as const, from: encf('31', 1), to: encf('31', 99) };
    await away();
    for (const [sequence, hours, warnings] of [
      [40, 48, ['business.number-ends-soon']],
      [41, 24 * 9, []],
    ] as const) {
      world.ranges(ISSUER, [{ ...range, expires: ends(hours) }]);
      const [year, month, day] = ends(hours).split('-');
      const { status, body } = await submit(
        example('ecf-31', sequence, (ecf) => {
          ecf.Encabezado.IdDoc.FechaVencimientoSecuencia = `${day}-${month}-${year}`;
        }),
      );
      expect([status, body.warnings.map(({ rule }: { rule: string }) => rule)]).toEqual([200, warnings]);
    }
    world.ranges(ISSUER, []);
    await world.clearFaults();
    await sentOnce([40, 41]);
  });

  it('a document with warnings=refuse draws no number of a range that ends before it may be sent', async () => {
    const expires = new Date(Date.now() + 48 * HOUR).toISOString().slice(0, 10);
    const range = { env: 'TesteCF' as const, ecf_type: '31' as const, from: encf('31', 9_001), to: encf('31', 9_002) };
    world.ranges(ISSUER, [{ ...range, expires }]);
    await away();
    const open = example('ecf-31', 9_001, (ecf) => {
      delete ecf.Encabezado.IdDoc.eNCF;
      delete ecf.Encabezado.IdDoc.FechaVencimientoSecuencia;
    });
    const request = { contingency: 'true', key: 'strict at the end' };
    const refused = await world.submit(instance, open, { ...request, query: '?warnings=refuse' });
    expect([refused.status, refused.body.faults]).toMatchObject([400, [{ rule: 'business.number-ends-soon' }]]);
    expect((await waiting()).total).toBe(0);
    expect((await world.submit(instance, open, request)).body.encf).toBe(encf('31', 9_001));
    world.ranges(ISSUER, []);
    await world.clearFaults();
    await sentOnce([9_001]);
  });

  it('a document that cannot be sent does not stop other documents', async () => {
    await away();
    const [poisonous = 0, ...others] = await submitAll(50, 6);
    const file = await loseBytes(poisonous);
    await world.clearFaults();
    await sentOnce(others);
    expect(await world.row(encf('31', poisonous))).toMatchObject({ state: 'committed', alarm: 'document-lost' });
    await world.database.query('UPDATE attempt SET queued_at = NULL, next_action_at = NULL WHERE xml_path = $1', [
      file,
    ]);
  });

  it('a taxpayer whose logins the authority answers with an error does not stop others or put them in contingency', async () => {
    const broken = world.issue('00100000025');
    const der = broken.pem.replace(/-----[^-]+-----|\s/g, '');
    const authority = await startRefusingAuthority(world.simulator.url, {
      text: 'error',
      status: 500,
      refuses: (seed) => seed.replaceAll(/\s/g, '').includes(der),
    });
    const { certificate } = world;
    world.register(ISSUER, broken);
    await instance.stop();
    instance = await world.start({}, { AUTHORITY_URL: authority.url });
    await down();
    const theirs = await submitAll(70, 8);
    const ofBuyer = (sequence: number) =>
      example('ecf-31', sequence, (ecf) => {
        ecf.Encabezado.Emisor.RNCEmisor = BUYER;
      });
    waits(await submit(ofBuyer(90)));
    // The authority was unreachable for a long time.
    await world.database.query('UPDATE contingency SET failures = 10, due_at = now()');
    await world.clearFaults();
    await world.reaches(encf('31', 90), ['accepted']);
    const other = await submit(ofBuyer(91));
    expect(other.body.contingency).toBeUndefined();
    const recovery = async () =>
      (
        await world.database.query(
          "SELECT since, failures, returned_at FROM contingency WHERE env = 'TesteCF' AND route = 'ecf'",
        )
      ).rows;
    const [before] = await recovery();
    waits(await submit(full(82)));
    expect(await recovery()).toEqual([{ ...before, returned_at: expect.any(Date) }]);
    expect((await submit(ofBuyer(92))).body.contingency).toBeUndefined();
    world.register(ISSUER, certificate);
    await restart();
    await world.database.query('UPDATE attempt SET next_action_at = now() WHERE queued_at IS NOT NULL');
    await sentOnce([...theirs, 82]);
    await authority.stop();
  });

  it('a wait for the login of one taxpayer does not belong to an outage that ended before', async () => {
    const queue = createPostgresContingencyStore(world.database);
    const destination = { env: 'eCF', route: 'ecf' } as const;
    const begin = (now: Date, isForAll: boolean) => queue.begin(destination, { now, rate: 20, dueAt: now, isForAll });
    const [ended, today] = [new Date(clock().getTime() - 240 * HOUR), clock()];
    expect(await begin(ended, true)).toEqual(ended);
    await queue.reached(destination, ended);
    expect(await begin(today, false)).toEqual(today);
  });

  it('a taxpayer without a certificate does not stop other taxpayers', async () => {
    await away();
    const theirs = await submitAll(240, 6);
    waits(
      await submit(
        example('ecf-31', 250, (ecf) => {
          ecf.Encabezado.Emisor.RNCEmisor = BUYER;
        }),
      ),
    );
    await instance.stop();
    world.register(ISSUER, null);
    instance = await world.start();
    await world.call(instance, 'GET', '/obtain_token');
    // The authority was unreachable for a long time.
    await world.database.query('UPDATE contingency SET failures = 10, due_at = now()');
    await world.clearFaults();
    await world.reaches(encf('31', 250), ['accepted']);
    expect(await world.row(encf('31', theirs[0] as number))).toMatchObject({ alarm: 'no-certificate' });
    world.register(ISSUER, world.certificate);
    await restart();
    await world.call(instance, 'GET', '/obtain_token');
    await world.database.query('UPDATE attempt SET next_action_at = now() WHERE queued_at IS NOT NULL');
    await sentOnce(theirs);
  });

  it('announced maintenance is named in the answer, and a wrong announcement does not stop documents', async () => {
    const at = (hours: number) => new Date(Math.floor(Date.now() / 60_000) * 60_000 + hours * HOUR).toISOString();
    await fetch(`${world.simulator.url}/_control/maintenance`, {
      method: 'PUT',
      body: JSON.stringify([{ environment: 'TesteCF', start_time: at(-0.5), end_time: at(0.5) }]),
    });
    await restart();
    await new Promise((resolve) => setTimeout(resolve, 400));
    await down();
    const words = /announced maintenance until \d{4}-\d{2}-\d{2}T\d{2}:\d{2}:00-04:00/;
    const refused = await world.submit(instance, full(60));
    expect([refused.status, refused.body.detail]).toEqual([503, expect.stringMatching(words)]);
    const { body } = await submit(full(61));
    expect(body.messages[0].valor).toMatch(words);
    await world.clearFaults();
    await sentOnce([61]);
    expect((await world.submit(instance, full(62))).body.status).toBe('EnProceso');
    await world.reaches(encf('31', 62), ['accepted']);
    await fetch(`${world.simulator.url}/_control/maintenance`, { method: 'PUT', body: '[]' });
  });
});

describe('documents that were signed in contingency', () => {
  it('are sent once within minutes after 80 hours with restarts, and none is late', async () => {
    await away();
    const sequences: number[] = [];
    for (const hours of [0, 30, 80]) {
      offset = hours * HOUR;
      sequences.push(...(await submitAll(100 + sequences.length, Math.ceil(WAITING / 3))));
      await restart();
    }
    const { documents } = await waiting('?limit=100');
    const listed = documents.map(({ encf, deadline }: { encf: string; deadline: unknown }) => [encf, deadline]);
    expect(listed).toEqual(sequences.map((sequence) => [encf('31', sequence), null]));
    await world.clearFaults();
    const returned = clock().getTime();
    await sentOnce(sequences);
    for (const sequence of sequences) {
      const { deadline, alarm } = (await world.row(encf('31', sequence))) as { deadline: Date; alarm: unknown };
      expect([alarm, deadline.getTime() - returned > 72 * HOUR - 60_000]).toEqual([null, true]);
    }
  }, 1_800_000);

  it('are sent once although their recovery takes more than 72 hours, which raises the alarm', async () => {
    await instance.stop();
    const metrics = createMetrics();
    const bus = createInProcessBus({ logger: silentLogger });
    const late = new Set<string>();
    await bus.subscribe({
      topics: ['invoices.v1'],
      group: 'test',
      handler: async ({ data }) => {
        const invoice = invoiceChangedSchema.parse(data);
        if (invoice.is_late && !invoice.final) late.add(invoice.encf);
      },
    });
    instance = await world.start({ metrics, bus }, { RECOVERY_RATE: 1 });
    await down();
    const sequences = await submitAll(900_000, 12);
    const [lost = 0, first = 0, ...others] = sequences;
    await loseBytes(lost);
    await world.clearFaults();
    await world.reaches(encf('31', first), ['accepted']);
    const last = async () => (await world.row(encf('31', 900_011))) as { deadline: Date | null };
    while ((await last()).deadline === null) await new Promise((resolve) => setTimeout(resolve, 50));
    const { deadline } = await last();
    offset += 73 * HOUR;
    await sentOnce([first, ...others]);
    expect(await last()).toMatchObject({ deadline });
    const { rows } = await world.database.query<{ encf: string }>(
      `SELECT encf FROM emission e JOIN attempt a ON a.emission_id = e.id
        WHERE e.encf >= $1 AND (a.submitted_at > a.deadline OR a.submitted_at IS NULL)`,
      [encf('31', 900_000)],
    );
    expect(rows.length).toBeGreaterThan(5);
    const named = rows.map((row) => row.encf);
    await until(async () => named.every((one) => late.has(one)));
    expect(named).toContain(encf('31', lost));
    expect(await world.row(encf('31', lost))).toMatchObject({ state: 'committed', alarm: 'contingency-late' });
    expect(await metrics.render()).toContain(`ecf_alarms_total{kind="contingency-late",env="TesteCF"} ${late.size}`);
  });
});
