import { readServiceKeys } from '@ecf/service-kit/security';
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
