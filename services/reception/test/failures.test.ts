import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { openFileXmlStore, type XmlStore } from '@ecf/archive';
import { until } from '@ecf/test-support/until';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { encf, sampleBytes } from './support/documents.js';
import { BUYER, PROVIDER } from './support/senders.js';
import { startWorld, type World } from './support/world.js';

let world: World;
let folder: string;
let way: Awaited<ReturnType<typeof openWay>>;
let sequence = 0;
let away = false;
const next = () => encf(++sequence);

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'ecf-failures-'));
  const files = await openFileXmlStore(folder);
  const archive: XmlStore = {
    async put(name, bytes) {
      if (away) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
      return files.put(name, bytes);
    },
    async get(name, sha256) {
      if (away) throw new Error('the archive is unreachable');
      return files.get(name, sha256);
    },
    ready: files.ready,
    list: files.list,
  };
  world = await startWorld({
    overrides: { archive },
    async databaseUrl(url) {
      way = await openWay(url);
      return way.url;
    },
  });
});
afterAll(async () => {
  await world.stop();
  way.close();
  await rm(folder, { recursive: true, force: true });
});

async function recorded(number: string): Promise<number> {
  const { rows } = await world.database.query<{ count: number }>(
    `SELECT (SELECT count(*) FROM received_documents WHERE encf = $1) + (SELECT count(*) FROM refused_documents WHERE encf = $1) AS count`,
    [number],
  );
  return rows[0]?.count ?? -1;
}

describe('a document that arrives', () => {
  it('while the archive is down is received and can be read, and is archived once the archive is back', async () => {
    const number = next();
    away = true;
    const response = await world.send(await sampleBytes({ encf: number }));
    const acknowledgement = await response.text();
    expect([response.status, acknowledgement.includes('<Estado>0<')]).toEqual([200, true]);
    const shown = await world.get(`/arecf/${number}?issuer_rnc=${PROVIDER}`);
    expect([shown.status, await shown.text()]).toEqual([200, acknowledgement]);
    const failures = /ecf_archive_failures_total\{service="reception",reason="unavailable"\} [1-9]/;
    await until(
      () => world.metrics.render(),
      (text) => failures.test(text),
    );
    expect(await world.metrics.render()).toMatch(/ecf_archive_pending_documents\{service="reception"\} [1-9]/);
    away = false;
    const pending = () => world.database.query('SELECT 1 FROM pending_document');
    await until(pending, ({ rowCount }) => rowCount === 0);
    const { rows } = await world.database.query<Record<string, string>>(
      'SELECT * FROM received_documents WHERE encf = $1',
      [number],
    );
    const files = await openFileXmlStore(folder);
    await files.get(rows[0]?.xml_path as string, rows[0]?.xml_sha256);
    expect((await files.get(rows[0]?.arecf_path as string, rows[0]?.arecf_sha256)).toString()).toBe(acknowledgement);
  });

  it('while the disk of the database is full gets 503 with Retry-After and is not recorded', async () => {
    const number = next();
    const bytes = await sampleBytes({ encf: number });
    const refused = async () => {
      const response = await world.send(bytes);
      expect([response.status, response.headers.get('retry-after'), (await response.json()).code]).toEqual([
        503,
        '60',
        'storage_full',
      ]);
      expect(await recorded(number)).toBe(0);
    };
    await world.database.query(
      `CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no space' USING ERRCODE = '53100'; END $$`,
    );
    await world.database.query(
      'CREATE TRIGGER full_disk BEFORE INSERT ON received_documents FOR EACH ROW EXECUTE FUNCTION full_disk()',
    );
    await refused();
    await world.database.query('DROP FUNCTION full_disk CASCADE');
    expect((await world.send(bytes)).status).toBe(200);
    expect(await world.metrics.render()).toMatch(
      /ecf_reception_refusals_total\{env="TesteCF",reason="storage_full"\} 1\n/,
    );
  });

  it('while the disk is nearly full gets 503 with Retry-After, as every public call does; no body is read', async () => {
    const full = await startWorld({ settings: { MIN_FREE_BYTES: String(Number.MAX_SAFE_INTEGER) } });
    const semilla = `${full.url()}/fe/autenticacion/api/semilla`;
    const answers = await Promise.all([
      full.send(await sampleBytes({ encf: next() })),
      full.send('x', { path: '/fe/autenticacion/api/validacioncertificado' }),
      fetch(semilla),
    ]);
    for (const answer of answers)
      expect([answer.status, answer.headers.get('retry-after'), (await answer.json()).code]).toEqual([
        503,
        '60',
        'storage_full',
      ]);
    // The reserve is for customers: their queries still work, so the service stays ready.
    const health = await fetch(`${full.url()}/health/ready`);
    expect([health.status, await health.json()]).toMatchObject([200, { checks: { database: 'ok', storage: 'ok' } }]);
    const range = { 'buyer-rnc': BUYER, 'start-date': '01-01-2026', 'end-date': '31-12-2026' };
    expect((await full.get('/fe/recepcion/api/invoices/count', range)).status).toBe(200);
    const metrics = await full.metrics.render();
    expect(metrics).toMatch(/ecf_storage_free_bytes\{service="reception"\} [1-9]/);
    expect(metrics).toMatch(/ecf_database_bytes\{service="reception"\} [1-9]/);
    expect(metrics).toMatch(/ecf_reception_refusals_total\{env="TesteCF",reason="storage_full"\} 3\n/);
    await full.stop();
  });

  it('while S3_CAPACITY_BYTES is nearly used gets 503 too; bytes that wait for S3 or are there count', async () => {
    const S3 = { S3_ENDPOINT: 'http://127.0.0.1:9', S3_ACCESS_KEY: 'key', S3_SECRET_KEY: 'secret' };
    const room = { ...S3, S3_CAPACITY_BYTES: '100000', MIN_FREE_BYTES: '99000' };
    const full = await startWorld({ settings: room });
    expect((await full.send(await sampleBytes({ encf: next() }))).status).toBe(200);
    await until(
      async () => (await fetch(`${full.url()}/fe/autenticacion/api/semilla`)).status,
      (status) => status === 503,
    );
    expect((await full.send(await sampleBytes({ encf: next() }))).status).toBe(503);
    expect(await full.metrics.render()).toMatch(/ecf_storage_free_bytes\{service="reception"\} [89]\d{4}\n/);
    await full.stop();
  });

  it('while the database is down gets 503 with Retry-After; later the same bytes are received once', async () => {
    const number = next();
    const bytes = await sampleBytes({ encf: number });
    way.cut();
    const response = await world.send(bytes);
    expect([response.status, response.headers.get('retry-after'), (await response.json()).code]).toEqual([
      503,
      '5',
      'service_unavailable',
    ]);
    way.mend();
    const again = await world.send(bytes);
    expect([again.status, (await again.text()).includes('<Estado>0<')]).toEqual([200, true]);
    expect(await recorded(number)).toBe(1);
  });
});

it('a document that is not validated in time gets 503 with Retry-After and is not recorded', async () => {
  const hurried = await startWorld({ settings: { VALIDATION_TIMEOUT_MS: '100' } });
  try {
    const bytes = await sampleBytes({ encf: next() });
    const costly = bytes.toString().replace('<DetallesItems>', `${'<a/>'.repeat(900_000)}<DetallesItems>`);
    const response = await hurried.send(costly);
    expect([response.status, response.headers.get('retry-after'), (await response.json()).code]).toEqual([
      503,
      '5',
      'service_unavailable',
    ]);
    const { rows } = await hurried.database.query(
      'SELECT id FROM received_documents UNION SELECT id FROM refused_documents',
    );
    expect(rows).toEqual([]);
    const metric = await hurried.metrics.registry.getSingleMetric('ecf_reception_refusals_total')?.get();
    expect(metric?.values).toContainEqual(
      expect.objectContaining({ labels: { env: 'TesteCF', reason: 'validation.timeout' }, value: 1 }),
    );
  } finally {
    await hurried.stop();
  }
});

/** A connection to a server that tests can cut and restore. */
async function openWay(address: string) {
  const target = new URL(address);
  const sockets = new Set<Socket>();
  let open = true;
  const server = createServer((incoming) => {
    if (!open) return void incoming.destroy();
    const outgoing = connect(Number(target.port), target.hostname);
    for (const socket of [incoming, outgoing]) {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    }
    incoming.pipe(outgoing).pipe(incoming);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(address);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    cut() {
      open = false;
      for (const socket of sockets) socket.destroy();
    },
    mend() {
      open = true;
    },
    close() {
      this.cut();
      server.close();
    },
  };
}
