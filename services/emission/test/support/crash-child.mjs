// An instance of emission in a process of its own, which kills itself (as kill -9 does) at the step CRASH_AT.
import { readFileSync } from 'node:fs';
import { createEmission, emissionConfig } from '@ecf/emission';
import { serve } from '@ecf/service-kit';

const account = JSON.parse(readFileSync(process.env.ACCOUNT_FILE, 'utf8'));
const emission = await createEmission(emissionConfig(process.env), {
  accounts: { fetch: async () => account },
  heartbeatMs: 200,
  checkpoint(step) {
    if (step === process.env.CRASH_AT) {
      process.kill(process.pid, 'SIGKILL');
      return new Promise(() => undefined);
    }
  },
});
await emission.start();
const server = await serve(emission.app, { host: '127.0.0.1', port: 0 });
process.send({ url: server.url });
process.on('disconnect', () => process.exit(0));
