import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { PNG } from 'pngjs';
import { Client } from '../support/client.js';
import { useDeployment } from '../support/deployment/deployment.js';
import { type Invoice, Numbering, withLines } from '../support/documents/documents.js';
import { until } from '../support/until.js';

const deployment = useDeployment({ FIRST_QUERY_MS: '200' });
const PALMA = { rnc: '199999991', name: 'Comercial Palma' };
const CAOBA = { rnc: '188888885', name: 'Taller Caoba' };
const numbers = new Numbering(PALMA);
const onLinux = process.platform === 'linux' ? it : it.skip;

const get = (path: string, headers: Record<string, string>) => deployment.demo.call('GET', path, { headers });
const issuedPdf = async (encf: string) => {
  const { status, headers } = await get(`/invoices/${encf}/pdf`, { 'rnc-issuing': PALMA.rnc });
  return [status, headers.get('etag')];
};
const receivedPdf = async (encf: string) => {
  const parties = { 'buyer-rnc': CAOBA.rnc, 'provider-rnc': PALMA.rnc };
  const { status, headers } = await get(`/fe/recepcion/api/invoices/${encf}/pdf`, parties);
  return [status, headers.get('etag')];
};

async function issue(invoice: Invoice): Promise<void> {
  const { body } = await deployment.demo.submit(invoice);
  expect(body.status).toBe('Aceptado');
}

/** A key of the demo account that changes settings. */
async function manager(): Promise<Client> {
  for (const { id } of (await deployment.demo.admin('GET', '/accounts')).body) {
    if ((await deployment.demo.admin('GET', `/accounts/${id}/taxpayers/${PALMA.rnc}`)).status !== 200) continue;
    const key = { name: 'logos', environments: ['TesteCF'], scopes: ['manage'] };
    const made = await deployment.demo.admin('POST', `/accounts/${id}/api-keys`, key);
    return new Client(deployment.running, made.body.key);
  }
  throw new Error('the demo account is missing');
}

/** A PNG near the limit of 1 MiB: noise does not compress. */
function largePng(): Buffer {
  const image = new PNG({ width: 580, height: 440 });
  image.data = randomBytes(4 * 580 * 440);
  return PNG.sync.write(image);
}

it('A logo is on the next printed form of its taxpayer until it is removed, and never on received documents.', async () => {
  const { invoice, encf } = numbers.next('ecf-31', (ecf) => {
    ecf.Encabezado.Comprador.RNCComprador = CAOBA.rnc;
  });
  await issue(invoice);
  const plain = await issuedPdf(encf);
  expect(plain).toEqual([200, expect.any(String)]);
  // The same XML, printed by another service.
  expect(
    await until(
      () => receivedPdf(encf),
      ([status]) => status === 200,
    ),
  ).toEqual(plain);

  const client = await manager();
  const put = async (rnc: string, picture: Buffer) => {
    const body = new Uint8Array(picture);
    const init = { headers: { 'content-type': 'image/png' }, body };
    expect((await client.call('PUT', `/account/taxpayers/${rnc}/logo`, init)).status).toBe(200);
  };
  const picture = largePng();
  expect(picture.length).toBeGreaterThan(1_000_000);
  await put(PALMA.rnc, picture);
  await put(CAOBA.rnc, PNG.sync.write(new PNG({ width: 9, height: 3, fill: true })));
  const branded = await issuedPdf(encf);
  expect(branded).toEqual([200, expect.any(String)]);
  expect(branded).not.toEqual(plain);
  expect(await issuedPdf(encf)).toEqual(branded);
  expect(await receivedPdf(encf)).toEqual(plain);

  for (const { rnc } of [PALMA, CAOBA])
    expect((await client.call('DELETE', `/account/taxpayers/${rnc}/logo`)).status).toBe(204);
  expect(await issuedPdf(encf)).toEqual(plain);
  await put(PALMA.rnc, picture);
  expect(await issuedPdf(encf)).toEqual(branded);
});

/** Processes that render printed forms for this deployment. */
function renderers(): number[] {
  const rows = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' }).split('\n');
  const processes = rows
    .map((row) => row.trim().split(/\s+/))
    .map(([pid, parent, ...args]) => ({
      pid: Number(pid),
      parent: Number(parent),
      args: args.join(' '),
    }));
  const ofDeployment = new Set([deployment.running.child.pid ?? 0]);
  for (const { pid, parent } of processes.sort((a, b) => a.pid - b.pid))
    if (ofDeployment.has(parent)) ofDeployment.add(pid);
  return processes
    .filter(({ pid, args }) => ofDeployment.has(pid) && args.includes('renderer.process'))
    .map(({ pid }) => pid);
}

/** Hundredths of a second that a process has computed. */
function computed(pid: number): number {
  const [, , ...fields] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').join(' ').split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

onLinux('The death of the renderer is one 503 with Retry-After, and the next request prints again.', async () => {
  const { invoice, encf } = numbers.next('ecf-31');
  const long = withLines(invoice, 1_000);
  await issue(long);
  const { invoice: short, encf: shortNumber } = numbers.next('ecf-31');
  await issue(short);
  expect((await issuedPdf(shortNumber))[0]).toBe(200);
  const before = new Map(renderers().map((pid) => [pid, computed(pid)]));
  expect(before.size).toBeGreaterThan(0);

  const printing = get(`/invoices/${encf}/pdf`, { 'rnc-issuing': PALMA.rnc });
  // The one that has begun to render.
  const busy = await until(
    async () => [...before].find(([pid, time]) => computed(pid) >= time + 5)?.[0],
    (pid) => pid !== undefined,
  );
  process.kill(busy as number, 'SIGKILL');
  const killed = await printing;
  expect(killed).toMatchObject({ status: 503, body: { code: 'service_unavailable' } });
  expect(killed.headers.get('retry-after')).toBe('5');
  expect((await issuedPdf(encf))[0]).toBe(200);
  expect((await get(`/invoices/${encf}`, { 'rnc-issuing': PALMA.rnc })).status).toBe(200);
  expect(renderers()).not.toContain(busy);
});
