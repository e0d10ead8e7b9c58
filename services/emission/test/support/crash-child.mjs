// An instance of emission in its own process. It holds documents at the steps that the parent names; at the last step the
// process kills itself like kill -9.

import { readFileSync } from 'node:fs';
import { createEmission, emissionConfig } from '@ecf/emission';
import { serve } from '@ecf/http';
import { trustCallerHeader } from '@ecf/test-support/services';

const account = JSON.parse(readFileSync(process.env.ACCOUNT_FILE, 'utf8'));
let awaited = null;
process.on('message', (message) => {
  awaited = message;
  process.send({ waits: message.step });
});
const emission = await createEmission(emissionConfig(process.env), {
  accounts: { fetch: async () => account },
  checkpoint(step) {
    if (step !== awaited?.step) return;
    if (awaited.last) process.kill(process.pid, 'SIGKILL');
    else process.send({ reached: step });
    awaited = null;
    return new Promise(() => undefined);
  },
});
await emission.start();
const server = await serve(trustCallerHeader(emission.app), { host: '127.0.0.1', port: 0 });
process.send({ url: server.url });
process.on('disconnect', () => process.exit(0));
