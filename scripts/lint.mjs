// `npm run lint`: formatting and style (Biome), the rules of the project about imports and sizes, and the time of regular expressions.
// `-- --prune` removes exceptions from the rules that are no longer needed.
import path from 'node:path';
import { ROOT, runTool, say, setup } from './setup.mjs';

await setup();
const bin = (name) => path.join(ROOT, 'node_modules', '.bin', name);
say('style and formatting');
const style = await runTool(bin('biome'), ['check', '--error-on-warnings', '.']);
say('imports, folders, functions');
const rules = await runTool(process.execPath, [
  path.join(ROOT, 'scripts', 'lint', 'rules.mjs'),
  ...process.argv.slice(2),
]);
say('regular expressions');
const patterns = await runTool(process.execPath, [path.join(ROOT, 'scripts', 'lint', 'patterns.mjs')]);
process.exit(style || rules || patterns);
