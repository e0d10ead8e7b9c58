import { readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, expect, it } from '@jest/globals';
import { createJudge, type Judge, type JudgedDocument } from '../src/judge.js';

const GOLDEN = path.resolve(import.meta.dirname, '../../../examples/golden');
const ISSUER = '199999991';
const now = new Date('2026-06-20T12:00:00-04:00');
let judge: Judge;
beforeEach(() => {
  judge = createJudge([], () => now);
});

function golden(name: string, encf: string, operation: JudgedDocument['operation'] = 'recepcion'): JudgedDocument {
  const bytes = readFileSync(path.join(GOLDEN, `${name}.xml`));
  return { operation, env: 'TesteCF', filename: `${ISSUER}${encf}.xml`, bytes };
}

const invoice = () => golden('ecf-31', 'E310000000001');
const codesOf = async (document: JudgedDocument) => {
  const { code, messages } = await judge.judge(document);
  return [code, messages.map((message) => message.code)];
};

it('A document is accepted once; the second time its number is used.', async () => {
  expect(await codesOf(invoice())).toEqual(['1', ['0']]);
  expect(await codesOf(invoice())).toEqual(['2', ['1209']]);
});

it('A note is accepted after the document that it modifies, and refused before.', async () => {
  expect(await codesOf(golden('ecf-33', 'E330000000001'))).toEqual(['2', ['614']]);
  judge = createJudge([], () => now);
  await judge.judge(invoice());
  expect(await codesOf(golden('ecf-33', 'E330000000001'))).toEqual(['1', ['0']]);
});

it('A summary is judged as the consumer reception judges it.', async () => {
  expect(await codesOf(golden('rfce', 'E320000000001', 'recepcionfc'))).toEqual(['1', ['0']]);
});

it('The registered ranges of a taxpayer decide which numbers it may use.', async () => {
  const range = { env: null, ecf_type: '31', from: 2, to: 9, expires: null };
  judge = createJudge([{ rnc: ISSUER, ranges: [range] }], () => now);
  expect(await codesOf(invoice())).toEqual(['2', ['75']]);
});
