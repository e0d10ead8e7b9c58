import { AxeBuilder } from '@axe-core/playwright';
import { afterAll, afterEach, beforeAll, describe, expect } from '@jest/globals';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { CHROMIUM } from './chromium.js';
import { type Deployment, useDeployment } from './deployment/deployment.js';
import { Numbering } from './documents/documents.js';
import { until } from './until.js';

const SPANISH: BrowserContextOptions = { locale: 'es-DO', viewport: { width: 1280, height: 800 } };

/** The console of a deployment, as a person uses it. */
export interface Console {
  readonly deployment: Deployment;
  /** Opens a path in a new browser context. */
  open(path: string, options?: BrowserContextOptions): Promise<Page>;
  /** Opens a path and signs in with a key, by default the sandbox's. */
  signedIn(path: string, options?: BrowserContextOptions, key?: string): Promise<Page>;
  signIn(page: Page, key?: string): Promise<void>;
  /** An accepted document of the demo issuer, which the demo buyer has received. */
  accepted(): Promise<string>;
}

/** Describes a part of the console in Chromium, or skips it by name where Chromium is not installed. */
export function describeConsole(
  name: string,
  tests: (console: Console) => void,
  env: Record<string, string> = {},
): void {
  const withBrowser = CHROMIUM === undefined ? describe.skip : describe;
  withBrowser(`${name} (skipped where Chromium is not installed)`, () => tests(useConsole(env)));
}

function useConsole(env: Record<string, string>): Console {
  const deployment = useDeployment(env);
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

  async function open(path: string, options: BrowserContextOptions = SPANISH): Promise<Page> {
    const context = await browser.newContext(options);
    // Only a hang takes as long, also on a busy machine.
    context.setDefaultTimeout(120_000);
    const page = await context.newPage();
    const own = deployment.running.demo.base_url;
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
      const page = await open(path, options);
      await signIn(page, key);
      return page;
    },
    accepted,
  };
}

/** Expects that axe finds nothing against WCAG 2.2 AA on the page as it is now. */
export async function accessible(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page })
    .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'])
    .analyze();
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)).toEqual([]);
}
