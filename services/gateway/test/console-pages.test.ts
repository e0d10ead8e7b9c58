import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { errorHandler } from '@ecf/http';
import { silentLogger } from '@ecf/test-support/services';
import { describe, expect, it } from '@jest/globals';
import express from 'express';
import { type ConsoleParts, consolePages } from '../src/console/pages.http.js';
import { securityHeaders } from '../src/edge/access-log.http.js';

const ALL = { accounts: true, administration: true };

/** The answer of a server that serves the console from this folder. */
async function answerOf(folder: string, target: string, method = 'GET', parts: ConsoleParts = ALL) {
  const app = express().use(securityHeaders, consolePages(parts, folder), errorHandler(silentLogger));
  const server = app.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const response = await fetch(address + target, { method, redirect: 'manual' });
  const text = await response.text();
  server.close();
  return { status: response.status, headers: response.headers, text };
}

describe('The pages of the console', () => {
  const built = mkdtempSync(path.join(tmpdir(), 'console-'));
  mkdirSync(path.join(built, 'assets'));
  writeFileSync(path.join(built, 'index.html'), '<title>console</title>');
  writeFileSync(path.join(built, 'assets', 'index-1a2b.js'), 'start()');
  writeFileSync(path.join(path.dirname(built), 'outside.txt'), 'outside');

  it('are one file at every address, and may load files of the server only.', async () => {
    for (const target of ['/console/', '/console/invoices/131000001/E310000000001']) {
      const { status, headers, text } = await answerOf(built, target);
      expect({ status, text }).toEqual({ status: 200, text: '<title>console</title>' });
      expect(headers.get('content-security-policy')).toMatch(/^default-src 'self'; .*frame-ancestors 'none'$/);
      expect(headers.get('cache-control')).toBe('no-cache');
    }
    expect((await answerOf(built, '/console')).headers.get('location')).toBe('/console/');
  });

  it('of the administration are absent from a listener without it, and alone on its own listener.', async () => {
    for (const target of ['/console/admin', '/console/admin/', '/console/admin/audit']) {
      const without = await answerOf(built, target, 'GET', { accounts: true, administration: false });
      expect(without.status).toBe(404);
      expect((await answerOf(built, target)).status).toBe(200);
    }
    const alone = { accounts: false, administration: true };
    for (const target of ['/console', '/console/'])
      expect((await answerOf(built, target, 'GET', alone)).headers.get('location')).toBe('/console/admin/');
    expect((await answerOf(built, '/console/admin/', 'GET', alone)).status).toBe(200);
  });

  it('load assets that a browser keeps, and no file of another folder.', async () => {
    const asset = await answerOf(built, '/console/assets/index-1a2b.js');
    expect(asset).toMatchObject({ status: 200, text: 'start()' });
    expect(asset.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    for (const target of ['/console/assets/none.js', '/console/..%2foutside.txt', '/console/%2e%2e/outside.txt'])
      expect((await answerOf(built, target)).status).not.toBe(200);
  });

  it('are sent compressed to browsers that accept it.', async () => {
    writeFileSync(path.join(built, 'assets', 'large-3c4d.js'), 'begin()');
    writeFileSync(path.join(built, 'assets', 'large-3c4d.js.gz'), gzipSync('begin()'));
    const { headers, text } = await answerOf(built, '/console/assets/large-3c4d.js');
    expect(text).toBe('begin()');
    expect(Object.fromEntries(headers)).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-encoding': 'gzip',
      'content-type': expect.stringContaining('javascript'),
      vary: expect.stringContaining('Accept-Encoding'),
    });
  });

  it('say which command builds them where they are missing, and take no other method.', async () => {
    const missing = await answerOf(path.join(built, 'absent'), '/console/');
    expect(missing).toMatchObject({ status: 404 });
    expect(missing.text).toContain('`npm run build`');
    expect(await answerOf(built, '/console/', 'POST')).toMatchObject({ status: 405 });
  });
});
