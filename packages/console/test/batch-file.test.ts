import { createHash } from 'node:crypto';
import { afterEach, expect, it } from '@jest/globals';
import { type BatchFile, readBatchFile } from '../src/data/batch-file.js';

const LINES = ['{"ECF":{"a":"ñ"}}', '{"ECF":{"a":"2"}}'];

afterEach(() => {
  Reflect.deleteProperty(globalThis.crypto, 'subtle');
});

it('A file has the key of its documents, also on a page without TLS, where browsers have no hash functions.', async () => {
  const key = async () => ((await readBatchFile(new File([LINES.join('\n')], 'sales.ndjson'))) as BatchFile).key;
  const expected = `console-${createHash('sha256').update(LINES.join('\n')).digest('hex')}`;
  expect(await key()).toBe(expected);
  Object.defineProperty(globalThis.crypto, 'subtle', { value: undefined, configurable: true });
  expect(await key()).toBe(expected);
});
