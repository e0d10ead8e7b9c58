import { runService } from '@ecf/service-kit';
import { type Standalone, startStandalone } from './standalone.js';

let running: Standalone | null = null;

await runService('standalone', () => ({
  async start() {
    running = await startStandalone(process.env, (text) => process.stdout.write(`${text}\n`));
  },
  async stop() {
    await running?.stop();
  },
}));
