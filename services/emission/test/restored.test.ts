import { setTimeout as delay } from 'node:timers/promises';
import type { NumberRange } from '@ecf/contracts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Document, encf, example, ISSUER } from './support/documents.js';
import { type Answer, type Instance, World } from './support/world.js';

let world: World;
let instance: Instance;

beforeAll(async () => {
  world = await World.create();
  instance = await world.start();
  world.ranges(ISSUER, [range('31', 1_000, 1_999), range('32', 1_000, 1_999), range('33', 1, 50)]);
});
afterAll(() => world.stop());

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

/** Deletes what the database stored after its backup, as a restore does, and records the restore. */
async function restore(next: Record<string, number>, backup = async () => {}): Promise<void> {
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
  await world.database.query(`INSERT INTO restored (restored_at, backup_at) VALUES (now(), now() - interval '1 hour')
    ON CONFLICT (of_others) DO UPDATE SET restored_at = excluded.restored_at, backup_at = excluded.backup_at, settled_at = NULL`);
  instance = await world.start();
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
    expect([other.status, other.body.code]).toEqual([409, 'encf_already_used']);
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

  it('waits while the authority does not answer, and for an operator where it cannot be asked', async () => {
    await restore({});
    const ticket = await submit(sale('32'), 'ticket');
    expect([ticket.status, ticket.headers.get('retry-after')]).toEqual([503, '300']);
    expect(ticket.body.detail).toContain('an operator has to state the next one');
    await world.database.query(`SELECT continue_numbers('TesteCF', '${ISSUER}', '32', 1001)`);
    expect((await submit(sale('32'), 'ticket')).body.encf).toBe(encf('32', 1_001));

    const fault = await world.fault({ operation: 'consultatrackids', kind: 'http', status: 503 });
    const fresh = sale('31', named('Con demora'));
    expect((await submit(fresh, 'slow')).status).toBe(503);
    expect((await submit(fresh, 'slow')).status).toBe(503);
    await world.clearFaults(fault);
    expect((await once(fresh, 'slow')).status).not.toBe(503);
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
});
