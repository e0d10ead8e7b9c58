import { runService } from '@ecf/service-kit/service';
import { createStandalone } from './standalone.js';

await runService('standalone', () =>
  createStandalone(process.env, (text) => {
    process.stdout.write(`${text}\n`);
  }),
);
