// `npm start`: sets the checkout up and runs the standalone deployment in the foreground.

import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT, setup } from './setup.mjs';

// npm that is killed takes nobody with it; whoever it started has to notice.
if (process.env.npm_lifecycle_event === 'start') {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid !== parent) process.kill(process.pid, 'SIGTERM');
  }, 250);
  watch.unref();
}

await setup();
const load = (file) => import(pathToFileURL(path.join(ROOT, file)).href);
// Instrumentation must be in place before the modules it instruments are loaded.
await load('packages/service-kit/dist/telemetry.js');
await load('deploy/standalone/dist/main.js');
