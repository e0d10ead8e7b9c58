import { readServiceKeys } from '@ecf/http/identity';
import { createMasterKeys, readSealingKeys } from '@ecf/kit';
import { expect, it } from '@jest/globals';
import { ecf } from './ecf.js';

it('ecf keys services writes keys with which each service starts', async () => {
  const { code, stdout } = await ecf(['keys', 'services']);
  expect(code).toBe(0);
  const env = Object.fromEntries(
    stdout
      .trim()
      .split('\n')
      .map((line) => line.split(/=(.*)/s)),
  );
  const own = { ...env, SERVICE_PRIVATE_KEY: env.STATUS_POLLER_PRIVATE_KEY };
  expect(readServiceKeys('status-poller', own).publicKeys.size).toBe(6);
  expect(env.STATUS_POLLER_PASSWORD).toMatch(/^[0-9a-f]{48}$/);
  expect((await ecf(['keys'])).code).toBe(2);
});

it('ecf keys sealing makes of MASTER_KEY what each service needs, and always the same', async () => {
  const masterKey = Buffer.alloc(32, 5).toString('base64');
  const sealing = async (MASTER_KEY: string) => {
    process.env.MASTER_KEY = MASTER_KEY;
    return ecf(['keys', 'sealing']).finally(() => delete process.env.MASTER_KEY);
  };
  const { code, stdout } = await sealing(masterKey);
  expect(code).toBe(0);
  expect(stdout).not.toContain(masterKey);
  const lines = stdout.trim().split('\n');
  expect(lines.map((line) => line.split('=')[0])).toEqual(
    ['GATEWAY', 'EMISSION', 'RECEPTION', 'APPROVALS', 'QUERY'].map((name) => `${name}_SEALING_KEYS`),
  );
  const ofQuery = readSealingKeys('query', { SEALING_KEYS: lines[4]?.replace('QUERY_SEALING_KEYS=', '') });
  const webhook = { purpose: 'webhook secret', account: 'a', subject: 'w' } as const;
  const sealed = createMasterKeys([Buffer.alloc(32, 5)]).seal(Buffer.from('secret'), webhook);
  expect(ofQuery.unseal(sealed, webhook).toString()).toBe('secret');
  expect((await sealing(masterKey)).stdout).toBe(stdout);
  for (const wrong of ['', 'hunter2']) {
    const refused = await sealing(wrong);
    expect([refused.code, refused.stdout]).toEqual([2, '']);
    expect(refused.stderr).toContain('MASTER_KEY');
    expect(refused.stderr).not.toContain('hunter2');
  }
});
