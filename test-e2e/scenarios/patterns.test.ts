import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from '@jest/globals';

const PROGRAM = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../scripts/lint/patterns.mjs');
const root = fs.mkdtempSync(path.join(os.tmpdir(), 'patterns-'));
afterAll(() => fs.rmSync(root, { recursive: true, force: true }));

/** What the lint says of a file with these lines: its exit code, and the numbers of the lines that it names. */
function named(...lines: string[]): [number | null, number[]] {
  const file = path.join(root, 'packages/a/src/a.ts');
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, lines.join('\n'));
  const { status, stderr } = spawnSync(process.execPath, [PROGRAM, root], { encoding: 'utf8' });
  return [status, [...stderr.matchAll(/ error packages\/a\/src\/a\.ts:(\d+) /g)].map(([, line]) => Number(line))];
}

it('the lint names patterns that can take quadratic or exponential time, with their lines', () => {
  const slow = [
    "const é = 'ñ'.replace(/eyJ[\\w-]+(?:\\.[\\w-]*){1,4}/g, '');",
    "export const a = (text: string) => text.replace(/(<(?:\\w+:)?token(?:\\s[^>]*)?>)[^<]*/gi, '$1');",
    'export const b = /\\s+$/.test(é);',
    'const c: RegExp = /^(\\d+)*x$/;',
    'const d = /^0*([0-9]+)x/.exec(é) ?? /semilla.*(venc|expir)/.exec(é);',
  ];
  expect(named(...slow)).toEqual([1, [1, 2, 3, 4, 5, 5]]);
});

it('the lint accepts linear patterns, and demands a reason where it cannot judge', () => {
  const linear = [
    'const a = /eyJ[\\w.-]*/g, b = /^[\\w-]{1,400}$/, c = /(:\\/\\/[^\\s:/@]*):[^\\s@/]+@/g;',
    '// /\\s+$/',
  ];
  expect(named(...linear)).toEqual([0, []]);
  const unknown = ['const a = /(?<!x)x+$/;', '// linear: one class', "const b = new RegExp('a');", "RegExp('[ab]+c');"];
  expect(named(...unknown)).toEqual([1, [1, 4]]);
});
