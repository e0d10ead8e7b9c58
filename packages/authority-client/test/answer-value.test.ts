import { describe, expect, it } from '@jest/globals';
import { readAnswerValue } from '../src/answers/answer-value.js';
import { readMessages } from '../src/answers/authority-messages.js';

describe('an answer read as a value', () => {
  it('keeps numbers as their digits', () => {
    expect(readAnswerValue('{"a":0.10,"b":[1,-2e5,true,null],"c":"1 \\"2\\" [3"}')).toEqual({
      a: '0.10',
      b: ['1', '-2e5', true, null],
      c: '1 "2" [3',
    });
  });

  it.each(['', '   ', '{', '{"a":1}x', '<a', '<!DOCTYPE a><a/>', '<html></html>', '[1,]', "{'a':1}"])(
    '%j is none',
    (text) => {
      expect(readAnswerValue(text)).toBeUndefined();
    },
  );

  it('is not read when it is absurdly deep', () => {
    expect(readAnswerValue('['.repeat(200_000) + ']'.repeat(200_000))).toBeUndefined();
    expect(readAnswerValue(`${'<a>'.repeat(5_000)}${'</a>'.repeat(5_000)}`)).toBeUndefined();
    expect(readAnswerValue('['.repeat(200_000))).toBeUndefined();
  });

  it('takes XML as nested fields, without prefixes and attributes', () => {
    const xml = `<?xml version="1.0"?><!-- x --><s:a xmlns:s="urn:s" xmlns:i="urn:i"><b q="&lt;/b&gt; > x">1 &amp; 2</b>
      <c i:nil="true"/><d/><e><f>1</f></e><e><f>2</f></e><?p x?><__proto__>3</__proto__></s:a>`;
    const value = readAnswerValue(xml) as Record<string, unknown>;
    expect(Object.entries(value)).toEqual([
      ['b', '1 & 2'],
      ['c', null],
      ['d', ''],
      ['e', [{ f: '1' }, { f: '2' }]],
      ['__proto__', '3'],
    ]);
  });
});

describe('messages', () => {
  it.each([
    [null, []],
    [undefined, []],
    [[], []],
    ['', []],
    ['texto', [{ codigo: '', valor: 'texto' }]],
    [
      ['a', '', 'b'],
      [
        { codigo: '', valor: 'a' },
        { codigo: '', valor: 'b' },
      ],
    ],
    [{ valor: '', codigo: '0' }, []],
    [{ valor: null, codigo: null }, []],
    [{ Valor: ' x ', Codigo: '004' }, [{ codigo: '004', valor: 'x' }]],
    [{ valor: '', codigo: '145' }, [{ codigo: '145', valor: '' }]],
    [
      { mensaje: [{ valor: 'a', codigo: '1' }, { valor: 'b' }] },
      [
        { codigo: '1', valor: 'a' },
        { codigo: '', valor: 'b' },
      ],
    ],
    [[{ valor: 'nul\0byte', codigo: '1' }], [{ codigo: '1', valor: 'nulbyte' }]],
  ])('%j', (value, expected) => {
    expect(readMessages(value as Parameters<typeof readMessages>[0])).toEqual(expected);
  });
});
