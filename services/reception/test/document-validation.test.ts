import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createMetrics, createQueueWatch } from '@ecf/kit/telemetry';
import { openRevocations, type Revocations } from '@ecf/public-ingress';
import { testKey } from '@ecf/test-support';
import { readTrustedIssuers } from '@ecf/xml-signing';
import { createCertificateAuthority } from '@ecf/xml-signing/certificate-authority';
import { afterEach, expect, it } from '@jest/globals';
import { ReceptionError } from '../src/errors.js';
import { createValidation } from '../src/receive/validation.worker.js';
import { sampleBytes } from './support/documents.js';
import { authority, issue, NOW, provider } from './support/senders.js';

const MEGABYTE = 1024 * 1024;
const created: { close(): Promise<void> }[] = [];

function validation(
  options: { timeoutMs?: number; trusted?: boolean; revocations?: Revocations } = {},
  metrics = createMetrics(),
): ReturnType<typeof createValidation> {
  const pool = createValidation({
    trust: {
      issuers: options.trusted ? readTrustedIssuers(authority.pem) : null,
      revocations: options.revocations ?? null,
      signingTimeToleranceMs: 0,
    },
    maxBytes: 10 * MEGABYTE,
    threads: { ordinary: 1, large: 1 },
    timeoutMs: options.timeoutMs ?? 60_000,
    watchQueue: createQueueWatch(metrics, 'reception'),
  });
  created.push(pool);
  return pool;
}

afterEach(async () => {
  for (const pool of created.splice(0)) await pool.close();
});

/** The document with blanks between elements, so that it is large. Its signature holds without them. */
function large(bytes: Buffer): Buffer {
  return Buffer.from(bytes.toString('utf8').replace('<DetallesItems>', `${' '.repeat(600_000)}<DetallesItems>`));
}

async function kindOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    if (error instanceof ReceptionError) return error.kind;
    throw error;
  }
  return 'valid';
}

it('an ordinary and a large document get the same result', async () => {
  const bytes = await sampleBytes();
  const pool = validation();
  const [small, big] = [await pool.document(bytes, NOW), await pool.document(large(bytes), NOW)];
  expect({ ...big, canonical: null }).toEqual({ ...small, canonical: null });
  expect(big).toMatchObject({ motive: null, canonical: 'whitespace-dropped' });
});

it('a large document is refused and trusted like an ordinary one', async () => {
  const pool = validation({ trusted: true });
  const foreign = await sampleBytes({
    certificate: issue({
      commonName: 'Foreign',
      holderId: '00900000009',
      by: createCertificateAuthority({ key: testKey(3) }),
    }).certificate,
  });
  for (const bytes of [foreign, large(foreign)]) {
    expect(await pool.document(bytes, NOW)).toMatchObject({ motive: 2, particulars: expect.stringContaining('trust') });
  }
  expect(await kindOf(pool.document(Buffer.alloc(MEGABYTE, 'x'), NOW))).toBe('xml.not_well_formed');
});

it('a worker that starts while the file of revoked certificates is malformed applies the last good list', async () => {
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'revoked-')), 'list');
  writeFileSync(file, `${'0'.repeat(64)}\n`);
  let elapsed = 0;
  const revocations = openRevocations(file, { elapsed: () => elapsed });
  const pool = validation({ revocations });
  const change = (content: string) => {
    writeFileSync(file, content);
    elapsed += 6_000;
    revocations.current();
  };
  change(`${provider.certificate.fingerprint}\n# stolen\n`);
  change('not a list');
  expect(revocations.problem()).toMatch(/not a list/);
  const revoked = { motive: 2, particulars: expect.stringContaining('revoked') };
  expect(await pool.document(await sampleBytes(), NOW)).toMatchObject(revoked);
});

it('many simultaneous documents share the worker, and each gets its own result', async () => {
  const pool = validation();
  const numbers = Array.from({ length: 8 }, (_, i) => `E31000000000${i}`);
  const results = await Promise.all(numbers.map(async (encf) => pool.document(await sampleBytes({ encf }), NOW)));
  expect(results.map(({ parties }) => parties.encf)).toEqual(numbers);
});

it('a document that takes too long is unavailable, and the next one is validated', async () => {
  // The limit is far below the time that this document needs.
  const pool = validation({ timeoutMs: 100 });
  const costly = Buffer.from(`<ECF>${'<a/>'.repeat(900_000)}</ECF>`);
  await expect(pool.document(costly, NOW)).rejects.toMatchObject({ code: 'unavailable', kind: 'validation.timeout' });
  // A worker takes longer than the limit to start.
  let kind = 'validation.timeout';
  while (kind === 'validation.timeout') kind = await kindOf(pool.document(Buffer.alloc(600_000, 'x'), NOW));
  expect(kind).toBe('xml.not_well_formed');
});

it('ordinary documents do not wait for a large one', async () => {
  const pool = validation();
  await pool.document(await sampleBytes(), NOW);
  let done = false;
  const costly = kindOf(pool.document(Buffer.from(`<ECF>${'<a/>'.repeat(900_000)}</ECF>`), NOW)).finally(() => {
    done = true;
  });
  await pool.document(await sampleBytes(), NOW);
  expect(done).toBe(false);
  expect(await costly).toBe('document.not_an_ecf');
});

it('documents beyond the length of the queue are refused temporarily, and metrics show the queue', async () => {
  const metrics = createMetrics();
  const pool = validation({}, metrics);
  const validated = Array.from({ length: 600 }, () => kindOf(pool.document(Buffer.alloc(1_000, 'x'), NOW)));
  const full = await metrics.render();
  expect(full).toContain('ecf_queue_limit{service="reception",queue="validation"} 512');
  expect(full).toMatch(/ecf_queue_depth\{service="reception",queue="validation"\} 5[01]\d/);
  const kinds = await Promise.all(validated);
  expect(await metrics.render()).toContain('ecf_queue_depth{service="reception",queue="validation"} 0');
  expect(kinds.filter((kind) => kind === 'validation.busy').length).toBeGreaterThan(50);
  expect(kinds.filter((kind) => kind === 'xml.not_well_formed').length).toBeGreaterThanOrEqual(512);
});

it('seeds are validated by the same workers', async () => {
  const pool = validation();
  expect(await kindOf(pool.seed(Buffer.alloc(100_000, 'x'), NOW))).toBe('seed.xml_too_large');
});

it('documents that wait when the pool closes, and later ones, are unavailable', async () => {
  const pool = validation();
  const kinds = [1, 2, 3].map(() => kindOf(pool.document(Buffer.alloc(200_000, 'x'), NOW)));
  await pool.close();
  expect(await Promise.all(kinds)).toEqual(Array(3).fill('validation.failed'));
  expect(await kindOf(pool.document(Buffer.alloc(200_000, 'x'), NOW))).toBe('validation.failed');
});
