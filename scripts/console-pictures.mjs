// `npm run pictures`: pictures of the console for the documentation, of a sandbox with some documents, into docs/images. It needs Chromium.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { fail, ROOT, say, setup } from './setup.mjs';

await setup();
const { CHROMIUM } = await import(
  pathToFileURL(path.join(ROOT, 'packages', 'test-support', 'dist', 'chromium.js')).href
);
if (CHROMIUM === undefined) fail('Chromium is not installed.');
const { chromium } = createRequire(path.join(ROOT, 'test-e2e', 'package.json'))('playwright-core');
const { startDeploymentProcess } = await import(
  pathToFileURL(path.join(ROOT, 'packages', 'test-servers', 'dist', 'deployment.js')).href
);

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'ecf-pictures-'));
// If this runs as root, the database server runs as another user.
fs.chmodSync(folder, 0o755);
const { demo, end } = await startDeploymentProcess('standalone', folder, { LOG_LEVEL: 'warn' });
try {
  await submitDocuments(24);
  await takePictures();
} finally {
  await end('SIGTERM');
  fs.rmSync(folder, { recursive: true, force: true });
}

/** A request to the gateway with JSON. @throws Error if it is refused */
async function call(method, address, headers, body) {
  const answer = await fetch(demo.base_url + address, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${method} ${address}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

/** Invoices of today, from the demo issuer to the demo buyer. */
async function submitDocuments(count) {
  const example = fs.readFileSync(path.join(ROOT, 'examples', 'ecf-31.json'), 'utf8');
  const [year, month, day] = new Date(Date.now() - 4 * 3_600_000).toISOString().slice(0, 10).split('-');
  for (let index = 1; index <= count; index += 1) {
    const document = JSON.parse(example);
    const { IdDoc, Emisor, Comprador } = document.ECF.Encabezado;
    IdDoc.eNCF = `E31${String(index + 100).padStart(10, '0')}`;
    Emisor.RNCEmisor = demo.issuer_rnc;
    Emisor.FechaEmision = `${day}-${month}-${year}`;
    Comprador.RNCComprador = demo.buyer_rnc;
    await call('POST', '/fe_Submit', { 'x-api-key': demo.api_key, 'x-reference': `FAC-${1_000 + index}` }, document);
  }
}

/** A key of the demo account that may also change its settings. */
async function keyOfManager() {
  const { account } = await (
    await fetch(`${demo.base_url}/account`, { headers: { 'x-api-key': demo.api_key } })
  ).json();
  const scopes = ['submit', 'read', 'receive', 'approve', 'cancel', 'manage'];
  const authorization = { authorization: `Bearer ${demo.admin_token}` };
  const key = { name: 'Contabilidad', environments: ['TesteCF', 'CerteCF'], scopes };
  return (await call('POST', `/admin/accounts/${account.id}/api-keys`, authorization, key)).key;
}

async function takePictures() {
  const pages = {
    overview: '/console/',
    document: `/console/invoices/${demo.issuer_rnc}/E310000000101`,
    received: '/console/received',
    settings: '/console/settings/certificate',
  };
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
  const page = await browser.newPage({ locale: 'es-DO', viewport: { width: 1280, height: 800 } });
  await page.goto(`${demo.base_url}/console/`);
  await page.locator('input[name=key]').fill(await keyOfManager());
  await page.keyboard.press('Enter');
  await page.locator('main h1').waitFor();
  for (const [name, address] of Object.entries(pages)) {
    const place = { env: 'TesteCF', rnc: name === 'received' ? demo.buyer_rnc : demo.issuer_rnc };
    await page.evaluate((stored) => localStorage.setItem('ecf.place', JSON.stringify(stored)), place);
    await page.goto(demo.base_url + address);
    await page.waitForLoadState('networkidle');
    await page.screenshot({ path: path.join(ROOT, 'docs', 'images', `console-${name}.png`) });
    say(`docs/images/console-${name}.png`);
  }
  await browser.close();
}
