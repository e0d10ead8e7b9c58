import { setTimeout as delay } from 'node:timers/promises';
import { silentLogger } from '@ecf/test-support/services';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createHttpApp, sendObject } from '../src/http-app.js';
import { type RunningServer, serve } from '../src/http-server.js';
import { sendCsvListing, sendCsvRows, wantsCsv } from '../src/listings/csv.js';
import type { ListingPlace } from '../src/listings/listing-cursor.js';

const COLUMNS = ['id', 'name', 'messages', 'final'];
const NAMES = ['=HYPERLINK("http://x")', 'Coma, "comillas"\ny línea', '-1+2', '@SUM(1)', 'Ñandú', ''];
const row = (id: number, name: string | null) => ({
  id,
  name,
  messages: [{ codigo: '1', valor: 'a,b' }],
  final: id > 1,
});

let server: RunningServer;
/** Resolves when the endless listing is not read any more. */
let stopped: Promise<void>;
let stop = () => {};

beforeAll(async () => {
  const place: ListingPlace = { value: '1.00', id: 1, total: 1 };
  stopped = new Promise((resolve) => {
    stop = resolve;
  });
  const endless = async () => {
    await delay(1);
    return { next: place, invoices: Array.from({ length: 500 }, () => row(1, 'x'.repeat(200))) };
  };
  const failing = async () => {
    throw new Error('the database is unreachable');
  };
  const app = createHttpApp({
    logger: silentLogger,
    maxBodyBytes: 1_000,
    routes: (routes) => {
      routes.get('/object', (req, res) => sendObject(req, res, { status: 'Aceptado' }));
      routes.get('/type', (req, res) => res.json({ csv: wantsCsv(req) }));
      routes.get('/sums', (_req, res) => sendCsvRows(res, ['ecf_type', 'total'], [{ ecf_type: '34', total: '-5.00' }]));
      routes.get('/empty', (_req, res) => sendCsvListing(res, COLUMNS, { next: null, invoices: [] }, failing));
      routes.get('/names', (_req, res) =>
        sendCsvListing(res, COLUMNS, { next: place, invoices: NAMES.map((name, id) => row(id, name)) }, async () => ({
          next: null,
          invoices: [row(9, null)],
        })),
      );
      routes.get('/endless', async (_req, res) => sendCsvListing(res, COLUMNS, await endless(), endless).finally(stop));
      routes.get('/failing', (_req, res) =>
        sendCsvListing(res, COLUMNS, { next: place, invoices: [row(1, 'a')] }, failing),
      );
    },
  });
  server = await serve(app, { host: '127.0.0.1', port: 0, timeouts: { drain: 100 } });
});
afterAll(() => server.stop());

const get = (path: string, headers: Record<string, string> = {}) => fetch(`${server.url}${path}`, { headers });

describe('an ETag', () => {
  it.each([
    ['itself', (tag: string) => tag, 304],
    ['its weak form', (tag: string) => `W/${tag}`, 304],
    ['a list that has it', (tag: string) => `"other", ${tag},"third"`, 304],
    ['a star', () => '*', 304],
    ['a list without it', () => '"other", "third"', 200],
    ['text without quotes', (tag: string) => tag.slice(1, -1), 200],
  ])('is compared when sent back as %s: 304 if it matches, else 200', async (_what, of, status) => {
    const tag = (await get('/object')).headers.get('etag') ?? '';
    expect(tag).toMatch(/^"[\w-]{43}"$/);
    const answer = await get('/object', { 'if-none-match': of(tag) });
    expect([answer.status, answer.headers.get('etag')]).toEqual([status, tag]);
    expect(await answer.text()).toBe(status === 304 ? '' : '{"status":"Aceptado"}');
  });
});

describe('CSV', () => {
  it.each([
    ['text/csv', true],
    ['text/csv;q=0.9, application/json;q=0.1', true],
    ['text/csv, */*;q=0.1', true],
    ['text/csv; charset=utf-8', true],
    ['text/csv;header=present', true],
    ['text/csv; charset=UTF-8; header=present', true],
    ['application/json, text/csv', false],
    ['*/*', false],
    ['text/html', false],
  ])('is the format for the header Accept: %s: %s', async (accept, csv) => {
    expect(await (await get('/type', { accept })).json()).toEqual({ csv });
  });

  it('of an empty listing has only the row of column names', async () => {
    const answer = await get('/empty');
    expect([answer.headers.get('content-type'), await answer.text()]).toEqual([
      'text/csv; charset=utf-8; header=present',
      'id,name,messages,final\r\n',
    ]);
  });

  it('begins with a byte order mark if bom=true, and other values of bom are refused', async () => {
    const bytes = async (path: string) => Buffer.from(await (await get(path)).arrayBuffer());
    const mark = Buffer.from([0xef, 0xbb, 0xbf]);
    for (const path of ['/empty', '/sums'])
      expect(await bytes(`${path}?bom=true`)).toEqual(Buffer.concat([mark, await bytes(path)]));
    expect(await bytes('/empty?bom=0')).toEqual(await bytes('/empty'));
    expect((await get('/sums?bom=maybe')).status).toBe(422);
  });

  it('quotes values that need it, and defuses formulas from outside', async () => {
    const messages = '"[{""codigo"":""1"",""valor"":""a,b""}]"';
    expect(await (await get('/names')).text()).toBe(
      [
        'id,name,messages,final',
        `0,"'=HYPERLINK(""http://x"")",${messages},false`,
        `1,"Coma, ""comillas"" y línea",${messages},false`,
        `2,'-1+2,${messages},true`,
        `3,"'@SUM(1)",${messages},true`,
        `4,"Ñandú",${messages},true`,
        `5,,${messages},true`,
        `9,,${messages},true`,
        '',
      ].join('\r\n'),
    );
  });

  it('of sums keeps negative amounts unchanged', async () => {
    expect(await (await get('/sums')).text()).toBe('ecf_type,total\r\n34,-5.00\r\n');
  });

  it('stops reading the listing when the caller has left', async () => {
    const leaving = new AbortController();
    const answer = await fetch(`${server.url}/endless`, { signal: leaving.signal });
    const reader = answer.body?.getReader();
    await reader?.read();
    leaving.abort();
    await stopped;
  });

  it('is cut off if reading fails after the first rows, so that no caller takes it for complete', async () => {
    await expect((async () => (await get('/failing')).text())()).rejects.toThrow();
  });
});
