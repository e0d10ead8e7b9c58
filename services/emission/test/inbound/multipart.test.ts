import { describe, expect, it } from '@jest/globals';
import { MultipartRefused, parseMultipart } from '../../src/inbound/multipart.js';

const TYPE = 'multipart/form-data; boundary=XyZ';

function body(...parts: string[]): Buffer {
  return Buffer.from(`${parts.map((part) => `--XyZ\r\n${part}\r\n`).join('')}--XyZ--\r\n`, 'latin1');
}

function refusal(bytes: Buffer, type = TYPE, limits?: { maxParts: number }): string {
  try {
    parseMultipart(bytes, type, limits);
    return 'accepted';
  } catch (error) {
    if (error instanceof MultipartRefused) return error.code;
    throw error;
  }
}

describe('parseMultipart', () => {
  it('reads form fields and file parts with their types', () => {
    const parts = parseMultipart(
      body(
        'Content-Disposition: form-data; name="data"\r\n\r\n{"a":1}',
        'Content-Disposition: form-data; name="certificate"; filename="a \\"b\\".p12"\r\nContent-Type: application/x-pkcs12\r\n\r\n\x00\x01\r\n\x02',
        'content-disposition: FORM-DATA; NAME=password\r\ncontent-type: text/plain; charset=UTF-8\r\n\r\ns3cret',
      ),
      TYPE,
    );
    expect(parts.map(({ name, filename, mediaType, charset }) => ({ name, filename, mediaType, charset }))).toEqual([
      { name: 'data', filename: null, mediaType: null, charset: null },
      { name: 'certificate', filename: 'a "b".p12', mediaType: 'application/x-pkcs12', charset: null },
      { name: 'password', filename: null, mediaType: 'text/plain', charset: 'utf-8' },
    ]);
    expect(parts[0]?.content.toString()).toBe('{"a":1}');
    expect([...(parts[1]?.content ?? [])]).toEqual([0, 1, 13, 10, 2]);
    expect(parts[2]?.content.toString()).toBe('s3cret');
  });

  it('hands out the bytes of a form field unchanged, UTF-8 or not', () => {
    const [part] = parseMultipart(body('Content-Disposition: form-data; name="data"\r\n\r\n\xff\xfe\xf1'), TYPE);
    expect([...(part?.content ?? [])]).toEqual([0xff, 0xfe, 0xf1]);
  });

  it('keeps content that merely looks like a boundary', () => {
    const content = 'a\r\n--XyZ1\r\nb --XyZ\r\n -- XyZ';
    const [part] = parseMultipart(body(`Content-Disposition: form-data; name="data"\r\n\r\n${content}`), TYPE);
    expect(part?.content.toString()).toBe(content);
  });

  it('takes a quoted boundary, a preamble, an epilogue, empty content and bare line feeds', () => {
    const quoted = 'multipart/form-data; charset=utf-8; boundary="XyZ"';
    const bytes = Buffer.from(
      'preamble\n--XyZ  \nContent-Disposition: form-data; name="data"\n\n\n--XyZ\nContent-Disposition: form-data; name="b"\n\nB\n--XyZ--epilogue',
    );
    const parts = parseMultipart(bytes, quoted);
    expect(parts.map((part) => [part.name, part.content.toString()])).toEqual([
      ['data', ''],
      ['b', 'B'],
    ]);
  });

  it('is empty when the body closes at once', () => {
    expect(parseMultipart(Buffer.from('--XyZ--\r\n'), TYPE)).toEqual([]);
  });

  it.each([
    ['another media type', Buffer.from('{}'), 'application/json', 'not_multipart'],
    ['no boundary named', body('x'), 'multipart/form-data', 'boundary'],
    ['the boundary never appears', Buffer.from('{"a":1}'), TYPE, 'boundary'],
    [
      'cut in the content',
      Buffer.from('--XyZ\r\nContent-Disposition: form-data; name="data"\r\n\r\n{"a"'),
      TYPE,
      'truncated',
    ],
    ['cut after a delimiter', Buffer.from('--XyZ'), TYPE, 'boundary'],
    ['a part without name', body('Content-Disposition: form-data\r\n\r\nx'), TYPE, 'header'],
    ['a part without headers', body('\r\nx'), TYPE, 'header'],
    ['a header without colon', body('Content-Disposition form-data\r\n\r\nx'), TYPE, 'header'],
    ['headers without end', body('Content-Disposition: form-data; name="data"'), TYPE, 'header'],
  ])('refuses: %s', (_what, bytes, type, code) => {
    expect(refusal(bytes, type)).toBe(code);
  });

  it('refuses more parts than allowed', () => {
    const many = body(...Array.from({ length: 5 }, (_, n) => `Content-Disposition: form-data; name="p${n}"\r\n\r\nx`));
    expect(refusal(many, TYPE, { maxParts: 4 })).toBe('too_many_parts');
    expect(refusal(many, TYPE, { maxParts: 5 })).toBe('accepted');
  });

  it('splits a large body in time proportional to its size', () => {
    const line = '--XyZ-\r\n'.repeat(200_000);
    const [part] = parseMultipart(body(`Content-Disposition: form-data; name="data"\r\n\r\n${line}`), TYPE);
    expect(part?.content.length).toBe(line.length);
  });
});
