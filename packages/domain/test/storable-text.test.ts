import { expect, it } from '@jest/globals';
import { isStorableText, storableText } from '../src/text/storable-text.js';

const RECEIPT = '\u{1F9FE}';

it.each([
  ['plain', 'plain', undefined],
  [`a${RECEIPT}`, `a${RECEIPT}`, undefined],
  [`a${RECEIPT}b`, `a${RECEIPT}`, 3],
  [`a${RECEIPT}b`, 'a', 2],
  [`a${RECEIPT}b`, '', 0],
  ['a\ud83eb', 'a\ufffdb', undefined],
  ['\udd0e', '\ufffd', undefined],
  ['a\0b', 'a\ufffdb', undefined],
])('%j is stored as %j (at most %s)', (text, stored, most) => {
  expect(storableText(text, most)).toBe(stored);
  expect(isStorableText(text)).toBe(storableText(text) === text);
});
