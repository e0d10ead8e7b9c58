import type http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll } from '@jest/globals';

/** Before the tests of a file, starts a gateway and names it and a secret in the environment. Undoes both after them. */
export function useGateway(gateway: http.Server, secret: 'ECF_API_KEY' | 'ADMIN_TOKEN'): void {
  const before = { ECF_URL: process.env.ECF_URL, [secret]: process.env[secret] };
  beforeAll(async () => {
    await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve));
    process.env.ECF_URL = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`;
    process.env[secret] = 'of the test';
  });
  afterAll(async () => {
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    gateway.closeAllConnections();
    await new Promise((resolve) => gateway.close(resolve));
  });
}
