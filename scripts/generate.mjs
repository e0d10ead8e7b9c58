// `npm run generate`: writes every generated file of the repository. With --check, fails when one of them is stale. The signed
// examples are written with --goldens alone; otherwise they are compared.
import path from 'node:path';
import { fail, ROOT, runTool, say, setup } from './setup.mjs';

const GENERATORS = [
  'configuration-docs',
  'document-docs',
  'event-docs',
  'helm-chart',
  'openapi',
  'client-types',
  'goldens',
  'printed-pictures',
  'sizing-docs',
];

await setup();
const writesGoldens = process.argv.includes('--goldens');
for (const name of GENERATORS) {
  const check = process.argv.includes('--check') || (name === 'goldens' && !writesGoldens);
  say(`${check ? 'checking' : 'writing'}: ${name}`);
  const program = path.join(ROOT, 'scripts', 'generate', `${name}.mjs`);
  const code = await runTool(process.execPath, [program, ...(check ? ['--check'] : [])]);
  const command = `npm run generate${name === 'goldens' ? ' -- --goldens' : ''}`;
  if (code !== 0)
    fail(`${name} ${check ? 'found a stale file' : 'failed'}.`, check ? `Run \`${command}\`.` : undefined);
}
