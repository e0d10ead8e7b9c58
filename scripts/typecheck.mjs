// `npm run typecheck`: compiles the sources and checks the tests, which are not part of any build.
import path from 'node:path';
import { ROOT, runTool, say, setup } from './setup.mjs';

await setup();
say('type-checking the tests');
process.exit(await runTool(path.join(ROOT, 'node_modules', '.bin', 'tsc'), ['-p', 'tsconfig.test.json']));
