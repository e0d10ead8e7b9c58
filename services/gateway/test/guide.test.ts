import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { errorHandler } from '@ecf/http';
import { silentLogger } from '@ecf/test-support/services';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import express from 'express';
import { securityHeaders } from '../src/edge/access-log.http.js';
import { guideRoutes } from '../src/edge/guide.http.js';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'ecf-guide-'));
const built = path.join(folder, 'site');

interface Navigation {
  sources(): string[];
  placeOf(source: string): string;
}
const navigation = (await import(`${ROOT}/site/pages.mjs`)) as Navigation;

/** The files below a folder with this ending, relative to it. */
const filesOf = (place: string, ending: string) =>
  fs.readdirSync(place, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith(ending));
const textOf = (file: string) => fs.readFileSync(path.join(built, file), 'utf8');

let url: string;
let close: () => void;

beforeAll(async () => {
  const { status, stderr } = spawnSync(process.execPath, ['site/build.mjs', '--out', built], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  expect({ status, end: status === 0 ? '' : stderr.slice(-2_000) }).toEqual({ status: 0, end: '' });
  const app = express();
  app.use('/absent', securityHeaders, guideRoutes(path.join(folder, 'none')));
  app.use(securityHeaders, guideRoutes(built), errorHandler(silentLogger));
  const server = app.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  close = () => server.close();
  // The build takes 20 s of the processor; on a busy machine that is minutes.
}, 900_000);
afterAll(() => {
  close?.();
  fs.rmSync(folder, { recursive: true, force: true });
});

describe('the site of the documentation', () => {
  it('has every page of the documentation in its navigation, and builds it in both languages.', () => {
    const written = filesOf(path.join(ROOT, 'docs'), '.md').filter((file) => !file.startsWith('es/'));
    const sources = navigation.sources();
    expect(written.map((file) => `docs/${file}`).filter((file) => !sources.includes(file))).toEqual([]);
    const pages = sources.map((source) => navigation.placeOf(source).replace(/\.md$/, '.html'));
    const expected = ['index.html', ...pages].flatMap((page) => [page, `es/${page}`]);
    expect(filesOf(built, '.html').sort()).toEqual(['404.html', ...expected].sort());
  });

  it('has a search index for each language.', () => {
    const indexes = filesOf(path.join(built, 'assets'), '.js').filter((file) => file.includes('localSearchIndex'));
    const english = indexes.find((file) => file.includes('localSearchIndexroot')) ?? '';
    const spanish = indexes.find((file) => file.includes('localSearchIndexes')) ?? '';
    expect(textOf(`assets/${english}`)).toContain('/docs/guide/integrators#submit');
    expect(textOf(`assets/${spanish}`)).toContain('/docs/guide/es/overview#');
  });

  it('loads files of its own folder only, and no page has a script or a style in its text.', () => {
    const loaded: string[] = [];
    for (const page of filesOf(built, '.html')) {
      const html = textOf(page);
      expect({ page, inline: html.match(/<script(?![^>]*\ssrc=)|<style|\son[a-z]+="|javascript:/g) }).toEqual({
        page,
        inline: null,
      });
      for (const [, tag, attributes = ''] of html.matchAll(/<(script|link|img|iframe|source|object|embed)\b([^>]*)>/g))
        for (const [, address = ''] of attributes.matchAll(/\s(?:src|srcset|href|data)="([^"]*)"/g))
          loaded.push(`${tag} ${address}`);
    }
    for (const style of filesOf(built, '.css'))
      for (const [, address = ''] of textOf(style).matchAll(/(?:url\(|@import\s)["']?([^"')]*)/g))
        loaded.push(`style ${address}`);
    for (const script of filesOf(built, '.js'))
      for (const [, address = ''] of textOf(script).matchAll(
        /(?:\bfrom|\bimport|\bfetch\(|importScripts\(|\bimport\()\s*["']([^"',]*\/[^"']*)["']/g,
      ))
        loaded.push(`script ${address}`);
    expect(loaded.length).toBeGreaterThan(1_000);
    const inside = /^\w+ (?:\/docs\/guide\/|\.\.?\/|data:image\/|#)/;
    expect(loaded.filter((one) => !inside.test(one))).toEqual([]);
  });

  it('is served with a policy that forbids other hosts, scripts in pages and frames.', async () => {
    for (const address of ['/docs/guide/', '/docs/guide/integrators', '/docs/guide/es/overview', '/docs/guide/adr/']) {
      const page = await fetch(url + address);
      expect({ address, status: page.status }).toEqual({ address, status: 200 });
      expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(page.headers.get('cache-control')).toBe('no-cache');
      const policy = page.headers.get('content-security-policy') ?? '';
      expect(policy).toMatch(/^default-src 'self'; style-src-attr 'unsafe-inline';.* frame-ancestors 'none'$/);
      expect(policy).not.toMatch(/http|unsafe-eval|script-src/);
      const [, asset = ''] = /<script type="module" src="([^"]+\/assets\/app[^"]+)"/.exec(await page.text()) ?? [];
      const script = await fetch(url + asset);
      expect(script.headers.get('content-type')).toMatch(/^text\/javascript/);
      expect(script.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    }
    expect((await fetch(`${url}/docs/guide`, { redirect: 'manual' })).headers.get('location')).toBe('/docs/guide/');
  });

  it('answers an unknown page with its own page, and no file outside its folder.', async () => {
    fs.writeFileSync(path.join(folder, 'secret.html'), 'secret');
    for (const name of [
      'nowhere',
      'es/nowhere',
      '..%2fsecret',
      '%2e%2e/secret.html',
      '..%5csecret.html',
      '%00',
      '.hidden',
    ]) {
      const answer = await fetch(`${url}/docs/guide/${name}`);
      const text = await answer.text();
      expect({ name, status: answer.status, secret: text === 'secret' }).toEqual({ name, status: 404, secret: false });
    }
    expect((await fetch(`${url}/docs/guide/`, { method: 'POST' })).status).toBe(405);
  });

  it('names the command that builds it if it has not been built.', async () => {
    const answer = await fetch(`${url}/absent/docs/guide/integrators`);
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({
      code: 'unknown_route',
      message: expect.stringContaining('Run `npm run docs` in the folder of the gateway'),
    });
  });
});
