// `npm run lint`: formatting and style (Biome), who imports whom (dependency-cruiser), the time of regular expressions,
// and the English of texts.
import path from 'node:path';
import { ROOT, runTool, say, setup } from './setup.mjs';

await setup();
const bin = (name) => path.join(ROOT, 'node_modules', '.bin', name);
say('style and formatting');
const style = await runTool(bin('biome'), ['check', '--error-on-warnings', '.']);
say('imports');
const imports = await runTool(bin('depcruise'), [
  ...['--config', '.dependency-cruiser.mjs', '--output-type', 'err-long'],
  ...['packages', 'services', 'deploy'],
]);
say('regular expressions');
const patterns = await runTool(process.execPath, [path.join(ROOT, 'scripts', 'lint', 'patterns.mjs')]);
say('English');
const english = await runTool(process.execPath, [path.join(ROOT, 'scripts', 'lint', 'english.mjs')]);
process.exit(style || imports || patterns || english);
