import { execFile, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { startDeploymentProcess } from '@ecf/deployment/process';
import { once } from '@ecf/test-servers';
import { until } from '../until.js';

/** Where a whole run starts many deployments: the process with which it ends. */
const RUN = process.env.ECF_TEST_PREPARES;
const WATCH = 'while kill -0 "$1" 2>/dev/null; do sleep 1; done; rm -rf "$2"';

/**
 * Fills the empty data folder of a standalone deployment with what a first start leaves there: cluster, migrated databases,
 * keys and certificates, first invoice. Making that takes longer than many a scenario, so a run of many files makes it once;
 * elsewhere nothing is done, and the deployment makes its own.
 */
export async function fillDataFolder(dataDir: string): Promise<void> {
  if (RUN === undefined || process.platform === 'win32' || fs.readdirSync(dataDir).length > 0) return;
  const home = path.join(os.tmpdir(), `ecf-test-prepared-${RUN}`);
  const prepared = await once(path.join(home, 'data'), async (folder) => {
    spawn('sh', ['-c', WATCH, 'sh', RUN, home], { detached: true, stdio: 'ignore' }).unref();
    fs.mkdirSync(folder);
    // The database server runs as another user where the tests run as root.
    for (const place of [home, folder]) fs.chmodSync(place, 0o755);
    await firstStart(folder);
  });
  // Owners are kept, of links nothing but the link; where the file system can, blocks are shared.
  const sharing = process.platform === 'linux' ? ['--reflink=auto'] : [];
  await promisify(execFile)('cp', ['-a', ...sharing, `${prepared}/.`, dataDir]);
}

async function firstStart(folder: string): Promise<void> {
  const running = await startDeploymentProcess('standalone', folder, { STATUS_WAIT_MS: '15000', PROCESSING_MS: '20' });
  const { base_url, api_key, issuer_rnc } = running.demo;
  const headers = { 'x-api-key': api_key, 'rnc-issuing': issuer_rnc };
  try {
    // Whatever the first invoice sets going has come to its end, so that no copy goes on with it.
    await until(
      async () => (await fetch(`${base_url}/invoices/E310000000001`, { headers })).json(),
      (invoice) => (invoice as { delivery_status?: string }).delivery_status === 'delivered',
    );
  } finally {
    await running.end('SIGTERM');
  }
  if (running.child.exitCode !== 0) throw new Error(`the first start did not end well:\n${running.output()}`);
}
