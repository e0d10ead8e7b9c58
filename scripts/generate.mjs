// Writes every generated file of the repository; with --check, fails when one of them is stale.
import fs from 'node:fs';
import path from 'node:path';
import { fail, ROOT, runTool, say, setup } from './setup.mjs';

await setup();
const check = process.argv.includes('--check');
const generators = fs
  .readdirSync(path.join(ROOT, 'scripts'))
  .filter((name) => /^generate-.+\.mjs$/.test(name))
  .sort();
for (const name of generators) {
  say(`${check ? 'checking' : 'writing'}: ${name}`);
  const code = await runTool(process.execPath, [path.join(ROOT, 'scripts', name), ...(check ? ['--check'] : [])]);
  if (code !== 0)
    fail(`${name} ${check ? 'found a stale file' : 'failed'}.`, check ? 'Run `npm run generate`.' : undefined);
}
