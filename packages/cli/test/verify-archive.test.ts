import { createHash } from 'node:crypto';
import { openXmlStore, readArchiveSettings } from '@ecf/archive';
import { createBucket, type S3Server, s3 } from '@ecf/test-servers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Finding, verifyArchive } from '../src/archive/verify.js';
import type { GatewayAdmin } from '../src/gateway-admin.js';

const server: S3Server | null = await s3();
const bucket = `ecf-verify-${process.pid}`;
const PAGE = 10;
const MANY = 42;

const nameOf = (n: number) => `TesteCF/ecf/131000001/issued/2026/03/${n}.xml`;
const bytesOf = (n: number) => Buffer.from(`<ECF>${n}</ECF>`);
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

afterAll(() => server?.stop());

(server === null ? describe.skip : describe)('an archive in a bucket is verified', () => {
  const { endpoint, accessKey, secretKey, region } = server as S3Server;
  const settings = { S3_ENDPOINT: endpoint, S3_ACCESS_KEY: accessKey, S3_SECRET_KEY: secretKey, S3_REGION: region };
  const store = openXmlStore(readArchiveSettings({ ...settings, S3_BUCKET: bucket }));
  let rows: { path: string; sha256: string; pending: boolean }[] = [];
  let calls = 0;

  /** A gateway whose emission has the rows; the other services have none. */
  const admin: Pick<GatewayAdmin, 'call'> = {
    async call(_method, path) {
      calls += 1;
      const url = new URL(path, 'http://gateway');
      if (!url.pathname.endsWith('/emission')) return { files: [], next: null };
      const from = Number(url.searchParams.get('after')?.split(':')[1] ?? 0);
      const next = from + PAGE < rows.length ? `attempt:${from + PAGE}` : null;
      return { files: rows.slice(from, from + PAGE), next };
    },
  };

  async function verified(newest = new Date(Date.now() + 60_000)) {
    const findings: Finding[] = [];
    const count = await verifyArchive(admin, store, newest, async (finding) => void findings.push(finding));
    return { count, findings };
  }

  beforeAll(async () => {
    await createBucket(server as S3Server, bucket);
    await Promise.all(Array.from({ length: MANY }, (_, n) => store.put(nameOf(n), bytesOf(n))));
    rows = Array.from({ length: MANY }, (_, n) => ({ path: nameOf(n), sha256: sha256(bytesOf(n)), pending: false }));
  });

  it('page by page, and all is well', async () => {
    calls = 0;
    const { count, findings } = await verified();
    expect(findings).toEqual([]);
    expect(count).toEqual({ documents: MANY, missing: 0, altered: 0, unknown: 0, pending: 0 });
    expect(calls).toBe(Math.ceil(MANY / PAGE) + 2);
  });

  it('reports missing, altered and unknown documents; recent ones are not unknown', async () => {
    const whole = rows;
    rows = [...whole.slice(0, MANY - 1), { path: nameOf(5_000), sha256: sha256(bytesOf(1)), pending: false }];
    rows[3] = { path: nameOf(3), sha256: sha256(bytesOf(4)), pending: false };
    const found = await verified();
    rows = [...rows];
    const recent = await verified(new Date(0));
    rows = whole;
    expect(found.findings.map(({ problem, path }) => [problem, path]).sort()).toEqual([
      ['altered', nameOf(3)],
      ['missing', nameOf(5_000)],
      ['unknown', nameOf(MANY - 1)],
    ]);
    expect(recent.count).toMatchObject({ missing: 1, altered: 1, unknown: 0 });
  });

  it('a document that waits in a database is pending; one that the archive has with other bytes is altered', async () => {
    const whole = rows;
    rows = [...whole, { path: nameOf(6_000), sha256: sha256(bytesOf(1)), pending: true }];
    rows[2] = { path: nameOf(2), sha256: sha256(bytesOf(2)), pending: true };
    rows[3] = { path: nameOf(3), sha256: sha256(bytesOf(4)), pending: true };
    const { count, findings } = await verified();
    rows = whole;
    expect(count).toEqual({ documents: MANY + 1, missing: 0, altered: 1, unknown: 0, pending: 1 });
    expect(findings).toMatchObject([{ problem: 'altered', path: nameOf(3) }]);
  });
});
