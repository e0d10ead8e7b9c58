// `npm start` and `npm run distributed`: sets the checkout up and runs that deployment in the foreground.

import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT, setup } from './setup.mjs';

// A killed npm does not end its children, so they watch for its end.
if (['start', 'distributed'].includes(process.env.npm_lifecycle_event)) {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid !== parent) process.kill(process.pid, 'SIGTERM');
  }, 250);
  watch.unref();
}

await setup();
const load = (file) => import(pathToFileURL(path.join(ROOT, file)).href);
if (process.argv[2] === 'distributed') await load('deploy/distributed/dist/main.js');
else {
  // Instrumentation must be in place before the modules it instruments are loaded.
  await load('packages/service/dist/telemetry.js');
  await load('deploy/standalone/dist/main.js');
}
