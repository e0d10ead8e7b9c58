// Writes docs/openapi.json and docs/openapi-admin.json from the contracts; with --check, fails when one is stale.
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from '../setup.mjs';
import { writeOrCompare } from './write-or-compare.mjs';

const contracts = await import(pathToFileURL(path.join(ROOT, 'packages/contracts/dist/index.js')).href);
const textOf = (document) => `${JSON.stringify(document, null, 1)}\n`;
writeOrCompare(
  new Map([
    ['docs/openapi.json', textOf(contracts.openApiDocument())],
    ['docs/openapi-admin.json', textOf(contracts.adminOpenApiDocument())],
  ]),
);
