// `npm run lint`: formatting and style (biome), then the import rules of the house and cycles.
import path from 'node:path';
import { ROOT, runTool, say, setup } from './setup.mjs';

await setup();
const bin = (name) => path.join(ROOT, 'node_modules', '.bin', name);
say('style and formatting');
const style = await runTool(bin('biome'), ['check', '--error-on-warnings', '.']);
say('import rules and cycles');
const imports = await runTool(process.execPath, [path.join(ROOT, 'scripts', 'import-rules.mjs')]);
process.exit(style || imports);
