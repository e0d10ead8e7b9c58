import { runService } from '@ecf/service';
import { createDistributed } from './distributed.js';

await runService('distributed', () =>
  createDistributed(process.env, (text) => {
    process.stdout.write(`${text}\n`);
  }),
);
