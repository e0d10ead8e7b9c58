import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, it } from '@jest/globals';
import { claimDatabase } from '../src/index.js';
import { startEmbeddedPostgres } from '../src/postgres/embedded-postgres.js';

it('the databases of a server are claimed by one standalone deployment, until it ends', async () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'ecf-claim-'));
  chmodSync(folder, 0o755);
  const server = await startEmbeddedPostgres({ dataDir: path.join(folder, 'postgres'), durable: false });
  try {
    const url = server.url('ecf_gateway');
    const release = await claimDatabase(url);
    await expect(claimDatabase(url, 50)).rejects.toThrow('Another standalone deployment uses the databases');
    await release();
    await (await claimDatabase(url, 50))();
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});
