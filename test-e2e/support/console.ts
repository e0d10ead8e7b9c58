import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { CHROMIUM } from '@ecf/test-support/chromium';
import { afterAll, afterEach, beforeAll, describe, expect } from '@jest/globals';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { type Deployment, useDeployment } from './deployment/deployment.js';
import { Numbering } from './documents/documents.js';
import { until } from './until.js';

const SPANISH: BrowserContextOptions = { locale: 'es-DO', viewport: { width: 1280, height: 800 } };

/** The console of a deployment, as a person uses it. */
export interface Console {
  readonly deployment: Deployment;
  /** Opens a path in a new browser context. */
  open(path: string, options?: BrowserContextOptions): Promise<Page>;
  /** Opens a path in a session that was begun with a key, by default the sandbox's, or with the token of an administrator. */
  signedIn(path: string, options?: BrowserContextOptions, key?: string): Promise<Page>;
  /** Signs in by the form. */
  signIn(page: Page, key?: string): Promise<void>;
  /** An accepted document of the demo issuer, which the demo buyer has received. */
  accepted(): Promise<string>;
}

/** A part of the console with its tests. */
interface Area {
  readonly name: string;
  readonly tests: (console: Console) => void;
}

export const area = (name: string, tests: Area['tests']): Area => ({ name, tests });

/** Describes areas of the console in Chromium, on one deployment and in this order; skips them by name without Chromium. */
export function describeConsole(...areas: readonly Area[]): void {
  const withBrowser = CHROMIUM === undefined ? describe.skip : describe;
  withBrowser('the console (skipped where Chromium is not installed)', () => {
    const console = useConsole();
    for (const { name, tests } of areas) describe(name, () => tests(console));
  });
}

function useConsole(): Console {
  const deployment = useDeployment();
  const numbers = new Numbering({ rnc: '199999991', name: 'Comercial Palma Ficticia, SRL' });
  let browser: Browser;
  /** What a page reported that it should not: faults of scripts, refusals of the content security policy. */
  const reported: string[] = [];

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: CHROMIUM as string, args: ['--no-sandbox'] });
  });
  afterAll(() => browser?.close());
  afterEach(async () => {
    await Promise.all(browser.contexts().map((context) => context.close()));
    expect(reported.splice(0)).toEqual([]);
  });

  async function open(
    path: string,
    options: BrowserContextOptions = SPANISH,
    credential?: { api_key: string } | { admin_token: string },
  ): Promise<Page> {
    const context = await browser.newContext(options);
    // Only a hang takes as long, also on a busy machine.
    context.setDefaultTimeout(120_000);
    const page = await context.newPage();
    const own = deployment.running.demo.base_url;
    if (credential !== undefined) {
      const session = await context.request.post(`${own}/console/session`, { data: credential });
      expect(session.status()).toBe(200);
    }
    page.on('pageerror', (error) => reported.push(error.message));
    page.on('console', (message) => {
      // A refused request or a missing page is part of some tests; the browser reports each.
      const isExpected = /^(Failed to load resource|Error: The page is missing)/.test(message.text());
      if (message.type() === 'error' && !isExpected) reported.push(message.text());
    });
    page.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(own) && !/^(blob|data):/.test(url)) reported.push(`asked another host: ${url}`);
    });
    await page.goto(own + path);
    return page;
  }

  async function signIn(page: Page, key = deployment.running.demo.api_key): Promise<void> {
    await page.locator('input[name=key]').fill(key);
    await page.keyboard.press('Enter');
    await page.locator('main').waitFor();
  }

  async function accepted(): Promise<string> {
    const { invoice, encf } = numbers.next();
    const { body } = await deployment.demo.submit(invoice);
    expect(body.status).toBe('Aceptado');
    const headers = { 'rnc-issuing': deployment.running.demo.issuer_rnc };
    await until(
      () => deployment.demo.call('GET', `/invoices/${encf}`, { headers }),
      ({ status, body }) => status === 200 && body.delivery_status === 'delivered',
    );
    return encf;
  }

  return {
    deployment,
    open,
    signIn,
    signedIn: async (path, options, key) => {
      const { admin_token, api_key } = deployment.running.demo;
      const isAdministration = path.startsWith('/console/admin');
      const page = await open(path, options, isAdministration ? { admin_token } : { api_key: key ?? api_key });
      await page.locator('main').waitFor();
      return page;
    },
    accepted,
  };
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const WCAG_2_2_AA = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}

/**
 * Expects that axe finds nothing against WCAG 2.2 AA on the page as it is now. It runs in the page itself: `@axe-core/playwright`
 * opens another page for each run, which costs five times as much. The completions of the editor are left out: their options are
 * reached by the keys of its text field, so the list itself takes no focus.
 */
export async function accessible(page: Page): Promise<void> {
  if (await page.evaluate('typeof axe === "undefined"')) await page.evaluate(AXE);
  const options = { runOnly: { type: 'tag', values: WCAG_2_2_AA }, resultTypes: ['violations'] };
  const found = await page.evaluate<Violation[]>(
    `axe.run({ exclude: ['.cm-tooltip-autocomplete'] }, ${JSON.stringify(options)}).then((result) => result.violations)`,
  );
  expect(found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)).toEqual([]);
}

/** Drops a file on the place for it. */
export async function drop(page: Page, name: string, content: Buffer, type = ''): Promise<void> {
  const file = `new File([new Uint8Array(${JSON.stringify([...content])})], ${JSON.stringify(name)}, ${JSON.stringify({ type })})`;
  const dataTransfer = await page.evaluateHandle(
    `(() => { const dropped = new DataTransfer(); dropped.items.add(${file}); return dropped; })()`,
  );
  await page.dispatchEvent(':is(label, form):has(input[type=file])', 'drop', { dataTransfer });
}
