// The console in Chromium on the standalone deployment: bytes, requests and time of the first view, processor time of the gateway for
// each page, and the memory of the page of events while as many events arrive as in an hour with one a second.
//
// Settings: BENCH_ROUNDS (5 of each page), BENCH_EVENTS (3600). Needs Chromium.
import { startDeploymentProcess } from '@ecf/test-servers/deployment';
import { CHROMIUM } from '@ecf/test-support/chromium';
import { type BrowserContext, type CDPSession, chromium, type Page } from 'playwright-core';
import { benchFolder } from './harness/ending.js';
import { median } from './harness/measure.js';
import { processorSecondsOfTree } from './harness/processes.js';
import { heading, line } from './harness/report.js';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const EVENTS = Number(process.env.BENCH_EVENTS ?? 3_600);
const EVENTS_A_CALL = 30;
const PAGES = ['', 'invoices', 'received', 'batches', 'deliveries', 'contingency', 'settings/certificate'];

if (CHROMIUM === undefined) throw new Error('Chromium is not installed.');
const { child, demo, end } = await startDeploymentProcess('standalone', benchFolder(), { LOG_LEVEL: 'warn' });
const program = child.pid as number;
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });

/** A browser with an empty cache, signed in with a key that may do everything. */
async function signedIn(): Promise<BrowserContext> {
  const context = await browser.newContext({ locale: 'es-DO', viewport: { width: 1_280, height: 800 } });
  await context.request.post(`${demo.base_url}/console/session`, { data: { api_key: await managerKey } });
  return context;
}

async function makeKey(): Promise<string> {
  const get = { headers: { 'x-api-key': demo.api_key } };
  const { account } = (await (await fetch(`${demo.base_url}/account`, get)).json()) as { account: { id: string } };
  const scopes = ['submit', 'read', 'receive', 'approve', 'cancel', 'manage'];
  const made = await fetch(`${demo.base_url}/admin/accounts/${account.id}/api-keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${demo.admin_token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'bench', environments: ['TesteCF'], scopes }),
  });
  return ((await made.json()) as { key: string }).key;
}
const managerKey = makeKey();

/** Opens a page until it has shown what it loads; returns milliseconds until its content was there. */
async function view(page: Page, path: string): Promise<number> {
  const began = performance.now();
  await page.goto(`${demo.base_url}/console/${path}`);
  await page.locator('main :is(h1, h2)').first().waitFor();
  await page.getByText('Cargando…').first().waitFor({ state: 'detached' });
  const shown = performance.now() - began;
  await page.waitForLoadState('networkidle');
  return shown;
}

interface Response {
  readonly isFile: boolean;
  readonly bytes: number;
}

async function firstView(): Promise<void> {
  heading('First view of the overview, with an empty cache');
  const times: number[] = [];
  let responses: Response[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    responses = [];
    const context = await signedIn();
    const page = await context.newPage();
    page.on('requestfinished', async (request) => {
      const { responseBodySize, responseHeadersSize } = await request.sizes();
      const isFile = request.url().includes('/console/') && !request.url().endsWith('/session');
      responses.push({ isFile, bytes: responseBodySize + responseHeadersSize });
    });
    const shown = await view(page, '');
    // The first round warms up.
    if (round > 0) times.push(shown);
    await context.close();
  }
  for (const isFile of [true, false]) {
    const own = responses.filter((response) => response.isFile === isFile);
    const kib = own.reduce((sum, { bytes }) => sum + bytes, 0) / 1_024;
    line(`${own.length} ${isFile ? 'files' : 'calls'}, ${kib.toFixed(0)} KiB as transferred`);
  }
  const [least, most] = [Math.min(...times), Math.max(...times)].map((ms) => ms.toFixed(0));
  line(`content after ${median(times).toFixed(0)} ms (${least} to ${most})`);
}

async function processorTime(): Promise<void> {
  heading('Processor time of the deployment, with its database, for a view of a page');
  const context = await signedIn();
  const page = await context.newPage();
  for (const path of PAGES) {
    await view(page, path);
    const before = processorSecondsOfTree(program);
    for (let round = 0; round < ROUNDS; round += 1) await view(page, path);
    const used = processorSecondsOfTree(program) - before;
    line(`/console/${path}: ${((used / ROUNDS) * 1_000).toFixed(0)} ms`);
  }
  await context.close();
}

/** Bytes of the heap after a collection, and the number of nodes. */
async function memoryOf(session: CDPSession): Promise<string> {
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  const { nodes, jsEventListeners } = await session.send('Memory.getDOMCounters');
  return `${(usedSize / 1024 ** 2).toFixed(1)} MiB, ${nodes} nodes, ${jsEventListeners} listeners`;
}

async function livePage(): Promise<void> {
  heading('Memory of the page of events');
  const context = await signedIn();
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  let arrived = 0;
  await page.route(/\/events\?.*after=/, async (route) => {
    const next = new URL(route.request().url()).searchParams.get('after');
    const events = Array.from({ length: EVENTS_A_CALL }, () => eventOf(++arrived));
    await route.fulfill({ json: { events, next } });
  });
  await page.goto(`${demo.base_url}/console/events`);
  await page.locator('.events > li').first().waitFor();
  for (let wanted = 0; wanted <= EVENTS; wanted += EVENTS / 6) {
    while (arrived < wanted) await page.waitForTimeout(100);
    const shown = await page.locator('.events > li').count();
    line(`${arrived} events, ${shown} shown: ${await memoryOf(session)}`);
  }
  await context.close();
}

function eventOf(number: number) {
  return {
    id: `${number}-00000000`,
    type: 'invoice.accepted',
    time: new Date().toISOString(),
    env: 'TesteCF',
    subject: { issuer_rnc: demo.issuer_rnc, encf: `E31${String(number).padStart(10, '0')}` },
    data: { buyer_name: 'Taller Caoba Imaginario, SRL', total_amount: '11430.00', messages: [] },
  };
}

await firstView();
await processorTime();
await livePage();
await browser.close();
await end('SIGTERM');
