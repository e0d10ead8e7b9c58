import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { connectWhenReady } from '@ecf/postgres';
import { expect, it } from '@jest/globals';
import { claimDatabase } from '../src/index.js';
import { startEmbeddedPostgres } from '../src/postgres/embedded-postgres.js';

it('the databases of a server are claimed by one standalone deployment until it ends, also after a lost connection', async () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'ecf-claim-'));
  chmodSync(folder, 0o755);
  const server = await startEmbeddedPostgres({ dataDir: path.join(folder, 'postgres'), durable: false });
  try {
    const url = server.url('ecf_gateway');
    const say = () => undefined;
    const refused = () =>
      expect(claimDatabase(url, say, 50)).rejects.toThrow('Another standalone deployment uses the databases');
    const release = await claimDatabase(url, say);
    await refused();

    const other = await connectWhenReady(url);
    const holder = async () =>
      (await other.query("SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted")).rows[0]?.pid;
    const before = await holder();
    await other.query('SELECT pg_terminate_backend($1)', [before]);
    while ([before, undefined].includes(await holder()));
    await refused();
    await other.end();

    await release();
    await (await claimDatabase(url, say, 50))();
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});
