// `npm run typecheck`: compiles the sources, and checks the console and the tests, which the compilation leaves out.
import path from 'node:path';
import { ROOT, runTool, say, setup } from './setup.mjs';

await setup();
const tsc = path.join(ROOT, 'node_modules', '.bin', 'tsc');
say('type-checking the console');
const console = await runTool(tsc, ['-p', 'packages/console']);
say('type-checking the tests');
process.exit((await runTool(tsc, ['-p', 'tsconfig.test.json'])) || console);
