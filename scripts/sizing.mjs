// `npm run sizing -- --documents-per-hour 1000000 --peak 3`: what a deployment needs for a load (docs/sizing.md).
import { setup } from './setup.mjs';

await setup();
const { sizing } = await import('../bench/dist/sizing/command.js');
const { output, error, code } = sizing(process.argv.slice(2));
process.stdout.write(output);
process.stderr.write(error);
process.exitCode = code;
