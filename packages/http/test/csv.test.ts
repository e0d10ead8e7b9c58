import { silentLogger } from '@ecf/test-support/services';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import Papa from 'papaparse';
import { createHttpApp } from '../src/http-app.js';
import { type RunningServer, serve } from '../src/http-server.js';
import { sendCsvListing, sendCsvRows } from '../src/listings/csv.js';

const COLUMNS = ['id', 'name', 'total', 'faults', 'trusted', 'note'];
let rows: Record<string, unknown>[] = [];
let server: RunningServer;
beforeAll(async () => {
  const app = createHttpApp({
    logger: silentLogger,
    maxBodyBytes: 1_000,
    routes: (routes) => {
      const page = () => ({ next: null, invoices: rows });
      routes.get('/listing', (_req, res) => sendCsvListing(res, COLUMNS, page(), async () => page()));
      routes.get('/rows', (_req, res) => sendCsvRows(res, COLUMNS, rows));
    },
  });
  server = await serve(app, { host: '127.0.0.1', port: 0 });
});
afterAll(() => server.stop());

/** The text of the answer, and its rows as another library reads them. */
async function csvOf(given: Record<string, unknown>[], path = '/listing', delimiter = ',') {
  rows = given;
  const text = await (await fetch(`${server.url}${path}`)).text();
  const { data, errors } = Papa.parse<string[]>(text, { delimiter, newline: '\r\n', skipEmptyLines: true });
  return { text, cells: data.slice(1), errors };
}

const row = (name: string) => ({ id: 7, name, total: '118.00', faults: [], trusted: true, note: 'end' });
const REST = ['118.00', '[]', 'true', 'end'];

/** The cells of names, in rows that have no more and no fewer lines and cells than they should. */
async function cellsOf(names: readonly string[]): Promise<string[]> {
  const { text, cells, errors } = await csvOf(names.map(row));
  expect(errors).toEqual([]);
  expect(text.split(/\r\n|\r|\n/)).toHaveLength(names.length + 2);
  expect(cells.map(([id, , ...rest]) => [id, ...rest])).toEqual(names.map(() => ['7', ...REST]));
  return cells.map(([, cell]) => cell as string);
}

const CONTROLS = [
  ...Array.from({ length: 0x20 }, (_, code) => code),
  ...Array.from({ length: 0x21 }, (_, code) => 0x7f + code),
  0x2028,
  0x2029,
].map((code) => String.fromCharCode(code));
const INVISIBLE = ['\u00ad', '\u200b', '\u200c', '\u200e', '\u202e', '\u2060', '\ufeff'];
const FORMULA = ['=', '+', '-', '@', '\uff1d', '\uff0b', '\uff0d', '\uff20'];
/** What a spreadsheet may split a line at, apart from the comma. */
const SEPARATORS = [';', '|', '\t'];

describe('a name from outside in CSV', () => {
  it('is read back unchanged if it has only visible characters and does not begin a formula', async () => {
    const names = ['Ferretería "El Ñandú", S.R.L.', "D'Óleo & Hijos", 'a;b|c,d', '"', '",', 'A - B', '😀 Comercial'];
    expect(await cellsOf(names)).toEqual(names);
  });

  it('has a blank for each run of control characters, so that a row is one line', async () => {
    const names = CONTROLS.map((control) => `Uno${control}${control}Dos`);
    expect(await cellsOf(names)).toEqual(names.map(() => 'Uno Dos'));
  });

  it('has no invisible characters', async () => {
    const names = INVISIBLE.map((character) => `U${character}no`);
    expect(await cellsOf(names)).toEqual(names.map(() => 'Uno'));
  });

  it('does not begin a formula, whatever characters precede the sign', async () => {
    const before = ['', ' ', ...CONTROLS, ...INVISIBLE, '\r\n\t '];
    for (const sign of FORMULA) {
      const formula = `${sign}HYPERLINK("x")`;
      expect(await cellsOf(before.map((text) => text + formula))).toEqual(before.map(() => `'${formula}`));
    }
  });

  it('does not begin a formula after a separator at which a spreadsheet of another locale splits the line', async () => {
    const between = ['', ' ', '\u200b', '\n', '"', '\u200b"\'"'];
    const names = SEPARATORS.flatMap((separator) =>
      FORMULA.flatMap((sign) => between.map((text) => `Uno${separator}${text}${sign}1+1`)),
    );
    await cellsOf(names);
    const { text } = await csvOf(names.map(row));
    for (const separator of SEPARATORS)
      for (const part of text.split('\r\n').flatMap((line) => line.split(separator)))
        expect(part.replace(/^[\s"]+/, '')).not.toMatch(/^[=+\-@\uff1d\uff0b\uff0d\uff20]/);
  });
});

it('numbers stay numbers, negative ones too, in listings and in sums', async () => {
  for (const path of ['/listing', '/rows']) {
    const totals = ['-5.00', '0.00', '1180000.50', -5, 12, '-12'];
    const { text } = await csvOf(
      totals.map((total) => ({ ...row('x'), total })),
      path,
    );
    const written = text.trimEnd().split('\r\n').slice(1);
    expect(written.map((line) => line.split(',')[2])).toEqual(totals.map(String));
  }
});

it('a text that only begins like a number gets an apostrophe', async () => {
  const names = ['-5+cmd', '-5.00;=1', '-5 %', '--5', '-5.'];
  for (const cell of await cellsOf(names)) expect(cell).toMatch(/^'-/);
});

it('lists are JSON in one cell, and their texts do not begin a formula either', async () => {
  const faults = [{ path: 'ECF', message: 'a;=1+1\n"b"' }, -5];
  const { cells } = await csvOf([{ ...row('x'), faults }]);
  expect(JSON.parse(cells[0]?.[3] as string)).toEqual([{ path: 'ECF', message: 'a;\'=1+1\n"b"' }, -5]);
});

it('sums are defused like listings', async () => {
  const { cells } = await csvOf([row('=1+1')], '/rows');
  expect(cells[0]?.[1]).toBe("'=1+1");
});
