import type { NumberRange, TaxpayerState } from '@ecf/contracts';
import { toCalendarDate } from '@ecf/domain';
import { verifyXml } from '@ecf/xml-signing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createPostgresNumberStore } from '../src/numbers/numbers.postgres.js';
import { creditNote, type Document, encf, example, ISSUER } from './support/documents.js';
import { type Answer, type Instance, World } from './support/world.js';

let world: World;
/** Two instances over one database. */
let instances: [Instance, Instance];
let keys = 0;
/** Ends the next call between the draw and the signature. */
let failAfterDraw = false;

beforeAll(async () => {
  world = await World.create();
  const checkpoint = (step: string) => {
    if (step !== 'drawn' || !failAfterDraw) return;
    failAfterDraw = false;
    throw new Error('the signature fails');
  };
  instances = [await world.start({ checkpoint }), await world.start({ checkpoint })];
});
afterAll(() => world.stop());

/** An invoice that leaves number and expiry to the service. */
function open(type = '31', edit?: (ecf: Document) => void): Document {
  return example(`ecf-${type}`, 1, (ecf) => {
    delete ecf.Encabezado.IdDoc.eNCF;
    delete ecf.Encabezado.IdDoc.FechaVencimientoSecuencia;
    edit?.(ecf);
  });
}

const range = (type: string, first: number, last: number, expires: string | null = '2099-12-31'): NumberRange => ({
  env: 'TesteCF',
  ecf_type: type as '31',
  from: encf(type, first),
  to: encf(type, last),
  expires,
});

function newKey(): string {
  keys += 1;
  return `key ${keys}`;
}

function submit(document: Document, key: string | undefined = newKey(), at = 0): Promise<Answer> {
  return world.submit(instances[at] as Instance, document, key === '' ? {} : { key });
}

async function numbers(type: string): Promise<string[]> {
  const { rows } = await world.database.query<{ encf: string }>(
    `SELECT encf FROM emission WHERE issuer_rnc = '${ISSUER}' AND ecf_type = '${type}' ORDER BY encf`,
  );
  return rows.map((row) => row.encf);
}

describe('a document without eNCF', () => {
  it('gets the next number of its range, in order, with the expiry of the range', async () => {
    world.ranges(ISSUER, [range('31', 1_000, 1_999)]);
    const first = await submit(open());
    expect([first.status, first.body.encf, first.body.status]).toEqual([200, encf('31', 1_000), 'Aceptado']);
    expect(verifyXml(Buffer.from(first.body.xml)).signature).toBe('valid');
    expect(first.body.xml).toContain('<FechaVencimientoSecuencia>31-12-2099</FechaVencimientoSecuencia>');
    const second = await submit(open(), newKey(), 1);
    expect(second.body.encf).toBe(encf('31', 1_001));
  });

  it('leaves its number open by every value that counts as absent', async () => {
    for (const absent of ['', null, [], {}, [''], [{}], { a: null }]) {
      const document = open('31', ({ Encabezado: { IdDoc } }) => {
        IdDoc.eNCF = absent;
        IdDoc.FechaVencimientoSecuencia = absent;
      });
      const { status, body } = await world.submit(instances[0], document, { query: '?validate=true' });
      expect([absent, status, body.status, body.encf]).toEqual([absent, 200, 'Validado', null]);
    }
  });

  it('steps over numbers that the caller used or cancelled', async () => {
    const stated = example('ecf-31', 1_002, (ecf) => {
      ecf.Encabezado.IdDoc.FechaVencimientoSecuencia = '31-12-2099';
    });
    expect((await submit(stated, '')).body.status).toBe('Aceptado');
    await world.database.query(`INSERT INTO cancelled_range VALUES ('TesteCF', '${ISSUER}', '31', 1003, 1005, 99)`);
    expect((await submit(open())).body.encf).toBe(encf('31', 1_006));
  });

  it('gets the numbers of a cancellation that the authority refused, which draws skipped meanwhile', async () => {
    world.ranges(ISSUER, [range('43', 1, 5)]);
    expect((await submit(open('43'))).body.encf).toBe(encf('43', 1));
    // As if a draw came while the cancellation was being sent.
    await world.database.query(`UPDATE number_position SET next_number = 4 WHERE ecf_type = '43'`);
    const verdict = { codigo: '2', estado: 'Rechazado', mensajes: ['x'] };
    const fault = await world.fault({ operation: 'anulacionrangos', kind: 'verdict', verdict });
    const refused = await world.call(instances[0], 'POST', '/anecf', {
      body: JSON.stringify({
        issuer_rnc: ISSUER,
        authority_environment: 'TesteCF',
        detail_lines: [{ ecf_type: '43', sequence_ranges: [{ encf_desde: encf('43', 2), encf_hasta: encf('43', 3) }] }],
      }),
      headers: { 'content-type': 'application/json' },
    });
    expect(refused.body.authority_status).toBe('Rechazado');
    await world.clearFaults(fault);
    for (const next of [2, 3, 4, 5]) expect((await submit(open('43'))).body.encf).toBe(encf('43', next));
    expect((await submit(open('43'))).body.code).toBe('range_exhausted');
    world.ranges(ISSUER, [range('31', 1_000, 1_999)]);
  });

  it('needs an idempotency-key, unless it is only checked', async () => {
    const refused = await submit(open(), '');
    expect([refused.status, refused.body.code]).toEqual([422, 'idempotency_key_required']);
    expect(refused.body.detail[0].loc).toEqual(['header', 'idempotency-key']);
    const checked = await world.submit(instances[0], open(), { query: '?validate=true' });
    expect([checked.status, checked.body.status, checked.body.encf]).toEqual([200, 'Validado', null]);
    expect(checked.body.xml).not.toContain('eNCF');
    const malformed = await submit(open(), 'x'.repeat(256));
    expect([malformed.status, malformed.body.code]).toEqual([422, 'validation_error']);
  });

  it('gets its first answer again under its key, also simultaneously and on another instance', async () => {
    const key = newKey();
    const answers = await Promise.all([0, 1, 0, 1].map((at) => submit(open(), key, at)));
    const issued = answers.map(({ body }) => body.encf);
    expect(new Set(issued).size).toBe(1);
    expect(new Set(answers.map(({ body }) => body.xml)).size).toBe(1);
    expect((await submit(open(), key)).body.encf).toBe(issued[0]);
    const other = await submit(
      open('31', (ecf) => {
        ecf.Encabezado.Emisor.RazonSocialEmisor = 'OTRO NOMBRE';
      }),
      key,
    );
    expect([other.status, other.body.code]).toEqual([409, 'idempotency_conflict']);
    expect((await world.ledger(issued[0])).length).toBe(1);
  });

  it('uses no number and binds no key if it is refused', async () => {
    const key = newKey();
    const before = await numbers('31');
    const faulty = await submit(
      open('31', (ecf) => {
        delete ecf.Encabezado.Emisor.RazonSocialEmisor;
      }),
      key,
    );
    expect([faulty.status, faulty.body.code]).toEqual([400, 'invalid_document']);
    const otherExpiry = await submit(
      open('31', (ecf) => {
        ecf.Encabezado.IdDoc.FechaVencimientoSecuencia = '30-12-2099';
      }),
      key,
    );
    expect([otherExpiry.status, otherExpiry.body.faults[0].path]).toEqual([
      400,
      'ECF.Encabezado.IdDoc.FechaVencimientoSecuencia',
    ]);
    // Also a check without a number: no range that is left has this expiry.
    const checked = await world.submit(
      instances[0],
      open('31', (ecf) => {
        ecf.Encabezado.IdDoc.FechaVencimientoSecuencia = '30-12-2099';
      }),
      { query: '?validate=true' },
    );
    expect([checked.status, checked.body.faults?.[0]?.path]).toEqual([
      400,
      'ECF.Encabezado.IdDoc.FechaVencimientoSecuencia',
    ]);
    expect(await numbers('31')).toEqual(before);
    expect((await submit(open(), key)).body.encf).toBe(encf('31', 1_008));
  });

  it('gets no number while the authority gives no token, and its key is free for another document', async () => {
    const before = world.taxpayers.get(ISSUER)?.ranges ?? [];
    const away = await world.start({}, { AUTHORITY_URL: 'http://127.0.0.1:1' });
    world.ranges(ISSUER, [range('46', 1, 9)]);
    const key = newKey();
    const refused = await world.submit(away, open('46'), { key });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, expect.any(String)]);
    const drawn = await world.database.query(
      `SELECT encf FROM reserved_number WHERE encf LIKE 'E46%' UNION SELECT ecf_type FROM number_position WHERE ecf_type = '46'`,
    );
    expect(drawn.rows).toEqual([]);
    const other = open('46', ({ Encabezado: { Emisor } }) => {
      Emisor.DireccionEmisor = 'OTRA DIRECCION';
    });
    expect((await submit(other, key)).body.encf).toBe(encf('46', 1));
    world.ranges(ISSUER, before);
    await away.stop();
  });

  it('has to state its expiry if its range has none, which is checked before the draw', async () => {
    const before = world.taxpayers.get(ISSUER)?.ranges ?? [];
    world.ranges(ISSUER, [range('44', 500, 501, null)]);
    const path = 'ECF.Encabezado.IdDoc.FechaVencimientoSecuencia';
    for (const options of [{ query: '?validate=true' }, { key: newKey() }]) {
      const { status, body } = await world.submit(instances[0], open('44'), options);
      expect([status, body.faults?.[0]?.path]).toEqual([400, path]);
    }
    const drawn = await world.database.query('SELECT FROM reserved_number WHERE encf = $1', [encf('44', 500)]);
    expect(drawn.rowCount).toBe(0);
    const stated = open('44', ({ Encabezado: { IdDoc } }) => {
      IdDoc.FechaVencimientoSecuencia = '31-12-2099';
    });
    expect((await submit(stated)).body.encf).toBe(encf('44', 500));
    world.ranges(ISSUER, before);
  });

  it('leaves its number to the next document if it fails between the draw and the signature', async () => {
    failAfterDraw = true;
    const key = newKey();
    expect((await submit(open(), key)).status).toBe(500);
    expect((await submit(open())).body.encf).toBe(encf('31', 1_009));
    expect((await submit(open(), key, 1)).body.encf).toBe(encf('31', 1_010));
  });

  it('gets the number of a call whose process ended before the signature, when the reservation ends', async () => {
    await world.database.query(
      `SELECT draw_number('account-1', 'TesteCF', '${ISSUER}', '31', 'crashed', gen_random_uuid(), 3600000,
        '[{"first_number": 1000, "last_number": 1999}]')`,
    );
    expect((await submit(open())).body.encf).toBe(encf('31', 1_012));
    // The repeat under the key of that call waits for the end of the reservation.
    await world.database.query(
      `UPDATE reserved_number SET until = clock_timestamp() + interval '400 ms' WHERE idempotency_key = 'crashed'`,
    );
    expect((await submit(open(), 'crashed')).body.encf).toBe(encf('31', 1_011));
  });

  it('gets the number of its own call that crashed, so that repeats of two crashed calls leave no gap', async () => {
    const draw = async (database: Pick<typeof world.database, 'query'>, key: string) => {
      const ranges = JSON.stringify([{ first_number: 1, last_number: 9 }]);
      const values = ['account-1', 'TesteCF', '101000001', '31', key, ranges];
      const { rows } = await database.query<{ encf: string }>(
        'SELECT encf FROM draw_number($1, $2, $3, $4, $5, gen_random_uuid(), 3600000, $6::json)',
        values,
      );
      return rows[0]?.encf;
    };
    for (const key of ['crashed one', 'crashed two']) await draw(world.database, key);
    await world.database.query(`UPDATE reserved_number SET until = '-infinity'`);
    await world.database.transaction(async (tx) => {
      expect(await draw(tx, 'crashed two')).toBe(encf('31', 2));
      // The first transaction still holds its locks.
      expect(await draw(world.database, 'crashed one')).toBe(encf('31', 1));
    });
  });

  it('gets another number if its own went to another document when its reservation ended', async () => {
    let taker: Answer | null = null;
    const slow = await world.start({
      checkpoint: async (step) => {
        if (step !== 'drawn' || taker !== null) return;
        await world.database.query(`UPDATE reserved_number SET until = '-infinity'`);
        taker = await submit(open());
      },
    });
    const answer = await world.submit(slow, open(), { key: newKey() });
    const taken = (taker as Answer | null)?.body.encf;
    expect([taken, answer.status, answer.body.encf]).toEqual([encf('31', 1_013), 200, encf('31', 1_014)]);
    await slow.stop();
  });

  it('gets a number of another range if its own expires between the draw and the signature', async () => {
    const day = 86_400_000;
    let ago = day;
    const clock = () => new Date(Date.now() - ago);
    const slow = await world.start({
      clock,
      checkpoint: (step) => {
        if (step === 'drawn') ago = 0;
      },
    });
    const ending = range('41', 100, 199, toCalendarDate(clock()));
    world.ranges(ISSUER, [ending, range('41', 200, 299)]);
    const answer = await world.submit(slow, open('41'), { key: newKey() });
    expect([answer.status, answer.body.encf]).toEqual([200, encf('41', 200)]);
    ago = day;
    world.ranges(ISSUER, [ending]);
    const refused = await world.submit(slow, open('41'), { key: newKey() });
    expect([refused.status, refused.body.code]).toEqual([409, 'range_expired']);
    expect(await numbers('41')).toEqual([encf('41', 200)]);
    await slow.stop();
  });

  it('is refused if the ranges are exhausted, expired or absent', async () => {
    world.ranges(ISSUER, [range('32', 1, 2, null), range('33', 1, 9, '2020-01-01')]);
    expect((await submit(open('32'))).body.encf).toBe(encf('32', 1));
    expect((await submit(open('32'), newKey(), 1)).body.xml).not.toContain('FechaVencimientoSecuencia');
    const exhausted = await submit(open('32'));
    expect([exhausted.status, exhausted.body.code]).toEqual([409, 'range_exhausted']);
    expect(exhausted.body.detail).toContain('register it');
    const absent = await submit(open('31'));
    expect([absent.status, absent.body.faults[0]?.path]).toEqual([400, 'ECF.Encabezado.IdDoc.eNCF']);
    world.ranges(ISSUER, [range('32', 1, 2, null), range('32', 3, 9, '2020-01-01')]);
    const expired = await submit(open('32'));
    expect([expired.status, expired.body.code]).toEqual([409, 'range_expired']);
    // A range that is registered over the others continues after the used numbers.
    world.ranges(ISSUER, [range('32', 2, 20, null)]);
    expect((await submit(open('32'))).body.encf).toBe(encf('32', 3));
  });

  it('gets the next of the numbers that are counted as remaining in its range', async () => {
    const left = async (...ranges: NumberRange[]) =>
      (await instances[0].emission.resolution.numbersLeft({ issuer_rnc: ISSUER, ranges })).ranges;
    // 1 to 3 of type 32 are used, 7 and 8 are cancelled, and 5 is reserved.
    await world.database.query(`INSERT INTO cancelled_range VALUES ('TesteCF', '${ISSUER}', '32', 7, 8, 99)`);
    await world.database.query(
      `INSERT INTO reserved_number VALUES ('TesteCF', '${ISSUER}', '${encf('32', 5)}', gen_random_uuid(), 'infinity', 'account-1')`,
    );
    expect(await left(range('32', 2, 20, null), range('32', 1, 20, '2020-01-01'), range('41', 1, 9))).toEqual([
      { next: encf('32', 4), remaining: 14 },
      { next: null, remaining: 14 },
      { next: encf('41', 1), remaining: 9 },
    ]);
    await world.database.query('DELETE FROM reserved_number');
  });

  it('finds free connections while the remaining numbers are counted for 200 callers', async () => {
    let [reading, most] = [0, 0];
    const query: typeof world.database.query = async (...statement) => {
      most = Math.max(most, ++reading);
      return world.database
        .query(...(statement as Parameters<typeof world.database.query>))
        .finally(() => --reading) as never;
    };
    const store = createPostgresNumberStore({ ...world.database, query }, 1_000);
    const ranges = [range('45', 1, 9), range('44', 1, 50)];
    const callers = Array.from({ length: 200 }, (_, index) => ranges.slice(0, index % 3));
    const counted = await Promise.all(callers.map((wanted) => store.left(ISSUER, wanted)));
    const left = [
      { next: encf('45', 1), remaining: 9 },
      { next: encf('44', 1), remaining: 50 },
    ];
    expect(counted).toEqual(callers.map((wanted) => left.slice(0, wanted.length)));
    expect(most).toBeLessThanOrEqual(2);
  });

  it('gets another number for each of 64 callers on two instances, without a gap', async () => {
    world.ranges(ISSUER, [range('31', 5_000, 9_999), range('34', 1, 100, null)]);
    const answers = await Promise.all(Array.from({ length: 64 }, (_, index) => submit(open(), newKey(), index % 2)));
    expect(answers.map(({ status }) => status)).toEqual(Array(64).fill(200));
    expect(answers.map(({ body }) => body.encf).sort()).toEqual(
      Array.from({ length: 64 }, (_, index) => encf('31', 5_000 + index)),
    );
  });

  it('steps over a hundred thousand used numbers in one draw, and over no free one', async () => {
    const [first, last] = [10_000, 110_000];
    await world.database.query('ALTER TABLE emission DISABLE TRIGGER USER');
    await world.database.query(
      `INSERT INTO emission (env, issuer_rnc, encf, account_id, ecf_type, attempt, created_at)
        SELECT 'TesteCF', '${ISSUER}', encf_of('33', n), 'account-1', '33', 1, now()
          FROM generate_series(${first}, ${last}) AS n WHERE n NOT IN (12500, 99999)`,
    );
    await world.database.query('ALTER TABLE emission ENABLE TRIGGER USER');
    await world.database.query(`INSERT INTO cancelled_range VALUES ('TesteCF', '${ISSUER}', '33', 109990, 110010, 99)`);
    const registered = range('33', first, 9_999_999_999);
    const left = () =>
      instances[0].emission.resolution
        .numbersLeft({ issuer_rnc: ISSUER, ranges: [registered] })
        .then(({ ranges }) => ranges[0]);
    const draw = () =>
      world.database.transaction(async (tx) => {
        const { rows } = await tx.query<{ encf: string }>(
          `SELECT encf FROM draw_number('account-1', 'TesteCF', '${ISSUER}', '33', '${newKey()}', gen_random_uuid(), 60000,
            '[{"first_number": ${first}, "last_number": 9999999999}]')`,
        );
        const scans = await tx.query<{ n: number }>(
          `SELECT idx_scan::int AS n FROM pg_stat_xact_user_tables WHERE relname = 'emission'`,
        );
        // One scan for each used number would be tens of thousands.
        expect(scans.rows[0]?.n).toBeLessThan(5_000);
        return rows[0]?.encf;
      });
    const free = 9_999_999_999 - 110_010;
    expect(await left()).toEqual({ next: encf('33', 12_500), remaining: free + 2 });
    expect([await draw(), await draw()]).toEqual([encf('33', 12_500), encf('33', 99_999)]);
    expect(await left()).toEqual({ next: encf('33', 110_011), remaining: free });
    expect(await draw()).toBe(encf('33', 110_011));
  });

  it('may be a credit note; simultaneous notes never exceed the balance', async () => {
    const invoice = await submit(open());
    const total = '1.00';
    const note = creditNote(1, invoice.body.encf, total, (ecf) => {
      delete ecf.Encabezado.IdDoc.eNCF;
    });
    const answers = await Promise.all([0, 1, 0, 1].map((at) => submit(note, newKey(), at)));
    expect(answers.map(({ status, body }) => [status, body.encf]).sort()).toEqual(
      [1, 2, 3, 4].map((sequence) => [200, encf('34', sequence)]),
    );
  });

  it('shows the present status under its key, and is never a new attempt, even if its number is reusable', async () => {
    const key = newKey();
    await world.fault({
      operation: 'consultaresultado',
      kind: 'verdict',
      verdict: { codigo: '2', estado: 'Rechazado', mensajes: [], secuenciaUtilizada: false },
    });
    const first = await submit(open(), key);
    await world.clearFaults();
    const again = await submit(open(), key, 1);
    expect([first.body.status, again.body.status, again.body.encf]).toEqual([
      'Rechazado',
      'Rechazado',
      first.body.encf,
    ]);
    expect((await world.ledger(first.body.encf)).length).toBe(1);
  });

  it('has its own key in each environment', async () => {
    const key = newKey();
    const ranges = (world.taxpayers.get(ISSUER) as TaxpayerState).ranges;
    world.ranges(ISSUER, [...ranges, { ...range('31', 1, 9), env: 'CerteCF' }]);
    expect((await submit(open(), key)).status).toBe(200);
    const other = open('31', (ecf) => {
      ecf.Encabezado.Emisor.RazonSocialEmisor = 'OTRO NOMBRE';
    });
    expect((await submit(other, key)).body.code).toBe('idempotency_conflict');
    const { status, body } = await world.submit(instances[0], other, { key, env: 'CerteCF' });
    expect([status, body.encf]).toEqual([200, encf('31', 1)]);
    world.ranges(ISSUER, ranges);
  });

  it('is remembered under its key for 30 days', async () => {
    const [kept, forgotten] = [newKey(), newKey()];
    const numberOf = async (key: string) => (await submit(open(), key)).body.encf;
    const first = [await numberOf(kept), await numberOf(forgotten)];
    for (const [key, days] of [
      [kept, 29],
      [forgotten, 31],
    ] as const)
      await world.database.query(
        `UPDATE submission_key SET created_at = now() - interval '${days} days' WHERE idempotency_key = '${key}'`,
      );
    await createPostgresNumberStore(world.database, 1_000).forgetKeys(new Date());
    expect(await numberOf(kept)).toBe(first[0]);
    expect(await numberOf(forgotten)).not.toBe(first[1]);
  });
});
