// `npm run docs`: builds the site of the documentation, which the gateway serves at /docs/guide/. Arguments are those of site/build.mjs.
import path from 'node:path';
import { ROOT, runTool, say, setup } from './setup.mjs';

await setup();
say('building the site of the documentation');
process.exit(await runTool(process.execPath, [path.join(ROOT, 'site', 'build.mjs'), ...process.argv.slice(2)]));
