import { readTrustedIssuers } from '@ecf/xml-signing';
import { createTestAuthority } from '@ecf/xml-signing/test-certificates';
import { afterEach, expect, it } from '@jest/globals';
import { ReceptionError } from '../src/core/errors.js';
import type { Judges } from '../src/core/ports.js';
import { createJudges } from '../src/outbound/judges.threads.js';
import { sampleBytes } from './support/documents.js';
import { authority, issue, NOW } from './support/senders.js';

const MEGABYTE = 1024 * 1024;
const made: { stop(): Promise<void> }[] = [];

function judges(options: { timeoutMs?: number; trusted?: boolean; threads?: number } = {}): Judges {
  const all = createJudges({
    trustedIssuers: options.trusted ? readTrustedIssuers(authority.pem) : null,
    maxBytes: 10 * MEGABYTE,
    threads: options.threads ?? 1,
    timeoutMs: options.timeoutMs ?? 20_000,
  });
  made.push(all);
  return all;
}

afterEach(async () => {
  for (const one of made.splice(0)) await one.stop();
});

/** A sound document of some size: blanks between elements are no part of what is signed for most senders. */
async function large(bytes: Buffer): Promise<Buffer> {
  return Buffer.from(bytes.toString('utf8').replace('<DetallesItems>', `${' '.repeat(300_000)}<DetallesItems>`));
}

async function kindOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    if (error instanceof ReceptionError) return error.kind;
    throw error;
  }
  return 'judged';
}

it('a large document is judged in a thread as a small one is here', async () => {
  const bytes = await sampleBytes();
  const all = judges();
  const [small, big] = [await all.judge(bytes, NOW), await all.judge(await large(bytes), NOW)];
  expect({ ...big, canonical: null }).toEqual({ ...small, canonical: null });
  expect(big).toMatchObject({ motive: null, canonical: 'whitespace-dropped' });
});

it('refusals and trust are the same in both', async () => {
  const all = judges({ trusted: true });
  const foreign = await sampleBytes({
    certificate: issue({ commonName: 'Foreign', holderId: '00900000009', by: createTestAuthority() }).certificate,
  });
  for (const bytes of [foreign, await large(foreign)]) {
    expect(await all.judge(bytes, NOW)).toMatchObject({ motive: 2, particulars: expect.stringContaining('trust') });
  }
  expect(await kindOf(all.judge(Buffer.alloc(MEGABYTE, 'x'), NOW))).toBe('xml.not_well_formed');
});

it('many at once share the thread, each gets its own answer', async () => {
  const all = judges();
  const numbers = Array.from({ length: 8 }, (_, i) => `E31000000000${i}`);
  const answers = await Promise.all(
    numbers.map(async (encf) => all.judge(await large(await sampleBytes({ encf })), NOW)),
  );
  expect(answers.map(({ parties }) => parties.encf)).toEqual(numbers);
});

it('a document that takes too long is put off, no fault of its own, and the next one is judged', async () => {
  const all = judges({ timeoutMs: 200 });
  const costly = Buffer.from(`<ECF>${'<a/>'.repeat(900_000)}</ECF>`);
  await expect(all.judge(costly, NOW)).rejects.toMatchObject({ code: 'unavailable', kind: 'judging.timeout' });
  expect(await kindOf(all.judge(Buffer.alloc(MEGABYTE, 'x'), NOW))).toBe('xml.not_well_formed');
});

it('while a large one is judged, small ones are', async () => {
  const all = judges();
  let done = false;
  const costly = kindOf(all.judge(Buffer.from(`<ECF>${'<a/>'.repeat(500_000)}</ECF>`), NOW)).then((kind) => {
    done = true;
    return kind;
  });
  await all.judge(await sampleBytes(), NOW);
  expect(done).toBe(false);
  expect(await costly).toBe('document.not_an_ecf');
});

it('more than can wait are sent away for a moment', async () => {
  const all = judges();
  const bytes = Buffer.alloc(200_000, 'x');
  const kinds = await Promise.all(Array.from({ length: 80 }, () => kindOf(all.judge(bytes, NOW))));
  expect(new Set(kinds)).toEqual(new Set(['xml.not_well_formed', 'judging.busy']));
});
