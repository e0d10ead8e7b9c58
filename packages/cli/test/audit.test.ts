import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { nextAuditEntry } from '@ecf/kit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ecf } from './ecf.js';

const folder = mkdtempSync(path.join(os.tmpdir(), 'ecf-audit-'));
let answer: { status: number; body: object } = { status: 200, body: {} };
const gateway = http.createServer((_req, res) => {
  res.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body));
});
const before = { ECF_URL: process.env.ECF_URL, ADMIN_TOKEN: process.env.ADMIN_TOKEN };
beforeAll(async () => {
  await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve));
  process.env.ECF_URL = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`;
  process.env.ADMIN_TOKEN = 'of the test';
});
afterAll(async () => {
  for (const [name, value] of Object.entries(before)) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
  await new Promise((resolve) => gateway.close(resolve));
  rmSync(folder, { recursive: true });
});

const entries: ReturnType<typeof nextAuditEntry>[] = [];
for (const action of ['account.create', 'api_key.create']) {
  const act = { at: '2026-06-23T17:45:47-04:00', actor: 'Ana', action, target: '/accounts/1', details: {} };
  entries.push(nextAuditEntry({ ...act, request_id: null }, entries.at(-1) ?? null));
}
const fileOf = (values: readonly object[]) => {
  const file = path.join(folder, `${values.length}.ndjson`);
  writeFileSync(file, values.map((value) => `${JSON.stringify(value)}\n`).join(''));
  return file;
};
const verify = (values: readonly object[]) => ecf(['audit', 'verify', fileOf(values), '--json']);

describe('ecf audit verify FILE', () => {
  it('compares the last entry with the gateway', async () => {
    answer = { status: 200, body: { entries: [entries[1]], next: null } };
    const { code, stdout } = await verify(entries);
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { valid: true, entries: 2, compared: 'gateway' }]);
  });

  it('refuses an empty file: it proves nothing', async () => {
    const { code, stdout } = await verify([]);
    expect([code, JSON.parse(stdout)]).toMatchObject([1, { valid: false, fault: 'the file has no entry' }]);
  });

  it('ends with 2 if the gateway refuses the token: that is not a gateway that cannot be reached', async () => {
    answer = { status: 401, body: { code: 'invalid_admin_token', message: 'The token is wrong.' } };
    const { code, stderr } = await verify(entries);
    expect([code, stderr]).toEqual([2, expect.stringContaining('401')]);
  });

  it('says that it compared nothing, if the gateway cannot be reached', async () => {
    const url = process.env.ECF_URL;
    process.env.ECF_URL = 'http://127.0.0.1:1';
    const { code, stdout } = await verify(entries);
    process.env.ECF_URL = url;
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { valid: true, compared: 'not_reached' }]);
  });
});
