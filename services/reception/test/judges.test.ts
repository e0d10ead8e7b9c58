import { testKey } from '@ecf/test-support';
import { readTrustedIssuers } from '@ecf/xml-signing';
import { createCertificateAuthority } from '@ecf/xml-signing/certificate-authority';
import { afterEach, expect, it } from '@jest/globals';
import { ReceptionError } from '../src/core/errors.js';
import { createJudges } from '../src/outbound/judges.threads.js';
import { sampleBytes } from './support/documents.js';
import { authority, issue, NOW } from './support/senders.js';

const MEGABYTE = 1024 * 1024;
const SENDER = '203.0.113.7';
const made: { stop(): Promise<void> }[] = [];

function judges(options: { timeoutMs?: number; trusted?: boolean } = {}): ReturnType<typeof createJudges> {
  const all = createJudges({
    trustedIssuers: options.trusted ? readTrustedIssuers(authority.pem) : null,
    maxBytes: 10 * MEGABYTE,
    threads: { medium: 1, large: 1 },
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
  const [small, big] = [await all.judge(bytes, NOW, SENDER), await all.judge(await large(bytes), NOW, SENDER)];
  expect({ ...big, canonical: null }).toEqual({ ...small, canonical: null });
  expect(big).toMatchObject({ motive: null, canonical: 'whitespace-dropped' });
});

it('refusals and trust are the same in both', async () => {
  const all = judges({ trusted: true });
  const foreign = await sampleBytes({
    certificate: issue({
      commonName: 'Foreign',
      holderId: '00900000009',
      by: createCertificateAuthority({ key: testKey(3) }),
    }).certificate,
  });
  for (const bytes of [foreign, await large(foreign)]) {
    expect(await all.judge(bytes, NOW, SENDER)).toMatchObject({
      motive: 2,
      particulars: expect.stringContaining('trust'),
    });
  }
  expect(await kindOf(all.judge(Buffer.alloc(MEGABYTE, 'x'), NOW, SENDER))).toBe('xml.not_well_formed');
});

it('many at once share the thread, each gets its own answer', async () => {
  const all = judges();
  const numbers = Array.from({ length: 8 }, (_, i) => `E31000000000${i}`);
  const answers = await Promise.all(
    numbers.map(async (encf) => all.judge(await large(await sampleBytes({ encf })), NOW, SENDER)),
  );
  expect(answers.map(({ parties }) => parties.encf)).toEqual(numbers);
});

it('a document that takes too long is put off, no fault of its own, and the next one is judged', async () => {
  // Several times the limit, on the fastest machine too.
  const all = judges({ timeoutMs: 100 });
  const costly = Buffer.from(`<ECF>${'<a/>'.repeat(900_000)}</ECF>`);
  await expect(all.judge(costly, NOW, SENDER)).rejects.toMatchObject({ code: 'unavailable', kind: 'judging.timeout' });
  expect(await kindOf(all.judge(Buffer.alloc(70_000, 'x'), NOW, SENDER))).toBe('xml.not_well_formed');
});

it('while a large one is judged, small ones are, and ordinary ones of some hundred kilobytes', async () => {
  const all = judges();
  let done = false;
  const costly = kindOf(all.judge(Buffer.from(`<ECF>${'<a/>'.repeat(500_000)}</ECF>`), NOW, SENDER)).then((kind) => {
    done = true;
    return kind;
  });
  await all.judge(await sampleBytes(), NOW, SENDER);
  await all.judge(await large(await sampleBytes()), NOW, SENDER);
  expect(done).toBe(false);
  expect(await costly).toBe('document.not_an_ecf');
});

it('who sends more than its share can wait is sent away for a moment, others are served in turn', async () => {
  const all = judges();
  const order: string[] = [];
  const send = async (sender: string, fill: string) => {
    const kind = await kindOf(all.judge(Buffer.alloc(200_000, fill), NOW, sender));
    order.push(sender);
    return kind;
  };
  const flood = Promise.all(Array.from({ length: 80 }, () => send('198.51.100.1', 'x')));
  const others = Promise.all(['203.0.113.7', '203.0.113.8'].map((sender) => send(sender, 'y')));
  expect(await others).toEqual(['xml.not_well_formed', 'xml.not_well_formed']);
  const kinds = await flood;
  expect(kinds.filter((kind) => kind === 'xml.not_well_formed')).toHaveLength(65);
  expect(kinds.filter((kind) => kind === 'judging.busy')).toHaveLength(15);
  // Of the flood those that were sent away, the one under way and the one whose turn it was came before.
  expect(order.indexOf('203.0.113.8')).toBeLessThan(15 + 4);
});

it('a smaller document waits for no more than the one under way, however many addresses send the largest', async () => {
  const all = judges();
  const order: string[] = [];
  const send = (sender: string, bytes: number) =>
    kindOf(all.judge(Buffer.alloc(bytes, 'x'), NOW, sender)).finally(() => order.push(sender));
  const largest = Array.from({ length: 12 }, (_, i) => send(`198.51.100.${i}`, 2 * MEGABYTE));
  const ordinary = [1, 2, 3].map(() => send(SENDER, (5 * MEGABYTE) / 8));
  await Promise.all([...largest, ...ordinary]);
  expect(order.slice(0, 4)).toEqual(['198.51.100.0', SENDER, SENDER, SENDER]);
});

it('a small document that is made to be costly is judged in a thread too', async () => {
  const all = judges();
  let done = false;
  const costly = Buffer.from(`<ECF>${'<a xmlns="x"/>'.repeat(9_000)}</ECF>`);
  const kind = kindOf(all.judge(costly, NOW, SENDER)).finally(() => {
    done = true;
  });
  // What is judged where it arrives is judged by the end of this turn.
  await new Promise((resolve) => setImmediate(resolve));
  expect(done).toBe(false);
  expect(await kind).toBe('document.not_an_ecf');
});

it('what waits when it stops is put off: no thread begins after that, nor for what comes later', async () => {
  const all = judges();
  const kinds = ['198.51.100.1', '198.51.100.2', SENDER].map((sender) =>
    kindOf(all.judge(Buffer.alloc(200_000, 'x'), NOW, sender)),
  );
  await all.stop();
  expect(await Promise.all(kinds)).toEqual(Array(3).fill('judging.failed'));
  expect(await kindOf(all.judge(Buffer.alloc(200_000, 'x'), NOW, SENDER))).toBe('judging.failed');
});
