import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openFileXmlStore, ownDocuments } from '@ecf/archive';
import { formatSignatureDateTime } from '@ecf/domain';
import { IDENTITY_HEADER } from '@ecf/http/identity';
import { ConfigError } from '@ecf/kit';
import { type Database, openDatabase } from '@ecf/postgres';
import { createTaxpayerReplica } from '@ecf/taxpayer-replica/postgres';
import { startTestPostgres } from '@ecf/test-servers/postgres';
import { identitiesOf, TEST_SERVICE_KEYS } from '@ecf/test-support/services';
import { until } from '@ecf/test-support/until';
import { afterAll, describe, expect, it } from '@jest/globals';
import { readReceptionConfig } from '../src/config.js';
import { encf, sampleBytes } from './support/documents.js';
import { authority, PROVIDER } from './support/senders.js';
import { MASTER_KEY, taxpayer } from './support/taxpayers.js';

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const built = existsSync(MAIN);
if (!built) console.log('skipped: the service is not compiled');
const whenBuilt = built ? it : it.skip;

const folder = mkdtempSync(path.join(os.tmpdir(), 'ecf-program-'));
const opened: Database[] = [];
const started: ChildProcess[] = [];
afterAll(async () => {
  for (const child of started) if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
  for (const database of opened) await database.close();
  rmSync(folder, { recursive: true, force: true });
});

function run(env: Record<string, string>) {
  const child = spawn(process.execPath, [MAIN], { env: { PATH: process.env.PATH, ...env } });
  started.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  return { child: child as ChildProcess, ended, output: () => output };
}

whenBuilt('starts, answers, and ends in order', async () => {
  const program = run({
    DATABASE_URL: await (await startTestPostgres()).createDatabase(),
    MASTER_KEY: MASTER_KEY.toString('base64'),
    ...TEST_SERVICE_KEYS.reception,
    ANY_ISSUER: 'true',
    DATA_DIR: folder,
    PORT: '0',
    METRICS_PORT: '0',
  });
  const url = await addressOf(program);
  expect((await fetch(`${url}/health/ready`)).status).toBe(200);
  expect((await fetch(`${url}/fe/autenticacion/api/semilla`)).status).toBe(401);
  program.child.kill('SIGTERM');
  expect(await program.ended).toBe(0);
});

/** The program's public routes, called with the headers of the gateway's edge. */
async function addressOf(program: ReturnType<typeof run>): Promise<string> {
  return new Promise((resolve, reject) => {
    program.child.stdout?.on('data', () => {
      const found = /"url":"(http:[^"]+)"/.exec(program.output());
      if (found?.[1] !== undefined) resolve(found[1]);
    });
    void program.ended.then((code) => reject(new Error(`ended with ${code}: ${program.output()}`)));
  });
}

async function send(url: string, bytes: Buffer): Promise<Response> {
  const caller = { kind: 'public', env: 'TesteCF', sender: '203.0.113.7', request_id: randomUUID() } as const;
  const path = '/fe/recepcion/api/ecf';
  const identity = await identitiesOf('gateway').sign(caller, { audience: 'reception', method: 'POST', path });
  return fetch(`${url}${path}`, {
    method: 'POST',
    body: new Uint8Array(bytes),
    headers: { 'content-type': 'text/xml', [IDENTITY_HEADER]: identity },
  });
}

whenBuilt('killed in the middle: every 200 that left has its record, bytes, acknowledgement and event', async () => {
  const databaseUrl = await (await startTestPostgres()).createDatabase();
  const settings = {
    DATABASE_URL: databaseUrl,
    MASTER_KEY: MASTER_KEY.toString('base64'),
    ...TEST_SERVICE_KEYS.reception,
    ANY_ISSUER: 'true',
    DATA_DIR: folder,
    PORT: '0',
    METRICS_PORT: '0',
  };
  const signedAt = formatSignatureDateTime(new Date(Date.now() - 60_000));
  const documents = new Map<string, Buffer>();
  for (let i = 1; i <= 60; i++) documents.set(encf(i), await sampleBytes({ encf: encf(i), signedAt }));
  const answered = new Map<string, string>();

  let program = run(settings);
  let url = await addressOf(program);
  const database = openDatabase(databaseUrl, { max: 2 });
  opened.push(database);
  // Every event ever appended, whether or not the relay has published it.
  await database.transaction(async (tx) => {
    await tx.query('CREATE TABLE appended (key text, event json)');
    await tx.query(`CREATE FUNCTION append() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN INSERT INTO appended VALUES (new.key, new.event); RETURN new; END $$`);
    await tx.query('CREATE TRIGGER append BEFORE INSERT ON outbox FOR EACH ROW EXECUTE FUNCTION append()');
  });
  await createTaxpayerReplica(database).apply(taxpayer());

  const work = [...documents].map(async ([number, bytes], index) => {
    await delay(index * 10);
    const response = await send(url, bytes).catch(() => null);
    const text = (await response?.text().catch(() => null)) ?? null;
    if (response?.status !== 200 || text?.endsWith('</ARECF>') !== true) return;
    expect(text).toContain('<Estado>0<');
    answered.set(number, text);
    if (answered.size === 20) program.child.kill('SIGKILL');
  });
  await Promise.all(work);
  await program.ended;
  expect(answered.size).toBeGreaterThanOrEqual(20);

  const files = await openFileXmlStore(path.join(folder, 'xml'));
  const archive = ownDocuments(database, files);
  async function expectWhole(number: string, acknowledgement: string): Promise<void> {
    const { rows } = await database.query<Record<string, string>>('SELECT * FROM received_documents WHERE encf = $1', [
      number,
    ]);
    const [row] = rows;
    expect([number, rows.length]).toEqual([number, 1]);
    const kept = await archive.get(row?.xml_path as string, row?.xml_sha256 as string);
    expect(kept.equals(documents.get(number) as Buffer)).toBe(true);
    expect((await archive.get(row?.arecf_path as string, row?.arecf_sha256 as string)).toString()).toBe(
      acknowledgement,
    );
    const appended = await database.query('SELECT event FROM appended WHERE key = $1', [
      `TesteCF:${PROVIDER}:${number}`,
    ]);
    expect(appended.rows).toMatchObject([{ event: { data: { encf: number, xml_checksum: row?.xml_sha256 } } }]);
  }
  for (const [number, text] of answered) await expectWhole(number, text);

  // The same bytes again: motive 3, or the same answer again; a complete record if the first answer was lost.
  program = run(settings);
  url = await addressOf(program);
  const again = [...documents].map(async ([number, bytes]) => {
    const text = await (await send(url, bytes)).text();
    if (!answered.has(number)) await expectWhole(number, text);
    else if (text !== answered.get(number)) expect(text).toContain('<CodigoMotivoNoRecibido>3<');
  });
  await Promise.all(again);
  const pending = () => database.query('SELECT 1 FROM pending_document WHERE due_at < now()');
  await until(pending, ({ rowCount }) => rowCount === 0);
  program.child.kill('SIGTERM');
  expect(await program.ended).toBe(0);
});

whenBuilt('says what is wrong with its configuration', async () => {
  const program = run({ MASTER_KEY: 'short' });
  expect(await program.ended).toBe(1);
  expect(program.output()).toMatch(/reception did not start\..*DATABASE_URL.*MASTER_KEY/s);
});

const least = {
  DATABASE_URL: 'postgresql://u:p@127.0.0.1/reception',
  MASTER_KEY: MASTER_KEY.toString('base64'),
  ...TEST_SERVICE_KEYS.reception,
  ANY_ISSUER: 'true',
};

function fileWith(name: string, text: string): string {
  const file = path.join(folder, name);
  writeFileSync(file, text);
  return file;
}

function problems(env: Record<string, string>): string[] {
  try {
    readReceptionConfig({ ...least, ...env });
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(({ variable }) => variable);
    throw error;
  }
  return [];
}

describe('configuration', () => {
  it('ignores tokens, trusts any issuer, and has no answering taxpayer by default', () => {
    const config = readReceptionConfig(least);
    expect(config.RECEPTION_SIGNER_RNC).toBeUndefined();
    expect(config).toMatchObject({
      PROVIDER_AUTH: 'off',
      trust: { issuers: null, revocations: null, signingTimeToleranceMs: 7 * 86_400_000 },
      MAX_BODY_BYTES: 10 * 1024 * 1024,
    });
  });

  it('reads trusted issuers', () => {
    const config = readReceptionConfig({ ...least, TRUSTED_ISSUERS_FILE: fileWith('issuers.pem', authority.pem) });
    expect(config.trust.issuers?.size).toBe(1);
  });

  it('is accepted outside a sandbox only with trusted issuers, or if it allows any issuer', () => {
    const sandbox = { ANY_ISSUER: 'false', SANDBOX: 'true' };
    const trusted = { ANY_ISSUER: 'false', TRUSTED_ISSUERS_FILE: fileWith('trusted.pem', authority.pem) };
    expect([problems({ ANY_ISSUER: 'false' }), problems(sandbox), problems(trusted), problems({})]).toEqual([
      ['TRUSTED_ISSUERS_FILE'],
      [],
      [],
      [],
    ]);
  });

  it.each([
    ['DATABASE_URL', 'mysql://x'],
    ['MASTER_KEY', 'short'],
    ['PROVIDER_AUTH', 'maybe'],
    ['RECEPTION_SIGNER_RNC', '123'],
    ['TRUSTED_ISSUERS_FILE', path.join(folder, 'missing.pem')],
    ['TRUSTED_ISSUERS_FILE', fileWith('empty.pem', 'no certificate')],
    ['REVOKED_CERTIFICATES_FILE', path.join(folder, 'missing.crl')],
    ['REVOKED_CERTIFICATES_FILE', fileWith('empty.crl', '# nothing\n')],
    ['REVOKED_CERTIFICATES_FILE', fileWith('none.crl', authority.pem)],
    ['SIGNING_TIME_TOLERANCE', '-1'],
    ['PROVIDER_TOKEN_SECONDS', '0'],
    ['MAX_BODY_BYTES', '10MB'],
  ])('with %s=%s is refused, and the error names the variable', (variable, value) => {
    expect(problems({ [variable]: value })).toEqual([variable]);
  });
});
