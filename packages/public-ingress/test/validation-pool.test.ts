import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { createValidationPool, isOverload } from '@ecf/public-ingress';
import { afterAll, describe, expect, it } from '@jest/globals';

const folder = mkdtempSync(path.join(tmpdir(), 'ecf-validation-'));
const worker = path.join(folder, 'worker.mjs');
writeFileSync(
  worker,
  `export default ({ bytes }) => {
    const what = Buffer.from(bytes).toString('utf8').trim();
    if (what === 'loop') for (;;);
    if (what === 'hoard') for (const kept = []; ; ) kept.push(new Array(100_000).fill(0.5));
    return what === 'refuse' ? { refused: { message: what, kind: what } } : { result: what };
  };`,
);
afterAll(() => rmSync(folder, { recursive: true }));

class Refused extends Error {}
class Unavailable extends Error {}

function validation(timeoutMs = 60_000) {
  const limits: Record<string, number | null> = {};
  const pool = createValidationPool({
    worker: pathToFileURL(worker),
    trust: { issuers: null, revocations: null, signingTimeToleranceMs: 0 },
    maxBytes: 1_000_000,
    threads: { ordinary: 1, large: 1 },
    timeoutMs,
    refuse: ({ kind }) => new Refused(kind),
    unavailable: (reason) => new Unavailable(isOverload(reason) ? 'overload' : reason.kind),
    watchQueue: ({ queue, limit }) => {
      limits[queue] = limit;
    },
  });
  const run = (what: string) => pool.run({ bytes: Buffer.from(what), now: new Date() }).catch((error: Error) => error);
  return { run, limits, close: () => pool.close() };
}

describe('the validation of documents in worker threads', () => {
  it('continues with the documents that wait when one takes too long', async () => {
    const { run, close } = validation(2_000);
    const answers = await Promise.all(['loop', 'first', 'refuse', 'second'].map(run));
    expect(answers).toEqual([new Unavailable('validation.timeout'), 'first', new Refused('refuse'), 'second']);
    await close();
  });

  it('refuses a document that takes too much memory, and validates the next one', async () => {
    const { run, close } = validation();
    expect(await Promise.all(['hoard', 'next'].map(run))).toEqual([new Refused('document.too_costly'), 'next']);
    await close();
  });

  it('keeps large documents from delaying ordinary ones', async () => {
    const { run, limits, close } = validation();
    const large = run(`loop${' '.repeat(600_000)}`);
    expect(await run('ordinary')).toBe('ordinary');
    expect(limits).toEqual({ validation: 512, large_validation: 512 });
    await close();
    expect(await large).toEqual(new Unavailable('validation.failed'));
    expect(await run('late')).toEqual(new Unavailable('validation.failed'));
  });
});
