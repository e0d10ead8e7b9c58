import fs from 'node:fs';
import { expect, it } from '@jest/globals';
import { problems } from '../src/words/es/problems.js';

const SOURCES = new URL('../src/', import.meta.url);
const openapi = JSON.parse(fs.readFileSync(new URL('../../../docs/openapi.json', import.meta.url), 'utf8'));

type Operations = Record<string, { responses: Record<string, Response> }>;

interface Response {
  $ref?: string;
  content?: Record<string, { examples?: Record<string, unknown> }>;
}

it('Every error that the gateway describes for a call of the console has Spanish words.', () => {
  const codes = new Set(callsOfConsole().flatMap(codesOf));
  expect(codes).toContain('invalid_document');
  expect([...codes].filter((code) => !(code in problems))).toEqual([]);
});

/** The operations that the sources name, each as method and path. */
function callsOfConsole(): [method: string, path: string][] {
  return fs
    .readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file) && !file.startsWith('generated'))
    .flatMap((file) => [
      ...fs.readFileSync(new URL(file, SOURCES), 'utf8').matchAll(/\.(GET|POST|PUT|PATCH|DELETE)\(\s*'([^']+)'/g),
    ])
    .map(([, method = '', path = '']) => [method.toLowerCase(), path]);
}

function codesOf([method, path]: [string, string]): string[] {
  const operations = openapi.paths as Record<string, Operations>;
  const components = openapi.components.responses as Record<string, Response>;
  return Object.entries(operations[path]?.[method]?.responses ?? {})
    .filter(([status]) => Number(status) >= 400)
    .map(([, response]) => (response.$ref ? components[response.$ref.replace(/.*\//, '')] : response))
    .flatMap((response) => Object.keys(response?.content?.['application/json']?.examples ?? {}));
}
