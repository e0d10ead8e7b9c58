import { describe, expect, it } from '@jest/globals';
import { JsonRefused, parseJson } from '../src/index.js';

function refusal(text: string | Uint8Array): Pick<JsonRefused, 'code' | 'line' | 'column'> | null {
  try {
    parseJson(text);
  } catch (error) {
    if (error instanceof JsonRefused) return { code: error.code, line: error.line, column: error.column };
    throw error;
  }
  return null;
}

describe('parseJson', () => {
  it('reads the entries of a list if the first has other keys', () => {
    const entries = [
      { A: 'x', B: 'y' },
      { A: 'x', B: '' },
      { A: 'é', Bc: 'y' },
      { B: 'y', A: 'x' },
      { A: 'x' },
      {},
      'x',
      null,
    ];
    for (const list of [entries, [...entries].reverse(), [[entries], entries]]) {
      for (const text of [
        JSON.stringify({ list }),
        JSON.stringify({ list }, null, 1),
        JSON.stringify({ e: '\\"', list }),
      ]) {
        expect(parseJson(text)).toEqual(JSON.parse(text));
      }
    }
    expect(refusal('[{"A":"x","B":"y"},{"A":"x","A":"y"}]')).toMatchObject({ code: 'duplicate_key', column: 20 });
    expect(refusal('[{"A":"x"},{"A"}]')).toMatchObject({ code: 'invalid_json', column: 16 });
    expect(refusal('[{"A":"x"},{"A":"')).toMatchObject({ code: 'invalid_json', column: 18 });
  });

  it('reads the same as JSON.parse', () => {
    const texts = [
      '{}',
      '[]',
      ' { "a" : [ "b" , null , true , false , { } ] } \r\n\t',
      '"\\u0041\\n\\"\\\\\\/\\b\\f\\r\\té€😀"',
      '{"constructor":"x","toString":"y","":"z"}',
      '"\\ud83d\\ude00"',
    ];
    for (const text of texts) expect(parseJson(text)).toEqual(JSON.parse(text));
  });

  it('reads long strings with escapes as JSON.parse does, and names the place of a fault in one', () => {
    const long = `${'é\\n\\"\\\\\\u0041\\ud800 '.repeat(100)}`;
    const text = `{"a":"x${long}","b":"${long}"}`;
    expect(parseJson(text)).toEqual(JSON.parse(text));
    expect(refusal(`["${long}\\x"]`)).toEqual({ code: 'invalid_json', line: 1, column: 3 + long.length });
    expect(refusal(`["${long}\n"]`)).toEqual({ code: 'invalid_json', line: 1, column: 3 + long.length });
    expect(refusal(`["${long}`)).toEqual({ code: 'invalid_json', line: 1, column: 3 + long.length });
    expect(refusal(`["${long}\\`)).toEqual({ code: 'invalid_json', line: 1, column: 3 + long.length });
  });

  it('refuses more values than its caller allows', () => {
    const text = (values: number) => `{"a":[${new Array(values).fill(1).join(',')}]}`;
    expect(parseJson(text(8), String, 10)).toEqual({ a: new Array(8).fill('1') });
    expect(() => parseJson(text(9), String, 10)).toThrow('more than 10 values');
  });

  it('keeps numbers as they are written', () => {
    const text = '[1180.00, 12345678901234567890, -0, 1e3, 0.10]';
    expect(parseJson(text)).toEqual(['1180.00', '12345678901234567890', '-0', '1e3', '0.10']);
  });

  it('accepts bytes with and without a byte order mark', () => {
    expect(parseJson(Buffer.from('{"a":"ñ"}'))).toEqual({ a: 'ñ' });
    expect(parseJson(Buffer.from('\ufeff{"a":"ñ"}'))).toEqual({ a: 'ñ' });
    expect(parseJson('\ufeff[]')).toEqual([]);
  });

  it.each<[string, string, number, number]>([
    ['', 'invalid_json', 1, 1],
    ['{"a": 1,}', 'invalid_json', 1, 9],
    ['{"a" 1}', 'invalid_json', 1, 6],
    ['{a: 1}', 'invalid_json', 1, 2],
    ["{'a': 1}", 'invalid_json', 1, 2],
    ['[1,]', 'invalid_json', 1, 4],
    ['[1 2]', 'invalid_json', 1, 4],
    ['{"a": "b"', 'invalid_json', 1, 10],
    ['"a\nb"', 'invalid_json', 1, 3],
    ['"a', 'invalid_json', 1, 3],
    ['"\\x"', 'invalid_json', 1, 2],
    ['"\\u12"', 'invalid_json', 1, 2],
    ['01', 'invalid_json', 1, 2],
    ['1.', 'invalid_json', 1, 2],
    ['.5', 'invalid_json', 1, 1],
    ['+1', 'invalid_json', 1, 1],
    ['-', 'invalid_json', 1, 1],
    ['NaN', 'invalid_json', 1, 1],
    ['nul', 'invalid_json', 1, 1],
    ['{} {}', 'invalid_json', 1, 4],
    ['/* a */ {}', 'invalid_json', 1, 1],
    ['{\n  "a": [\n    1\n    2]}', 'invalid_json', 4, 5],
    ['{"ECF": {"__proto__": {"a": 1}}}', 'forbidden_key', 1, 10],
    ['{"a": {"\\u005f_proto__": 1}}', 'forbidden_key', 1, 8],
    ['{"a": 1,\n "a": 2}', 'duplicate_key', 1, 1],
    ['[{"a": {"Item": {}, "Item": {}}}]', 'duplicate_key', 1, 8],
  ])('refuses %s', (text, code, line, column) => {
    expect(refusal(text)).toEqual({ code, line, column });
  });

  it('names the place of bytes that are not UTF-8, and never replaces them', () => {
    const bytes = Buffer.concat([Buffer.from('{\n"a": "ñ'), Buffer.from([0xe1]), Buffer.from('"}')]);
    expect(refusal(bytes)).toEqual({ code: 'not_utf8', line: 2, column: 8 });
    expect(refusal(Buffer.from([0xff, 0xfe, 0x7b, 0]))).toMatchObject({ code: 'not_utf8' });
  });

  it('is bounded in depth and length', () => {
    expect(refusal('['.repeat(65) + ']'.repeat(65))).toEqual({ code: 'too_deep', line: 1, column: 65 });
    expect(refusal('{"a":'.repeat(1_000_000))).toMatchObject({ code: 'too_deep' });
    expect(refusal(`["${'x'.repeat(20 * 1024 * 1024)}"]`)).toMatchObject({ code: 'too_large' });
    expect(parseJson('['.repeat(64) + ']'.repeat(64))).toBeDefined();
  });

  it('bounds values and names at any length', () => {
    const keys = (count: number, list = 1) =>
      `[${Array.from({ length: list }, (_, at) => `{${Array.from({ length: count }, (_, i) => `"k${at}x${i}":1`)}}`)}]`;
    expect(refusal(keys(600_000))).toMatchObject({ code: 'too_many_keys', line: 1 });
    expect(refusal(keys(60, 10_000))).toMatchObject({ code: 'too_many_keys' });
    expect(parseJson(keys(20_000))).toBeDefined();
    expect(refusal(`[${'{},'.repeat(1_000_000)}{}]`)).toMatchObject({ code: 'too_many_values' });
    expect(refusal(`[${`[${'1,'.repeat(99_999)}1],`.repeat(20)}1]`)).toMatchObject({ code: 'too_many_values' });
  });

  it('reads large documents', () => {
    const value = { list: Array.from({ length: 100_000 }, (_, i) => ({ a: `${i}`, b: ['x', null] })) };
    const text = JSON.stringify(value);
    expect(JSON.stringify(parseJson(text)) === text).toBe(true);
    expect(JSON.stringify(parseJson(JSON.stringify(value, null, 2))) === text).toBe(true);
  });
});
