import { request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { XmlStoreError } from '@ecf/archive';
import { silentLogger } from '@ecf/test-support/services';
import { until } from '@ecf/test-support/until';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { encf, sampleBytes } from './support/documents.js';
import { startWorld, type World } from './support/world.js';

let world: World;
const kept = new Map<string, Buffer>();
const lines: { shared_with?: string; request_id?: string; outcome?: string }[] = [];
let sequence = 0;
const next = () => encf(++sequence);

beforeAll(async () => {
  world = await startWorld({
    instances: 2,
    overrides: {
      logger: Object.assign(Object.create(silentLogger), { info: (line: object) => lines.push(line) }),
      archive: {
        async put(path, bytes) {
          kept.set(path, Buffer.from(bytes));
          return { checksum: '' };
        },
        async get(path) {
          const bytes = kept.get(path);
          if (bytes === undefined) throw new XmlStoreError('missing', `There is no document under ${path}.`);
          return bytes;
        },
        ready: async () => undefined,
        async *list() {},
      },
    },
  });
});
afterAll(() => world.stop());

/** Sends and cuts the connection before the answer is written; resolves when the service has finished. */
async function sendAndVanish(bytes: Buffer, instance = 0): Promise<void> {
  const inserts = await holdUp('INSERT');
  const req = request(`${world.url(instance)}/fe/recepcion/api/ecf`, { method: 'POST', headers: { env: 'TesteCF' } });
  req.on('error', () => undefined);
  req.end(bytes);
  await until(inserts.waiting, (count) => count > 0);
  req.destroy();
  await delay(20);
  await inserts.end();
}

const LOCKS = { INSERT: 4712, UPDATE: 4711 };

interface HeldUp {
  /** Statements that wait. */
  waiting(): Promise<number>;
  end(): Promise<void>;
}

/** Delays inserts of documents, or records about answers, as a busy database does. */
async function holdUp(change: keyof typeof LOCKS): Promise<HeldUp> {
  const lock = LOCKS[change];
  let end: () => void = () => undefined;
  let locked: () => void = () => undefined;
  const ready = new Promise<void>((resolve) => {
    locked = resolve;
  });
  await world.database.transaction(async (tx) => {
    await tx.query(`CREATE OR REPLACE FUNCTION pause_${change}() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM pg_advisory_xact_lock_shared(${lock}); RETURN new; END $$`);
    for (const table of ['received_documents', 'refused_documents'])
      await tx.query(
        `CREATE OR REPLACE TRIGGER pause_${change} BEFORE ${change} ON ${table} FOR EACH ROW EXECUTE FUNCTION pause_${change}()`,
      );
  });
  const holding = world.database.transaction(async (tx) => {
    await tx.query(`SELECT pg_advisory_xact_lock(${lock})`);
    locked();
    await new Promise<void>((resolve) => {
      end = resolve;
    });
  });
  await ready;
  return {
    async waiting() {
      const { rows } = await world.database.query<{ count: number }>(
        `SELECT count(*) AS count FROM pg_locks WHERE locktype = 'advisory' AND objid = ${lock} AND NOT granted`,
      );
      return rows[0]?.count ?? 0;
    },
    async end() {
      end();
      await holding;
    },
  };
}

async function estado(response: Response): Promise<string> {
  const text = await response.text();
  return /<CodigoMotivoNoRecibido>(\d)/.exec(text)?.[1] ?? (text.includes('<Estado>0</Estado>') ? '0' : text);
}

async function recorded(number: string): Promise<number> {
  const find = () => world.database.query('SELECT 1 FROM received_documents WHERE encf = $1', [number]);
  return (await until(find, ({ rowCount }) => rowCount > 0)).rowCount;
}

describe('the first acknowledgement', () => {
  it.each([
    ['at the same instance', 0],
    ['at another instance', 1],
  ])('is given again for identical bytes after the connection was lost before the answer: %s', async (_, instance) => {
    const number = next();
    const bytes = await sampleBytes({ encf: number });
    await sendAndVanish(bytes);
    expect(await recorded(number)).toBe(1);
    const { rows } = await world.database.query<{ arecf_path: string }>(
      'SELECT arecf_path FROM received_documents WHERE encf = $1',
      [number],
    );
    const again = await world.send(bytes, { instance });
    const text = await again.clone().text();
    expect(await estado(again)).toBe('0');
    expect(text).toBe((await world.archive.get(rows[0]?.arecf_path as string)).toString());
    // Now the answer left, so the same bytes are a repeat from here on.
    expect(await estado(await world.send(bytes, { instance }))).toBe('3');
    const elsewhere = () => world.send(bytes, { instance: 1 - instance }).then(estado);
    expect(await until(elsewhere, (state) => state === '3')).toBe('3');
  });

  it('is not given for other bytes, whether the answer was lost or not', async () => {
    const number = next();
    await sendAndVanish(await sampleBytes({ encf: number }));
    await recorded(number);
    expect(await estado(await world.send(await sampleBytes({ encf: number, total: '5.00' })))).toBe('3');
  });

  it('is given to all overlapping calls with identical bytes', async () => {
    const number = next();
    const bytes = await sampleBytes({ encf: number });
    const inserts = await holdUp('INSERT');
    const calls = [0, 1, 0, 1, 0, 1].map((instance) => world.send(bytes, { instance }));
    await until(inserts.waiting, (count) => count >= 2);
    await inserts.end();
    const responses = await Promise.all(calls);
    const texts = await Promise.all(responses.map((response) => response.clone().text()));
    expect(await Promise.all(responses.map(estado))).toEqual(['0', '0', '0', '0', '0', '0']);
    expect(new Set(texts).size).toBe(1);
    expect(await recorded(number)).toBe(1);
  });

  it('is given once more while the note that it left is late', async () => {
    const bytes = await sampleBytes({ encf: next() });
    const locking = await holdUp('UPDATE');
    const first = await world.send(bytes, { instance: 0 });
    const again = await world.send(bytes, { instance: 1 });
    expect([await estado(again.clone()), await again.text()]).toEqual(['0', await first.text()]);
    // The instance that answered does not need the note.
    expect(await estado(await world.send(bytes, { instance: 0 }))).toBe('3');
    await locking.end();
    const later = () => world.send(bytes, { instance: 1 }).then(estado);
    expect(await until(later, (state) => state === '3')).toBe('3');
  });

  it('causes an integrity error while it is missing in the store, and is given once it is back', async () => {
    const number = next();
    const bytes = await sampleBytes({ encf: number });
    await sendAndVanish(bytes);
    await recorded(number);
    const find = () => [...kept.keys()].find((name) => name.includes('/arecf/') && name.includes(number)) ?? '';
    const path = await until(find, (name) => name !== '');
    const pending = () => world.database.query('SELECT 1 FROM pending_document WHERE path = $1', [path]);
    await until(pending, ({ rowCount }) => rowCount === 0);
    const acknowledgement = kept.get(path) as Buffer;
    kept.delete(path);
    const response = await world.send(bytes);
    expect([response.status, (await response.json()).code]).toEqual([500, 'document_damaged']);
    const metrics = await world.metrics.render();
    expect(metrics).toContain('ecf_integrity_errors_total 1');
    expect(metrics).toContain('ecf_damaged_documents{service="reception"} 1');
    expect(metrics).toContain('ecf_reception_refusals_total{env="TesteCF",reason="document_damaged"} 1');
    kept.set(path, acknowledgement);
    expect(await (await world.send(bytes)).text()).toBe(acknowledgement.toString());
  });

  it('is given only to the first of the calls that follow each other at one instance', async () => {
    for (let i = 0; i < 10; i++) {
      const bytes = await sampleBytes({ encf: next() });
      expect(await estado(await world.send(bytes, { instance: i % 2 }))).toBe('0');
      expect(await estado(await world.send(bytes, { instance: i % 2 }))).toBe('3');
    }
  });
});

it('fifty equal calls at the same moment on two instances are one document', async () => {
  const number = next();
  const bytes = await sampleBytes({ encf: number });
  const responses = await Promise.all(
    Array.from({ length: 50 }, (_, i) => world.send(bytes, { instance: i % 2, sender: `198.51.100.${i + 1}` })),
  );
  const texts = await Promise.all(responses.map((response) => response.clone().text()));
  const states = await Promise.all(responses.map(estado));
  expect(new Set([...states, '0', '3'])).toEqual(new Set(['0', '3']));
  expect(new Set(texts.filter((text) => text.includes('<Estado>0<'))).size).toBe(1);
  expect(await recorded(number)).toBe(1);
  const { rows } = await world.database.query('SELECT count(*) AS count FROM received_documents WHERE encf = $1', [
    number,
  ]);
  expect(rows).toEqual([{ count: 1 }]);
});

it.each([
  ['genuine', 'received', 'repeated'],
  ['forged', 'motive_2', 'motive_2'],
])(
  'equal %s documents of one sender that overlap: the first is %s, the others %s, each with its line',
  async (kind, first, others) => {
    const genuine = await sampleBytes({ encf: next() });
    const bytes = kind === 'genuine' ? genuine : Buffer.from(genuine.toString().replace('<TipoPago>1', '<TipoPago>2'));
    const count = async (text: string) =>
      Number(new RegExp(`^${text} (\\d+)$`, 'm').exec(await world.metrics.render())?.[1]);
    const countOf = (outcome: string) =>
      count(`ecf_reception_acknowledgements_total{env="TesteCF",ecf_type="31",outcome="${outcome}"}`).then(
        (n) => n || 0,
      );
    const before = [await countOf(first), await countOf(others)];
    lines.length = 0;
    const inserts = await holdUp('INSERT');
    const calls = Array.from({ length: 5 }, () => world.send(bytes, { instance: 1 }));
    await until(
      () => count('ecf_reception_in_flight_requests'),
      (requests) => requests === 5,
    );
    await delay(50);
    await inserts.end();
    const texts = await Promise.all((await Promise.all(calls)).map((response) => response.text()));
    expect(new Set(texts).size).toBe(1);
    const gained = [(await countOf(first)) - (before[0] ?? 0), (await countOf(others)) - (before[1] ?? 0)];
    expect(gained).toEqual(first === others ? [5, 5] : [1, 4]);
    const shared = lines.filter((line) => line.shared_with !== undefined);
    expect(shared.map(({ outcome }) => outcome)).toEqual([others, others, others, others]);
    const ids = shared.map(({ request_id }) => request_id);
    expect(new Set([...ids, shared[0]?.shared_with]).size).toBe(5);
    expect(new Set(shared.map((line) => line.shared_with)).size).toBe(1);
  },
);

it('different documents under one number at the same moment: one is received, the others compete', async () => {
  const number = next();
  const documents = await Promise.all([1, 2, 3, 4, 5, 6].map((n) => sampleBytes({ encf: number, total: `${n}.00` })));
  const responses = await Promise.all(documents.map((bytes, i) => world.send(bytes, { instance: i % 2 })));
  const states = await Promise.all(responses.map(estado));
  expect(states.sort()).toEqual(['0', '3', '3', '3', '3', '3']);
  const { rows } = await world.database.query(
    'SELECT r.revision, (SELECT count(*) FROM refused_documents f WHERE f.conflict_of = r.id) AS conflicts FROM received_documents r WHERE encf = $1',
    [number],
  );
  expect(rows).toEqual([{ revision: 6, conflicts: 5 }]);
});

it('different and equal documents under one number at the same moment, each from its own sender: one is received', async () => {
  const number = next();
  const [same, ...different] = await Promise.all(
    Array.from({ length: 25 }, (_, n) => sampleBytes({ encf: number, total: `${n + 1}.00` })),
  );
  const bodies = different.flatMap((bytes) => [bytes, same as Buffer]);
  const responses = await Promise.all(
    bodies.map((bytes, i) => world.send(bytes, { instance: (i >> 1) % 2, sender: `198.51.100.${i + 1}` })),
  );
  const texts = await Promise.all(responses.map((response) => response.clone().text()));
  const states = await Promise.all(responses.map(estado));
  const received = bodies.filter((_, i) => states[i] === '0');
  expect(new Set([...states, '0', '3'])).toEqual(new Set(['0', '3']));
  expect(new Set(received).size).toBe(1);
  expect(new Set(texts.filter((text) => text.includes('<Estado>0<'))).size).toBe(1);
  const { rows } = await world.database.query(
    `SELECT r.revision, count(DISTINCT f.sha256) AS conflicts FROM received_documents r
     JOIN refused_documents f ON f.conflict_of = r.id WHERE r.encf = $1 GROUP BY r.id`,
    [number],
  );
  expect(rows).toEqual([{ revision: 25, conflicts: 24 }]);
});
