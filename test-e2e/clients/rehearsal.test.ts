import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client, newAccount } from '../support/client.js';
import { useDeployment } from '../support/deployment/deployment.js';

const ECF = path.resolve(import.meta.dirname, '../../packages/cli/bin/ecf.mjs');
const DEMO = '199999991';
/** Not in the simulator's directory, so its own document is delivered as another sender delivers it. */
const OTHER = { rnc: '133470616', name: 'Comercio & Hijos "Ñandú", SRL' };
const NEWCOMER = { rnc: '101000074', name: 'Ferretería Ejemplo, SRL' };
const TYPES = ['31', '32', '33', '34', '41', '43', '44', '45', '46', '47'];
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'ecf-rehearsal-'));
const deployment = useDeployment();
let other: Client & { accountId: string };

beforeAll(async () => {
  other = await newAccount(deployment.running, OTHER);
  await register(other.accountId, OTHER.rnc, 'TesteCF');
});
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs the command as a user does; `interruptAfter` sends Ctrl-C when this has appeared on standard error. */
function rehearse(client: Client, args: string[], interruptAfter?: string): Promise<Ran> {
  const env = {
    ...process.env,
    ECF_URL: deployment.running.demo.base_url,
    ECF_API_KEY: client.apiKey,
    ADMIN_TOKEN: deployment.running.demo.admin_token,
  };
  const child = spawn(process.execPath, [ECF, 'rehearse', ...args], { env });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (text) => {
    stdout += text;
  });
  child.stderr.on('data', (text) => {
    stderr += text;
    if (interruptAfter === undefined || !stderr.includes(interruptAfter) || child.killed) return;
    child.kill('SIGINT');
  });
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, stdout, stderr })));
}

const rows = (stdout: string) =>
  stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

/** Registers a range of every type, in the environment. */
async function register(accountId: string, rnc: string, env: string): Promise<void> {
  const place = `/accounts/${accountId}/taxpayers/${rnc}/ranges`;
  const known = (await deployment.demo.admin('GET', place)).body.map(
    ({ next: _, remaining: __, ...range }: { next: unknown; remaining: unknown }) => range,
  );
  const added = TYPES.map((ecf_type) => ({
    env,
    ecf_type,
    from: `E${ecf_type}0000700001`,
    to: `E${ecf_type}0000700999`,
    expires: ['32', '34'].includes(ecf_type) ? null : '2099-12-31',
  }));
  expect((await deployment.demo.admin('PUT', place, [...known, ...added])).status).toBe(200);
}

describe('a rehearsal with the simulator as the authority', () => {
  it('names the missing ranges before it sends anything, and the command that it prints registers them.', async () => {
    const newcomer = await newAccount(deployment.running, NEWCOMER);
    const { code, stdout, stderr } = await rehearse(newcomer, ['--env', 'TesteCF', '--issuer', NEWCOMER.rnc]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(`${NEWCOMER.rnc} has too few free numbers in TesteCF of type ${TYPES.join(', ')}`);
    expect((await newcomer.control('GET', `/submissions?rnc=${NEWCOMER.rnc}`)).body).toEqual([]);
    // The key does not see a range of production; it must stay.
    const place = `/accounts/${newcomer.accountId}/taxpayers/${NEWCOMER.rnc}/ranges`;
    const production = {
      env: 'eCF',
      ecf_type: '31',
      from: 'E310000000001',
      to: 'E310000000100',
      expires: '2099-12-31',
    };
    expect((await newcomer.admin('PUT', place, [production])).status).toBe(200);
    const command = stderr.slice(stderr.indexOf('URL='), stderr.indexOf('\nSee'));
    const env = { ...process.env, ADMIN_TOKEN: deployment.running.demo.admin_token };
    const shell = spawn('sh', ['-c', command], { env, stdio: 'ignore' });
    expect(await new Promise((resolve) => shell.once('close', resolve))).toBe(0);
    const { body } = await newcomer.admin('GET', place);
    expect(body.map(({ env, ecf_type }: { env: string; ecf_type: string }) => `${env} ${ecf_type}`).sort()).toEqual([
      ...TYPES.map((type) => `TesteCF ${type}`),
      'eCF 31',
    ]);
  });

  it('agrees in every row for a taxpayer that is not in the directory, and ends with 0.', async () => {
    const ran = await rehearse(other, ['--env', 'TesteCF', '--issuer', OTHER.rnc, '--text']);
    const { code, stdout } = ran;
    expect({ ...ran, code }).toMatchObject({ code: 0 });
    const lines = stdout.split('\n');
    expect(lines.filter((line) => line.startsWith('!'))).toEqual([]);
    expect(lines.filter((line) => / E\d{12} .* agrees$/.test(line))).toHaveLength(14);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(stdout).toMatch(/^ {2}delivery {6}E31\d{10} {2}received {2}valid {6}- {10}agrees$/m);
    expect(stdout).toContain(
      'Authority: a simulator, not DGII.\n14 agree, 0 differ, 0 without result\nOur rules and the',
    );
  });

  it('agrees in CerteCF for the demo taxpayer.', async () => {
    await register((await deployment.demo.call('GET', '/account')).body.account.id, DEMO, 'CerteCF');
    const { code, stdout, stderr } = await rehearse(deployment.demo, ['--env', 'CerteCF', '--issuer', DEMO]);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    const results = rows(stdout);
    expect(results.map(({ document, result }) => [document, result])).toEqual(
      [
        '31',
        '31 to itself',
        '32 full',
        '41',
        '43',
        '44',
        '45',
        '46',
        '47',
        '32 summary',
        '33',
        '34',
        'delivery',
        'approval',
      ].map((document) => [document, 'agrees']),
    );
    expect(results.at(-2).receipt).toBe('received');
    expect(results.at(-1).sent[0].xml).toContain('<ACECF');
  });

  it('delivers through the directory where the taxpayer is listed.', async () => {
    await register((await deployment.demo.call('GET', '/account')).body.account.id, DEMO, 'TesteCF');
    const { code, stdout } = await rehearse(deployment.demo, ['--env', 'TesteCF', '--issuer', DEMO, '--types', '31']);
    expect(code).toBe(0);
    const { encf } = rows(stdout).find(({ document }) => document === '31 to itself');
    const { body } = await deployment.demo.call('GET', `/invoices/${encf}`, { headers: { 'rnc-issuing': DEMO } });
    expect(body.delivery_status).toBe('delivered');
  });

  it('submits only the chosen types, and the 31 that a note modifies.', async () => {
    const args = ['--env', 'TesteCF', '--issuer', OTHER.rnc, '--types', '34,43,34'];
    const { code, stdout } = await rehearse(other, args);
    expect(code).toBe(0);
    expect(rows(stdout).map(({ document }) => document)).toEqual(['31', '43', '34']);
  });
});

describe('an authority that judges differently', () => {
  const refusal = {
    codigo: 2,
    mensajes: [{ codigo: '145', valor: `Fecha inválida para ${OTHER.name}, cédula 00100000009.` }],
    secuenciaUtilizada: true,
  };

  it('marks the row, explains it, ends with 1 and writes a report without names.', async () => {
    await other.fault({ operation: 'recepcionfc', kind: 'verdict', times: 1, verdict: refusal });
    const out = path.join(folder, 'report.json');
    const args = ['--env', 'TesteCF', '--issuer', OTHER.rnc, '--types', '32', '--text', '--out', out, '--anonymous'];
    const { code, stdout } = await rehearse(other, args);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^! 32 summary {2}E32\d{10} {2}rejected {2}valid {6}accepted {3}DIFFERS$/m);
    expect(stdout).toContain('\n    our rules find no fault in what the authority rejects\n');
    expect(stdout).toContain('\n    the authority rejects it, the simulator accepts it\n');
    expect(stdout).toContain('\n    authority: 145 Fecha inválida');
    expect(stdout).toContain(`1 agree, 1 differ, 0 without result\nReport the difference: attach ${out}.`);
    const text = fs.readFileSync(out, 'utf8');
    const report = JSON.parse(text);
    const row = report.rows.find(({ document }: { document: string }) => document === '32 summary');
    expect(row.authority.messages[0]).toEqual({
      codigo: '145',
      valor: 'Fecha inválida para anonymous, cédula 00000000000.',
    });
    expect(row.authority_answers[0].raw[0].body).toContain('"codigo":"145"');
    expect(row.sent.map(({ xml }: { xml: string }) => /<(RFCE|ECF) /.exec(xml)?.[1])).toEqual(['RFCE', 'ECF']);
    expect(report).toMatchObject({
      env: 'TesteCF',
      issuer: { rnc: OTHER.rnc, name: 'anonymous' },
      gateway: { url: 'anonymous', authority: 'simulated' },
    });
    expect(report.versions).toEqual(expect.objectContaining({ ecf: expect.any(String), gateway: expect.any(String) }));
    for (const secret of ['Ñandú', 'Comercio', 'MII', '00100000009', other.apiKey]) expect(text).not.toContain(secret);
  });

  it('says that the number is used differently, and keeps the sent bytes in a report with names.', async () => {
    const verdict = { codigo: 4, mensajes: [{ codigo: '3205', valor: 'El elemento MontoTotal no es correcto.' }] };
    await other.fault({ operation: 'recepcion', kind: 'verdict', times: 1, verdict });
    const out = path.join(folder, 'named.json');
    const args = ['--env', 'TesteCF', '--issuer', OTHER.rnc, '--types', '43', '--text', '--out', out];
    const { code, stdout } = await rehearse(other, args);
    expect([code, stdout]).toEqual([
      1,
      expect.stringContaining('the authority conditionally accepts it, the simulator accepts it'),
    ]);
    const [row] = JSON.parse(fs.readFileSync(out, 'utf8')).rows;
    const [stored] = await other.ledger(row.encf, OTHER.rnc);
    expect(row.sent[0].sha256).toBe(stored?.sha256);
    expect(row.sent[0].xml).toContain('Comercio &amp; Hijos');
  });

  it('explains an approval that is refused.', async () => {
    const estado = 'Aprobacion Comercial Rechazada.';
    const verdict = {
      codigo: '02',
      estado,
      mensajes: ['No se encuentra un e-CF válido para esta aprobación comercial'],
    };
    await other.fault({ operation: 'aprobacioncomercial', kind: 'verdict', times: 1, verdict });
    const { code, stdout } = await rehearse(other, [
      '--env',
      'TesteCF',
      '--issuer',
      OTHER.rnc,
      '--types',
      '31',
      '--text',
    ]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^! approval .* rejected {2}valid {6}accepted {3}DIFFERS$/m);
    expect(stdout).toContain('\n    authority: 2 No se encuentra un e-CF válido');
  });
});

describe('a rehearsal without all results', () => {
  it('ends with 2, and sends no note on a document that is not decided.', async () => {
    const end = await other.fault({ operation: 'recepcion', kind: 'processing' });
    const args = ['--env', 'TesteCF', '--issuer', OTHER.rnc, '--types', '33', '--text', '--wait', '1'];
    const { code, stdout } = await rehearse(other, args);
    await end();
    expect(code).toBe(2);
    expect(stdout).toMatch(/^! 31 {8}E31\d{10} {2}- {7}valid {6}accepted {3}NO RESULT$/m);
    expect(stdout).toContain('not sent, because the 31 that it modifies was not accepted');
    expect(stdout).toContain('0 agree, 0 differ, 2 without result');
  });

  it('states after Ctrl-C which numbers are used, and a new run uses new ones.', async () => {
    const end = await other.fault({ operation: 'recepcion', kind: 'processing' });
    const args = ['--env', 'TesteCF', '--issuer', OTHER.rnc, '--types', '43', '--text'];
    const { code, stderr } = await rehearse(other, args, 'waiting for the answer');
    await end();
    expect(code).toBe(2);
    const [, number, reference] =
      /interrupted\. Numbers used: (E43\d{10})\. A number of a call .* reference (rehearsal-[\w-]+)\./.exec(stderr) ??
      [];
    const headers = { 'rnc-issuing': OTHER.rnc, 'start-date': '01-01-2020', 'end-date': '31-12-2099' };
    const { body } = await other.call('GET', `/invoices?reference=${reference}`, { headers });
    expect(body.invoices.map(({ encf }: { encf: string }) => encf)).toEqual([number]);
    const again = await rehearse(other, ['--env', 'TesteCF', '--issuer', OTHER.rnc, '--types', '43']);
    expect(again.code).toBe(0);
    expect(rows(again.stdout)[0].encf).not.toBe(number);
  });
});

describe('a rehearsal that cannot begin', () => {
  const valid = { '--env': 'TesteCF', '--issuer': OTHER.rnc };
  const sentence: [string, Record<string, string>, RegExp][] = [
    ['eCF', { '--env': 'eCF' }, /would issue real invoices, so it is refused/],
    ['an unknown environment', { '--env': 'testecf' }, /--env TesteCF or --env CerteCF/],
    ['an unknown type', { '--types': '31,30' }, /--types has "30", which is not a type\. The types are 31, 32/],
    ['an RNC with dashes', { '--issuer': '1-33-47061-6' }, /--issuer is 9 or 11 digits without dashes/],
    ['a taxpayer of another account', { '--issuer': DEMO }, /the API key does not serve the taxpayer 199999991/],
    ['a report that cannot be written', { '--out': '/nonexistent/report.json' }, /cannot be written/],
    ['--anonymous without a report', { '--anonymous': '' }, /--anonymous belongs to --out/],
    ['no time to wait', { '--wait': '0' }, /--wait is a whole number/],
  ];

  it.each(sentence)('ends with 2 and says why: %s.', async (_what, given, reason) => {
    const before = (await other.control('GET', `/submissions?rnc=${OTHER.rnc}`)).body.length;
    const args = Object.entries({ ...valid, ...given }).flatMap(([name, value]) => [
      name,
      ...(value === '' ? [] : [value]),
    ]);
    const { code, stdout, stderr } = await rehearse(other, args);
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringMatching(reason)]);
    expect((await other.control('GET', `/submissions?rnc=${OTHER.rnc}`)).body).toHaveLength(before);
  });

  it('ends with 2 for a wrong key and for a key without the environment or a scope.', async () => {
    const keyOf = async (body: object) =>
      (await deployment.demo.admin('POST', `/accounts/${other.accountId}/api-keys`, body)).body.key as string;
    const run = async (apiKey: string, env: string) => {
      const client = Object.assign(Object.create(Object.getPrototypeOf(other)), other, { apiKey }) as Client;
      const { code, stderr } = await rehearse(client, ['--env', env, '--issuer', OTHER.rnc]);
      return [code, stderr];
    };
    expect(await run('ecf_test_wrong', 'TesteCF')).toEqual([2, expect.stringMatching(/the gateway answered 401: /)]);
    const narrow = await keyOf({ name: 'narrow', environments: ['TesteCF'] });
    expect(await run(narrow, 'CerteCF')).toEqual([2, expect.stringContaining('is not for CerteCF; it is for TesteCF')]);
    const reader = await keyOf({ name: 'reader', environments: ['TesteCF'], scopes: ['read'] });
    expect(await run(reader, 'TesteCF')).toEqual([2, expect.stringContaining('has no scope submit, approve')]);
  });
});
