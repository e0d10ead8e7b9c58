// ecf backup, its repetition, verify and restore, against COPY of the same tables and a plain copy of the same files.
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { makeBackup, restoreBackup, verifyBackup } from '@ecf/backup';
import { SERVICE_NAMES, variablePrefix } from '@ecf/contracts';
import { startTestPostgres } from '@ecf/test-servers/postgres';
import pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { benchFolder } from './harness/ending.js';
import { median, seconds, together } from './harness/measure.js';
import { heading, line } from './harness/report.js';

const DOCUMENTS = Number(process.env.BENCH_DOCUMENTS ?? 50_000);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
/** Bytes of an invoice of ten lines. */
const BYTES = 5_000;
const VERSION = '1.0.0';
const TABLES = ['emission', 'attempt'];

const folder = benchFolder();
const postgres = await startTestPostgres();

/** The settings of a deployment with new databases and a new folder. */
async function deployment(tables: boolean): Promise<Record<string, string>> {
  const setting = async (service: string) => [
    `${variablePrefix(service)}_DATABASE_URL`,
    await postgres.createDatabase(tables ? service : undefined),
  ];
  const urls = Object.fromEntries(await Promise.all(SERVICE_NAMES.map(setting)));
  const DATA_DIR = path.join(folder, `data-${Math.random()}`);
  await mkdir(DATA_DIR);
  return { ...urls, DATA_DIR };
}

async function onEmission<T>(env: Record<string, string>, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: env.EMISSION_DATABASE_URL as string });
  await client.connect();
  return work(client).finally(() => client.end());
}

const text = (number: number) => `<ECF><!--${number}-->${'<Item>Cantidad y precio</Item>'.repeat(200)}`.slice(0, BYTES);
const pathOf = (number: number) => `eCF/ecf/199999991/issued/2026/06/${number % 64}/${number}.xml`;

/** Rows and files of documents, as emission stores them. */
async function fill(env: Record<string, string>): Promise<void> {
  const xml = path.join(env.DATA_DIR as string, 'xml');
  for (let part = 0; part < 64; part += 1) await mkdir(path.dirname(path.join(xml, pathOf(part))), { recursive: true });
  await together((number) => writeFile(path.join(xml, pathOf(number)), text(number)), 16)(DOCUMENTS);
  const sums = Array.from({ length: DOCUMENTS }, (_, at) => createHash('sha256').update(text(at)).digest('hex'));
  await onEmission(env, async (client) => {
    await client.query(
      `INSERT INTO emission (id, env, issuer_rnc, encf, account_id, ecf_type, attempt, created_at)
       SELECT n, 'eCF', '199999991', 'E31' || lpad(n::text, 10, '0'), 'account-1', '31', 1, now() FROM generate_series(1, $1::int) n`,
      [DOCUMENTS],
    );
    await client.query(
      `INSERT INTO attempt (emission_id, attempt, revision, state, source, route, content_hash, facts, xml_path, xml_sha256, signed_at,
         committed_at, has_own_certificate, track_id_adopted, verdict, lost_sends, transient_refusals, failures, past)
       SELECT n, 1, 3, 'accepted', 'json', 'ecf', sum, $2::json, $3 || ((n - 1) % 64) || '/' || (n - 1) || '.xml', sum, now(), now(),
         false, false, '{}', 0, 0, 0, '[]' FROM unnest($1::text[]) WITH ORDINALITY AS s(sum, n)`,
      [sums, JSON.stringify({ summary: 'x'.repeat(900) }), path.dirname(path.dirname(pathOf(0))).concat('/')],
    );
  });
}

const plain = path.join(folder, 'plain');

async function copyOut(env: Record<string, string>): Promise<void> {
  await mkdir(plain, { recursive: true });
  await onEmission(env, async (client) => {
    for (const table of TABLES)
      await pipeline(
        client.query(copyTo(`COPY (SELECT * FROM ${table}) TO STDOUT`)),
        createWriteStream(path.join(plain, table)),
      );
  });
  await cp(path.join(env.DATA_DIR as string, 'xml'), path.join(plain, 'xml'), { recursive: true });
}

async function copyIn(env: Record<string, string>): Promise<void> {
  await onEmission(env, async (client) => {
    for (const table of TABLES)
      await pipeline(createReadStream(path.join(plain, table)), client.query(copyFrom(`COPY ${table} FROM STDIN`)));
  });
  await cp(path.join(plain, 'xml'), path.join(env.DATA_DIR as string, 'xml'), { recursive: true });
}

const times: Record<string, number[]> = {};
async function timed(name: string, work: () => Promise<unknown>): Promise<void> {
  const took = await seconds(work, 1);
  times[name] = [...(times[name] ?? []), took];
}

heading(`Backup and restore of ${DOCUMENTS.toLocaleString('en')} documents of ${BYTES.toLocaleString('en')} bytes`);
const source = await deployment(true);
await fill(source);
const root = path.join(folder, 'backup');
const onFault = async ({ path: file }: { path: string }) => {
  throw new Error(`${file} is damaged`);
};
for (let round = 0; round < ROUNDS; round += 1) {
  await rm(root, { recursive: true, force: true });
  await rm(plain, { recursive: true, force: true });
  await timed('backup', () => makeBackup(root, { env: source, version: VERSION }));
  await timed('COPY of the tables and copy of the files', () => copyOut(source));
  await timed('repetition', () => makeBackup(root, { env: source, version: VERSION }));
  await timed('verify', () => verifyBackup(root, VERSION, onFault));
  const [empty, tables] = [await deployment(false), await deployment(true)];
  await timed('restore', () => restoreBackup(root, { env: empty, version: VERSION, onFault }));
  await timed('COPY into the tables and copy of the files', () => copyIn(tables));
  for (const env of [empty, tables]) await rm(env.DATA_DIR as string, { recursive: true });
}
const REFERENCES: Record<string, string> = {
  backup: 'COPY of the tables and copy of the files',
  repetition: 'COPY of the tables and copy of the files',
  verify: 'COPY of the tables and copy of the files',
  restore: 'COPY into the tables and copy of the files',
};
for (const [name, reference] of Object.entries(REFERENCES)) {
  const ratios = (times[name] as number[])
    .map((took, at) => took / (times[reference]?.[at] as number))
    .sort((a, b) => a - b);
  const rate = Math.round(DOCUMENTS / median(times[name] as number[])).toLocaleString('en');
  const spread = `${ratios[0]?.toFixed(2)}–${ratios.at(-1)?.toFixed(2)} over ${ROUNDS} rounds`;
  line(`${name}: ${rate} documents/s; ${median(ratios).toFixed(2)} × ${reference}; ${spread}`);
}
for (const name of new Set(Object.values(REFERENCES)))
  line(`${name}: ${Math.round(DOCUMENTS / median(times[name] as number[])).toLocaleString('en')} documents/s`);
