import type { AddressInfo } from 'node:net';
import {
  ADMIN_OPERATIONS,
  adminOpenApiDocument,
  CONSOLE_SESSION,
  OPERATIONS,
  type Operation,
  OWN_OPERATIONS,
  openApiDocument,
} from '@ecf/contracts';
import { ECF_TYPES } from '@ecf/domain';
import { documentSchema } from '@ecf/ecf-xml';
import { errorHandler } from '@ecf/http';
import { createMasterKeys } from '@ecf/kit';
import { silentLogger } from '@ecf/test-support/services';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import express from 'express';
import type { ApiKeyStore } from '../src/accounts/ports.js';
import { sessionRoutes } from '../src/console/session.http.js';
import type { ConsoleSessions } from '../src/console/sessions.js';
import { securityHeaders } from '../src/edge/access-log.http.js';
import { docsRoutes } from '../src/edge/docs-page.http.js';
import { ownRoutes } from '../src/edge/own-routes.js';
import { createRouter } from '../src/edge/routing.js';
import { type AdminOptions, adminRoutes } from '../src/operations/routes.js';
import { named, routesOf } from './routes-of.js';

const described = (document: { paths: Record<string, object> }) =>
  Object.entries(document.paths)
    .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`))
    .sort();
const unused = {} as AdminOptions;
const deliveries = {} as AdminOptions['operations']['deliveries'];
const admin = adminRoutes({
  ...unused,
  operations: {
    resolution: null,
    deliveries,
    readModels: null,
    webhooks: null,
    archive: {},
    masterKeys: {},
    state: {},
  },
  sealingKeys: createMasterKeys([new Uint8Array(32)]),
  clock: () => new Date(),
});
const ready = async () => ({ ready: true, checks: {} });

describe('the routes of the gateway and the operations of the documents', () => {
  it('are the same: the public ones', () => {
    const console = sessionRoutes({} as ConsoleSessions, {} as ApiKeyStore);
    const routers = [ownRoutes({ version: '0', simulated: true, ready }), docsRoutes({ admin: false }), console];
    const own = routers.flatMap((router) => routesOf(router));
    expect(own.sort()).toEqual(named([...OWN_OPERATIONS, ...CONSOLE_SESSION]));
    expect(described(openApiDocument())).toEqual([...named(OPERATIONS), ...own].sort());
  });

  it('are the same: the administration', () => {
    const routes = [...routesOf(admin, '/admin'), 'GET /admin/openapi.json'].sort();
    expect(routes).toEqual(named(ADMIN_OPERATIONS));
    expect(described(adminOpenApiDocument())).toEqual(routes);
    expect(routesOf(docsRoutes({ admin: true }))).toContain('GET /admin/openapi.json');
  });

  it('are found under the addresses of the document', () => {
    const router = createRouter<Operation>(OPERATIONS);
    const taken = new Set<string>();
    for (const { method, path } of OPERATIONS) {
      const routed = router.route(method, path.replace('{encf}', 'E310000000001').replaceAll(/\{\w+\}/g, '131000001'));
      expect(routed).toMatchObject({ kind: 'operation', operation: { method, path } });
      taken.add(`${method} ${path}`);
    }
    expect(taken.size).toBe(OPERATIONS.length);
  });
});

describe('the page', () => {
  let url: string;
  let stop: () => void;
  beforeAll(async () => {
    const app = express();
    app.use(securityHeaders, docsRoutes({ admin: true }), errorHandler(silentLogger));
    const server = app.listen(0, '127.0.0.1');
    // Longer than `fetch` keeps a connection.
    server.keepAliveTimeout = 75_000;
    await new Promise((resolve) => server.once('listening', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    stop = () => server.close();
  });
  afterAll(() => stop());

  it.each(['/docs', '/docs/', '/docs/admin'])('%s names only files of this server, and each is there', async (path) => {
    const page = await fetch(url + path);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
    expect(policy).not.toMatch(/unsafe|http/);
    const html = await page.text();
    expect(html).not.toMatch(/https?:|<style|<script>|\son\w+=/);
    const addresses = [...html.matchAll(/(?:src|href|data-document)="([^"]+)"/g)].map(([, address]) => address);
    expect(addresses.length).toBeGreaterThanOrEqual(5);
    expect(addresses).toContain('/docs/guide/');
    // The site is tested in guide.test.ts.
    for (const address of addresses.filter((one) => one !== '/docs/guide/')) {
      const file = await fetch(url + address);
      expect({ address, status: file.status }).toEqual({ address, status: 200 });
      expect((await file.arrayBuffer()).byteLength).toBeGreaterThan(100);
    }
  });

  it('serves the documents, and nothing else of the package', async () => {
    expect(await (await fetch(`${url}/openapi.json`)).json()).toEqual(JSON.parse(JSON.stringify(openApiDocument())));
    for (const name of ['package.json', '..%2fpackage.json', 'index.html', '__proto__', 'swagger-ui.css.map'])
      expect((await fetch(`${url}/docs/${name}`)).status).toBe(404);
    expect((await fetch(`${url}/docs`, { method: 'POST' })).status).toBe(405);
    expect(routesOf(docsRoutes({ admin: false }))).not.toContain('GET /admin/openapi.json');
  });

  it('serves the schema of each type, and names the ten for any other address', async () => {
    for (const type of ECF_TYPES) {
      const address = `${url}/schemas/${type}.json`;
      const answer = await fetch(address);
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/schema+json']);
      expect(await answer.json()).toEqual(JSON.parse(JSON.stringify(documentSchema(type))));
      const known = await fetch(address, { headers: { 'if-none-match': answer.headers.get('etag') as string } });
      expect([known.status, await known.text()]).toEqual([304, '']);
    }
    const head = await fetch(`${url}/schemas/31.json`, { method: 'HEAD' });
    expect([head.status, head.headers.get('etag'), await head.text()]).toEqual([200, expect.any(String), '']);
    for (const name of ['35.json', '31', '31.xml', 'E31.json', '__proto__.json', '', '31.json/31.json']) {
      const answer = await fetch(`${url}/schemas/${name}`);
      expect([name, answer.status]).toEqual([name, 404]);
      const { code, message } = (await answer.json()) as { code: string; message: string };
      expect(code).toBe('unknown_route');
      expect(message).toContain(
        `There is no schema /schemas/${name}. The schemas of the ten types are /schemas/31.json`,
      );
    }
    for (const method of ['POST', 'OPTIONS', 'DELETE']) {
      const answer = await fetch(`${url}/schemas/31.json`, { method });
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    }
  });
});
