import { runService } from '@ecf/service';
import { createStandalone } from './standalone.js';

await runService('standalone', () =>
  createStandalone(process.env, (text) => {
    process.stdout.write(`${text}\n`);
  }),
);
