import { execFile, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { once } from '@ecf/deployment/servers';
import { startDeploymentProcess } from '@ecf/test-servers/deployment';
import { until } from '../until.js';

/** Process id of the test run that shares a prepared folder; the folder is removed when the run ends. */
const RUN = process.env.ECF_TEST_PREPARES;
const WATCH = 'while kill -0 "$1" 2>/dev/null; do sleep 1; done; rm -rf "$2"';

/**
 * Fills the empty data folder of a standalone deployment with the results of a first start: cluster, migrated databases, keys and
 * certificates, first invoice. A run of many files prepares them once, which saves time. Otherwise this does nothing, and the
 * deployment creates them itself.
 */
export async function fillDataFolder(dataDir: string): Promise<void> {
  if (RUN === undefined || process.platform === 'win32' || fs.readdirSync(dataDir).length > 0) return;
  const home = path.join(os.tmpdir(), `ecf-test-prepared-${RUN}`);
  const prepared = await once(path.join(home, 'data'), async (folder) => {
    spawn('sh', ['-c', WATCH, 'sh', RUN, home], { detached: true, stdio: 'ignore' }).unref();
    fs.mkdirSync(folder);
    // If the tests run as root, the database server runs as another user.
    for (const place of [home, folder]) fs.chmodSync(place, 0o755);
    await firstStart(folder);
  });
  // `-a` keeps owners and symbolic links; `--reflink` shares blocks if the file system can.
  const sharing = process.platform === 'linux' ? ['--reflink=auto'] : [];
  await promisify(execFile)('cp', ['-a', ...sharing, `${prepared}/.`, dataDir]);
}

async function firstStart(folder: string): Promise<void> {
  const running = await startDeploymentProcess('standalone', folder, { STATUS_WAIT_MS: '15000', PROCESSING_MS: '20' });
  const { base_url, api_key, issuer_rnc } = running.demo;
  const headers = { 'x-api-key': api_key, 'rnc-issuing': issuer_rnc };
  try {
    // The background work of the first invoice has ended, so that no copy continues it.
    await until(
      async () => (await fetch(`${base_url}/invoices/E310000000001`, { headers })).json(),
      (invoice) => (invoice as { delivery_status?: string }).delivery_status === 'delivered',
    );
  } finally {
    await running.end('SIGTERM');
  }
  if (running.child.exitCode !== 0) throw new Error(`the first start did not end well:\n${running.output()}`);
}
