// `npm run generate`: writes every generated file of the repository. With --check, fails when one of them is stale.
import path from 'node:path';
import { fail, ROOT, runTool, say, setup } from './setup.mjs';

const GENERATORS = ['configuration-docs', 'document-docs', 'event-docs', 'openapi'];

await setup();
const check = process.argv.includes('--check');
for (const name of GENERATORS) {
  say(`${check ? 'checking' : 'writing'}: ${name}`);
  const program = path.join(ROOT, 'scripts', 'generate', `${name}.mjs`);
  const code = await runTool(process.execPath, [program, ...(check ? ['--check'] : [])]);
  if (code !== 0)
    fail(`${name} ${check ? 'found a stale file' : 'failed'}.`, check ? 'Run `npm run generate`.' : undefined);
}
