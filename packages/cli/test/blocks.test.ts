import { describe, expect, it } from '@jest/globals';
import { blocksOf, linesOf } from '../src/input/blocks.js';

async function* chunks(bytes: Uint8Array, sizes: () => number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; ) {
    const size = sizes();
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

/** Every line with its number; null for one that is too long. */
async function read(text: string, sizes: () => number, longest = 1000): Promise<[number, string | null][]> {
  const found: [number, string | null][] = [];
  for await (const { first, bytes } of blocksOf(chunks(Buffer.from(text), sizes), longest)) {
    if (bytes === null) found.push([first, null]);
    else for (const [i, line] of [...linesOf(bytes)].entries()) found.push([first + i, Buffer.from(line).toString()]);
  }
  return found;
}

function expected(text: string, longest: number): [number, string | null][] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line, i) => {
    const whole = i === lines.length - 1 && !text.endsWith('\n') ? line : `${line}\n`;
    return [i + 1, Buffer.byteLength(whole) > longest ? null : line.replace(/\r$/, '')];
  });
}

describe('lines of a stream', () => {
  it('come complete and numbered for any chunks of the stream', async () => {
    let state = 11;
    const random = (below: number): number => {
      state = (Math.imul(state, 1103515245) + 12345) >>> 0;
      return (state >>> 8) % below;
    };
    for (let round = 0; round < 400; round++) {
      const lines = Array.from({ length: random(12) }, () => 'ñ'.repeat(random(9)) + ['', '\r'][random(2)]);
      const text = lines.join('\n') + ['', '\n'][random(2)];
      expect(await read(text, () => 1 + random(7))).toEqual(expected(text, 1000));
      // Longer than any chunk, as in real use.
      expect(await read(text, () => 1 + random(7), 10)).toEqual(expected(text, 10));
    }
  });

  it('may be empty', async () => {
    expect(await read('', () => 1)).toEqual([]);
    expect(await read('\n', () => 1)).toEqual([[1, '']]);
    expect(await read('\n\r\n', () => 3)).toEqual([
      [1, ''],
      [2, ''],
    ]);
  });
});
