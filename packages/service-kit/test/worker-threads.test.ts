import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { compiledWorker, startWorkerThreads } from '@ecf/service-kit/worker-threads';
import { describe, expect, it } from '@jest/globals';

describe('worker threads', () => {
  // require() of an ES module in a thread that ends meanwhile aborts the process.
  it('never read an ES module by require()', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'ecf-workers-'));
    const file = path.join(folder, 'worker.mjs');
    await writeFile(file, 'export default () => process.features.require_module ?? false;');
    const pool = startWorkerThreads({ worker: pathToFileURL(file), maxThreads: 1, idleTimeout: 1_000 });
    expect(await pool.run(null)).toBe(false);
    await pool.destroy();
    await rm(folder, { recursive: true });
  });

  it('the compiled worker is found from source and from compiled code', () => {
    const at = (url: string) => compiledWorker({ url } as ImportMeta, 'worker').href;
    expect(at('file:///src/app/services/emission/src/outbound/deep/pool.ts')).toBe(
      'file:///src/app/services/emission/dist/outbound/deep/worker.js',
    );
    expect(at('file:///src/app/services/emission/dist/outbound/pool.js')).toBe(
      'file:///src/app/services/emission/dist/outbound/worker.js',
    );
  });
});
