import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { NumberRange } from '@ecf/contracts';
import { formatDocumentDate, toCalendarDate } from '@ecf/domain';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { creditNote, type Document, encf, example, ISSUER } from './support/documents.js';
import { until } from './support/until.js';
import { type Answer, type Instance, World } from './support/world.js';

let world: World;
let instance: Instance;

beforeAll(async () => {
  world = await World.create();
  instance = await world.start();
  world.ranges(ISSUER, [range('31', 1_000, 1_999), range('32', 1_000, 1_999), range('34', 1, 50)]);
});
afterAll(() => world.stop());
afterEach(() => world.clearFaults());

function range(type: string, first: number, last: number): NumberRange {
  return {
    env: 'TesteCF',
    ecf_type: type as '31',
    from: encf(type, first),
    to: encf(type, last),
    expires: '2099-12-31',
  };
}

/** An invoice that leaves its number to the service; the amount names the sale. */
function sale(type: string, edit: (ecf: Document) => void = () => undefined): Document {
  return example(`ecf-${type}`, 1, (ecf) => {
    delete ecf.Encabezado.IdDoc.eNCF;
    delete ecf.Encabezado.IdDoc.FechaVencimientoSecuencia;
    edit(ecf);
  });
}

/** The sale under a number that the caller chose. */
function stated(number: number): Document {
  return example('ecf-31', number, (ecf) => {
    ecf.Encabezado.IdDoc.FechaVencimientoSecuencia = '31-12-2099';
  });
}

const saleTo = (buyer: string) =>
  sale('31', (ecf) => {
    ecf.Encabezado.Comprador.RNCComprador = buyer;
  });
const today = () => formatDocumentDate(toCalendarDate(new Date()));
const named = (name: string) => (ecf: Document) => {
  ecf.DetallesItems.Item[0].NombreItem = name;
};
const submit = (document: Document, key?: string): Promise<Answer> =>
  world.submit(instance, document, key === undefined ? {} : { key });

/** Repeats the call until the numbers are compared with the authority. */
async function once(document: Document, key: string): Promise<Answer> {
  for (;;) {
    const answer = await submit(document, key);
    if (answer.status !== 503) return answer;
    await delay(100);
  }
}

/** Sends a batch of one line; resolves with its id. */
async function send(line: string): Promise<string> {
  const init = {
    body: `${line}\n`,
    headers: { 'content-type': 'application/x-ndjson', 'idempotency-key': randomUUID() },
  };
  return (await world.call(instance, 'POST', '/batches', init)).body.batch_id;
}

/** Waits for the end of a batch. */
async function finished(batch: string): Promise<Answer['body']> {
  let body: Answer['body'];
  await until(async () => {
    body = (await world.call(instance, 'GET', `/batches/${batch}`)).body;
    return body.finished_at !== null;
  }, `the end of batch ${batch}`);
  return body;
}

/** The batch as it was before its line was issued. */
async function unfinish(batch: string, line: string): Promise<void> {
  await world.database.query(
    'UPDATE batch_line SET outcome = NULL, emission_id = NULL, attempt = NULL, document = $2, due_at = now() WHERE batch_id = $1',
    [batch, Buffer.from(line)],
  );
  await world.database.query('UPDATE batch SET finished_at = NULL, counts = NULL, due_at = now() WHERE id = $1', [
    batch,
  ]);
}

/** States the signing time of an earlier answer. */
const signedAt = (answer: Answer) => (ecf: Document) => {
  ecf.FechaHoraFirma = /<FechaHoraFirma>(.*?)</.exec(answer.body.xml)?.[1];
};

/** Deletes what the database stored after its backup, as a restore does, and records the restore. */
async function restore(next: Record<string, number>, backup = async () => {}, ago = '0 days'): Promise<void> {
  await instance.stop();
  await backup();
  for (const [type, number] of Object.entries(next)) {
    const lost = `ecf_type = '${type}' AND encf >= '${encf(type, number)}'`;
    const ids = `SELECT id FROM emission WHERE ${lost}`;
    for (const table of ['submission_key', 'attempt', 'exchange'])
      await world.database.query(`DELETE FROM ${table} WHERE emission_id IN (${ids})`);
    await world.database.query(`DELETE FROM emission WHERE ${lost}`);
    await world.database.query(`UPDATE number_position SET next_number = ${number} WHERE ecf_type = '${type}'`);
  }
  await world.database.query(`INSERT INTO restored (restored_at, backup_at) VALUES (now() - interval '${ago}', now() - interval '${ago}' - interval '1 hour')
    ON CONFLICT (of_others) DO UPDATE SET restored_at = excluded.restored_at, backup_at = excluded.backup_at, settled_at = NULL`);
  instance = await world.start();
}

/** States the next number, as an operator does. */
async function continueNumbers(type: string, next: number, salesCompared = false): Promise<void> {
  await world.database.query('SELECT continue_numbers($1, $2, $3, $4, $5)', [
    'TesteCF',
    ISSUER,
    type,
    next,
    salesCompared,
  ]);
}

/** Cancels numbers of a type. */
function cancel(type: string, first: number, last: number): Promise<Answer> {
  const line = { ecf_type: type, sequence_ranges: [{ encf_desde: encf(type, first), encf_hasta: encf(type, last) }] };
  return world.call(instance, 'POST', '/anecf', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ issuer_rnc: ISSUER, authority_environment: 'TesteCF', detail_lines: [line] }),
  });
}

async function accepted(number: string): Promise<string[]> {
  return (await world.ledger(number)).filter(({ effective }) => effective).map(({ sha256 }) => sha256);
}

describe('a database that was restored to an older state', () => {
  it('gives no number that the authority has, and finds the lost sale of a repeat', async () => {
    const before = await submit(sale('31', named('Antes')), 'before');
    expect(before.body.encf).toBe(encf('31', 1_000));
    const lost: Answer[] = [];
    for (const name of ['Uno', 'Dos', 'Tres']) lost.push(await submit(sale('31', named(name)), name));
    expect((await submit(stated(1_010))).body.status).toBe('Aceptado');
    await restore({ 31: 1_001 });

    const waiting = await submit(sale('31', named('Nueva')), 'new');
    expect([waiting.status, waiting.body.code, waiting.headers.get('retry-after')]).toEqual([
      503,
      'service_unavailable',
      '5',
    ]);
    expect(waiting.body.detail).toContain('queries the authority for the ones used since');
    // The very same sale, also under another key, is the lost one.
    const repeated = await once(sale('31', named('Dos')), 'Dos');
    expect([repeated.status, repeated.body.encf, repeated.body.status]).toEqual([200, encf('31', 1_002), 'Aceptado']);
    expect(repeated.body.security_code).toBe(lost[1]?.body.security_code);
    expect(repeated.body.xml).toBe(lost[1]?.body.xml);
    expect(await accepted(encf('31', 1_002))).toHaveLength(1);
    expect((await submit(sale('31', named('Dos')), 'Dos')).body.encf).toBe(encf('31', 1_002));

    // A sale of the same total, buyer and date may be a lost one, which the caller has to decide.
    const alike = await submit(sale('31', named('Nueva')), 'new');
    expect([alike.status, alike.body.code]).toEqual([409, 'encf_already_used']);
    expect(alike.body.detail).toContain(`${encf('31', 1_001)}, ${encf('31', 1_003)}`);
    const other = sale('31', (ecf) => {
      ecf.Encabezado.Comprador.RNCComprador = '131880681';
    });
    const next = await once(other, 'other');
    expect([next.status, next.body.encf, next.body.status]).toEqual([200, encf('31', 1_011), 'Aceptado']);
  });

  it('adopts the verdict on a repeated document under its number, and refuses another one', async () => {
    const first = await submit(stated(1_200));
    expect(first.body.status).toBe('Aceptado');
    await restore({ 31: 1_200 });
    const other = await submit(
      example('ecf-31', 1_200, (ecf) => {
        ecf.Encabezado.IdDoc.FechaVencimientoSecuencia = '31-12-2099';
        named('Otra venta')(ecf);
      }),
    );
    expect(other).toMatchObject({ status: 409, body: { code: 'encf_already_used' } });
    const again = await submit(stated(1_200));
    expect([again.status, again.body.status, again.body.xml]).toEqual([200, 'Aceptado', first.body.xml]);
    expect(await world.ledger(encf('31', 1_200))).toHaveLength(1);
    // Other services have seen revisions of the lost document.
    expect((await world.row(encf('31', 1_200)))?.revision).toBeGreaterThan(1_000_000);
    expect((await submit(stated(1_201))).body.status).toBe('Aceptado');

    const token = await world.token(instance);
    await restore({ 31: 1_200 });
    const signed = await world.submitSigned(instance, '/submit_ecf', first.body.xml, token);
    expect([signed.status, signed.body.trackId]).toEqual([200, first.body.trackId]);
    await world.reaches(encf('31', 1_200), ['accepted']);
    expect(await world.ledger(encf('31', 1_200))).toHaveLength(1);
  });

  it('waits for an operator where the authority cannot be asked, and issues no lost sale of type 32 again', async () => {
    await continueNumbers('32', 1000, true);
    const lost = await submit(sale('32'), 'ticket');
    expect([lost.body.encf, lost.body.status]).toEqual([encf('32', 1_000), 'Aceptado']);
    const line = JSON.stringify(sale('32'));
    const batch = await send(line);
    await finished(batch);
    await restore({ 32: 1_000 }, () => unfinish(batch, line));

    const waiting = await submit(sale('32'), 'ticket');
    expect([waiting.status, waiting.headers.get('retry-after')]).toEqual([503, '300']);
    expect(waiting.body.detail).toContain('an operator has to state the next one');
    await continueNumbers('32', 1002);
    const again = await submit(sale('32'), 'ticket');
    expect([again.status, again.body.code]).toEqual([409, 'encf_already_used']);
    expect(again.body.detail).toContain('if it has a number, keep that document; if it has none, state an unused eNCF');

    // The operator confirms that the callers send no sale of the lost period again. Batches of the backup do not know that.
    await continueNumbers('32', 1002, true);
    await world.database.query('UPDATE batch_line SET due_at = now() WHERE outcome IS NULL');
    expect(await finished(batch)).toMatchObject({ accepted: 0, refused: 1 });
    const { body } = await world.call(instance, 'GET', `/batches/${batch}/results`);
    expect(body.results[0]).toMatchObject({ error: { code: 'encf_already_used' } });
    expect((await submit(sale('32'), 'new sale')).body.encf).toBe(encf('32', 1_002));
    const later = await send(line);
    expect(await finished(later)).toMatchObject({ accepted: 1 });
  });

  it('issues sales of type 32 that are dated after the day of the restore', async () => {
    await restore({}, undefined, '2 days');
    await continueNumbers('32', 1100);
    const later = sale('32', (ecf) => {
      ecf.Encabezado.Emisor.FechaEmision = today();
    });
    expect((await submit(later, 'later')).body).toMatchObject({ encf: encf('32', 1_100), status: 'Aceptado' });
    expect((await submit(sale('32'), 'earlier')).status).toBe(409);
  });

  it('answers 409 to another signature of a lost type 32, in a batch too, and adopts the same signature', async () => {
    const ticket = example('ecf-32', 1_500);
    const first = await submit(ticket);
    expect(first.body.status).toBe('Aceptado');
    await restore({ 32: 1_500 });
    const { body: signed } = await submit(example('ecf-32', 1_500, signedAt(first)));
    expect(signed).toMatchObject({ status: 'Aceptado', security_code: first.body.security_code });
    expect(await accepted(encf('32', 1_500))).toHaveLength(1);

    await restore({ 32: 1_500 });
    const other = await submit(ticket);
    expect(other).toMatchObject({ status: 409, body: { code: 'encf_already_used' } });
    expect(other.body.detail).toContain(`keep the document that you have under ${encf('32', 1_500)}`);
    expect((await submit(ticket)).status).toBe(409);
    expect(await finished(await send(JSON.stringify(ticket)))).toMatchObject({ refused: 1 });
    expect(await accepted(encf('32', 1_500))).toHaveLength(1);

    // The refusal comes after a first send without an answer.
    await restore({ 32: 1_500 });
    await world.fault({ operation: 'recepcionfc', kind: 'reset', times: 1 });
    expect(await submit(ticket)).toMatchObject({ status: 409, body: { code: 'encf_already_used' } });
  });

  it('waits while the authority does not answer', async () => {
    await restore({});
    const fault = await world.fault({ operation: 'consultatrackids', kind: 'http', status: 503 });
    const fresh = sale('31', named('Con demora'));
    expect((await submit(fresh, 'slow')).status).toBe(503);
    expect((await submit(fresh, 'slow')).status).toBe(503);
    await world.clearFaults(fault);
    expect((await once(fresh, 'slow')).status).not.toBe(503);
  });

  it('continues each range after its own lost numbers, and compares a range that is registered later', async () => {
    const others = [range('31', 1_000, 1_999), range('32', 1_000, 1_999), range('34', 1, 50)];
    const first = [range('44', 1, 5), range('44', 101, 150)];
    const later = range('44', 201, 250);
    world.ranges(ISSUER, [...others, ...first, later]);
    for (const number of [120, 201]) {
      const document = example('ecf-44', number, (ecf) => {
        ecf.Encabezado.IdDoc.FechaVencimientoSecuencia = '31-12-2099';
        ecf.DetallesItems.Item[0].NombreItem = `Perdida ${number}`;
      });
      expect((await submit(document)).body.status).toBe('Aceptado');
    }
    world.ranges(ISSUER, [...others, ...first]);
    await restore({ 44: 1 });
    const another = sale('44', (ecf) => {
      ecf.DetallesItems.Item = [ecf.DetallesItems.Item[0]];
      ecf.Encabezado.Comprador.RNCComprador = '131880681';
    });
    expect((await once(another, 'first range')).body.encf).toBe(encf('44', 1));
    const lost = async () =>
      (await world.database.query<{ encf: string }>("SELECT encf FROM lost_number WHERE ecf_type = '44' ORDER BY 1"))
        .rows;
    expect(await lost()).toEqual([{ encf: encf('44', 120) }]);

    world.ranges(ISSUER, [...others, ...first, later]);
    const waiting = await submit(another, 'later range');
    expect([waiting.status, waiting.headers.get('retry-after')]).toEqual([503, '5']);
    expect((await once(another, 'later range')).body.encf).toBe(encf('44', 2));
    expect(await lost()).toEqual([{ encf: encf('44', 120) }, { encf: encf('44', 201) }]);
  });

  it('compares the numbers that were drawn before the backup and committed after it', async () => {
    const flight = sale('31', (ecf) => {
      ecf.Encabezado.Comprador.RNCComprador = '131880681';
      named('En vuelo')(ecf);
    });
    const first = await once(flight, 'flight');
    expect(first.body).toMatchObject({ status: 'Aceptado' });
    await restore({}, async () => {
      const id = `(SELECT id FROM emission WHERE encf = '${first.body.encf}')`;
      for (const table of ['submission_key', 'attempt', 'exchange'])
        await world.database.query(`DELETE FROM ${table} WHERE emission_id = ${id}`);
      await world.database.query(`DELETE FROM emission WHERE id = ${id}`);
      await world.database.query(`INSERT INTO reserved_number
        VALUES ('TesteCF', '${ISSUER}', '${first.body.encf}', gen_random_uuid(), now(), 'account-1', 'flight')`);
    });
    const again = await once(flight, 'flight');
    expect([again.status, again.body.encf, again.body.xml]).toEqual([200, first.body.encf, first.body.xml]);
    expect(await accepted(first.body.encf)).toHaveLength(1);
  });

  it('signs no document for contingency under a number that the authority may have', async () => {
    const lost = stated(1_400);
    expect((await submit(lost)).body.status).toBe('Aceptado');
    await restore({ 31: 1_400 });
    const down = await world.fault({ operation: '*', kind: 'down' });
    const refused = await world.submit(instance, lost, { contingency: 'true' });
    expect([refused.status, refused.body.code]).toEqual([503, 'authority_unreachable']);
    await world.clearFaults(down);
  });

  it('adopts the lost invoice of a batch, and a lost credit note, and issues neither again', async () => {
    const batchSale = sale('31', (ecf) => {
      ecf.Encabezado.Comprador.RNCComprador = '101000074';
    });
    const line = JSON.stringify(batchSale);
    const batch = await send(line);
    await finished(batch);
    const [{ encf: invoice }] = (await world.call(instance, 'GET', `/batches/${batch}/results`)).body.results;
    const note = creditNote(1, invoice, '100.00', (ecf) => {
      ecf.Encabezado.Comprador.RNCComprador = '101000074';
      delete ecf.Encabezado.IdDoc.eNCF;
    });
    const noted = await once(note, 'note');
    expect([noted.body.encf, noted.body.status]).toEqual([encf('34', 1), 'Aceptado']);
    await restore({ 31: Number(invoice.slice(3)), 34: 1 }, () => unfinish(batch, line));

    await until(async () => {
      await world.database.query('UPDATE batch_line SET due_at = now() WHERE due_at > now() AND NOT leased');
      return (await world.call(instance, 'GET', `/batches/${batch}`)).body.finished_at !== null;
    }, 'the end of the batch');
    expect(await finished(batch)).toMatchObject({ accepted: 1 });
    const { body } = await world.call(instance, 'GET', `/batches/${batch}/results`);
    expect(body.results[0]).toMatchObject({ encf: invoice });
    const again = await once(note, 'note');
    expect([again.body.encf, again.body.xml]).toEqual([encf('34', 1), noted.body.xml]);
    for (const number of [invoice, encf('34', 1)]) expect(await accepted(number)).toHaveLength(1);
  });

  it('gives each number once, and leaves none out, if several instances compare them', async () => {
    const lost = Number((await once(saleTo('130000001'), 'lost')).body.encf.slice(3));
    await restore({ 31: lost });
    const first = instance;
    const second = await world.start();
    const answers = await Promise.all(
      Array.from({ length: 8 }, async (_, index) => {
        const buyer = `13000001${index}`;
        for (;;) {
          const answer = await world.submit(index % 2 === 0 ? first : second, saleTo(buyer), { key: buyer });
          if (answer.status !== 503) return answer.body.encf;
          await delay(50);
        }
      }),
    );
    await second.stop();
    expect(answers.sort()).toEqual(Array.from({ length: 8 }, (_, index) => encf('31', lost + 1 + index)));
  });

  it('adopts a document of contingency that was waiting at the backup and sent after it', async () => {
    await restore({}, undefined, '2 days');
    const down = await world.fault({ operation: '*', kind: 'down' });
    const number = encf('31', 1_450);
    const document = stated(1_450);
    document.ECF.Encabezado.Emisor.FechaEmision = today();
    expect((await world.submit(instance, document, { contingency: 'true' })).status).toBe(200);
    await world.database.query(`CREATE TABLE kept AS SELECT a.* FROM attempt a JOIN emission e ON e.id = a.emission_id
      WHERE e.encf = '${number}'`);
    await world.clearFaults(down);
    await world.reaches(number, ['accepted']);
    await restore({}, async () => {
      await world.database.query('DELETE FROM attempt a USING kept k WHERE a.emission_id = k.emission_id');
      await world.database.query('INSERT INTO attempt SELECT * FROM kept');
    });
    await world.reaches(number, ['accepted']);
    expect(await accepted(number)).toHaveLength(1);
  });

  it('looks up a document that may have been sent after the backup, and does not reject it', async () => {
    const first = await submit(stated(1_300));
    expect(first.body.status).toBe('Aceptado');
    await restore({}, async () => {
      await world.database.query(`UPDATE attempt SET state = 'committed', track_id = NULL, next_action_at = now(), verdict = '{"code":null,"messages":[],"sequenceUsed":null,"dateReceived":null}'
      WHERE emission_id = (SELECT id FROM emission WHERE encf = '${encf('31', 1_300)}')`);
    });
    await world.reaches(encf('31', 1_300), ['accepted']);
    expect(await accepted(encf('31', 1_300))).toHaveLength(1);
  });

  it('issues no sale again whose lost number the operator passed over', async () => {
    const document = saleTo('130000301');
    const lost = await once(document, 'passed over');
    const number = Number(lost.body.encf.slice(3));
    await restore({ 31: number });
    const fault = await world.fault({ operation: 'consultatrackids', kind: 'http', status: 503 });
    expect((await submit(document, 'passed over')).status).toBe(503);
    await continueNumbers('31', number + 1);
    const again = await submit(document, 'passed over');
    expect([again.status, again.body.code]).toEqual([409, 'encf_already_used']);
    expect((await submit(document, 'another key')).status).toBe(409);
    await continueNumbers('31', number + 1, true);
    await world.clearFaults(fault);
    expect((await submit(saleTo('130000302'), 'new')).body).toMatchObject({
      encf: encf('31', number + 1),
      status: 'Aceptado',
    });
  });

  describe('a repeat that draws its number', () => {
    /** Restores a database that lacks a sale, and sends it again. Its draw waits until `meanwhile` has ended. */
    async function repeatedDuring(buyer: string, meanwhile: () => Promise<unknown>) {
      const before = (await once(saleTo(`${buyer}0`), `${buyer} before`)).body.encf;
      const document = saleTo(`${buyer}1`);
      const lost = await once(document, `${buyer} drawing`);
      await restore({ 31: Number(lost.body.encf.slice(3)) });
      await world.database.query(
        `INSERT INTO reserved_number VALUES ('TesteCF', $1, $2, gen_random_uuid(), now(), 'account-1', $3)`,
        [ISSUER, before, `${buyer} drawing`],
      );
      const repeat = await world.database.transaction(async (tx) => {
        await tx.query('SELECT FROM reserved_number FOR UPDATE');
        const repeat = submit(document, `${buyer} drawing`);
        const waiting = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%draw_number%'`;
        await until(async () => (await world.database.query(waiting)).rows.length > 0, 'the draw');
        await meanwhile();
        return { answer: repeat };
      });
      return { lost: lost.body, again: await repeat.answer };
    }

    it('while the comparison ends gets the number of the lost sale', async () => {
      const { lost, again } = await repeatedDuring('13000035', async () => {
        expect((await once(saleTo('130000352'), 'during the draw')).status).toBe(200);
      });
      expect([again.body.encf, again.body.security_code]).toEqual([lost.encf, lost.security_code]);
    });

    it('while an operator states the next one is refused, because its sale may be a lost one', async () => {
      const state = (more: string) =>
        world.database.query(`SELECT continue_numbers('TesteCF', '${ISSUER}', '31', 1500${more})`);
      const { again } = await repeatedDuring('13000036', () => state(''));
      expect([again.status, again.body.code]).toEqual([409, 'encf_already_used']);
      await state(', true');
    });
  });

  it('passes over the numbers of documents that the archive has and the authority never got', async () => {
    world.ranges(ISSUER, [range('31', 1_000, 1_999), range('45', 1, 500)]);
    const governmentSale = (buyer: string) =>
      sale('45', (ecf) => {
        ecf.Encabezado.Comprador.RNCComprador = buyer;
      });
    const before = await once(governmentSale('130000401'), 'before contingency');
    const next = Number(before.body.encf.slice(3)) + 1;
    const down = await world.fault({ operation: '*', kind: 'down' });
    const printed: Answer[] = [];
    for (const buyer of ['130000402', '130000403'])
      printed.push(await world.submit(instance, governmentSale(buyer), { key: buyer, contingency: 'true' }));
    expect(printed.map(({ body }) => body.encf)).toEqual([encf('45', next), encf('45', next + 1)]);
    await until(async () => (await world.database.query('SELECT FROM pending_document')).rows.length === 0);
    await restore({ 45: next });
    await world.clearFaults(down);
    const after = await once(governmentSale('130000404'), 'after contingency');
    expect(after.body.encf).toBe(encf('45', next + 2));
    // The stored XML is sent later.
    const token = await world.token(instance);
    const sent = await world.submitSigned(instance, '/submit_ecf', printed[1]?.body.xml, token);
    expect(sent.status).toBe(200);
    await world.reaches(encf('45', next + 1), ['accepted']);
  });

  it('frees no number of a cancellation that may have been sent before', async () => {
    expect((await cancel('31', 1_900, 1_909)).body.authority_status).toBe('Aceptado');
    await restore({}, async () => {
      await world.database.query('DELETE FROM cancelled_range');
      await world.database.query('DELETE FROM cancellation');
    });
    const again = (await cancel('31', 1_900, 1_909)).body;
    expect(again.authority_status).toBe('submitted');
    const { rows } = await world.database.query(
      'SELECT c.alarm, r.first_number, r.last_number FROM cancellation c JOIN cancelled_range r ON r.cancellation_id = c.id',
    );
    expect(rows).toEqual([{ alarm: 'cancellation-open', first_number: 1_900, last_number: 1_909 }]);
  });

  it('gives no number again below the compared ones if the authority refuses their cancellation', async () => {
    world.ranges(ISSUER, [range('31', 1_000, 1_999), range('32', 1_000, 1_999), range('43', 1, 50)]);
    expect((await once(sale('43'), 'before the backup')).body.encf).toBe(encf('43', 1));
    const expense = (number: number) =>
      example('ecf-43', number, (ecf) => {
        ecf.Encabezado.IdDoc.FechaVencimientoSecuencia = '31-12-2099';
      });
    for (const number of [2, 4]) expect((await submit(expense(number))).body.status).toBe('Aceptado');
    // In the 30 days after the restore, a refusal frees no number.
    await restore(
      { 43: 2 },
      async () => {
        await world.database.query(`DELETE FROM compared_series WHERE ecf_type = '43'`);
      },
      '31 days',
    );
    expect((await once(sale('43'), 'after the comparison')).body.encf).toBe(encf('43', 5));
    await continueNumbers('32', 1_700);

    const verdict = { codigo: '2', estado: 'Rechazado', mensajes: ['x'] };
    const fault = await world.fault({ operation: 'anulacionrangos', kind: 'verdict', verdict });
    for (const [type, number] of [
      ['43', 3],
      ['32', 1_690],
    ] as const)
      expect((await cancel(type, number, number)).body.authority_status).toBe('Rechazado');
    await world.clearFaults(fault);
    const next = async (type: string) => (await submit(sale(type), `the next ${type}`)).body.encf;
    expect([await next('43'), await next('32')]).toEqual([encf('43', 6), encf('32', 1_700)]);
    expect((await submit(expense(3))).body.status).toBe('Aceptado');
  });

  it.each([
    ['of an unregistered taxpayer', 'TesteCF', '101000074', '31', 1_500],
    ['of a type without a range', 'TesteCF', ISSUER, '46', 1_500],
    ['of an environment without a range', 'eCF', ISSUER, '31', 1_500],
    ['after the ranges', 'TesteCF', ISSUER, '31', 2_001],
    ['before the ranges', 'TesteCF', ISSUER, '31', 999],
  ])('takes no next number %s from an operator', async (_, env, issuer, type, next) => {
    await expect(
      world.database.query('SELECT continue_numbers($1, $2, $3, $4)', [env, issuer, type, next]),
    ).rejects.toThrow(`${issuer} has no registered range of type ${type} in ${env} that holds ${next}.`);
  });
});
