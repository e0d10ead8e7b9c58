// Writes docs/openapi.json and docs/openapi-admin.json from the contracts; with --check, fails when one is stale.
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from '../setup.mjs';

const contracts = await import(pathToFileURL(path.join(ROOT, 'packages/contracts/dist/index.js')).href);
const FILES = {
  'openapi.json': contracts.openApiDocument,
  'openapi-admin.json': contracts.adminOpenApiDocument,
};

for (const [name, document] of Object.entries(FILES)) {
  const target = path.join(ROOT, 'docs', name);
  const text = `${JSON.stringify(document(), null, 1)}\n`;
  if (!process.argv.includes('--check')) fs.writeFileSync(target, text);
  else if (!fs.existsSync(target) || fs.readFileSync(target, 'utf8') !== text) {
    process.stderr.write(`docs/${name} is stale; run \`npm run generate\`\n`);
    process.exitCode = 1;
  }
}
