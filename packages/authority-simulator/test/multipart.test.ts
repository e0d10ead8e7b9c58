import { describe, expect, it } from '@jest/globals';
import { readMultipart } from '../src/http/multipart.js';

function read(body: string, contentType = 'multipart/form-data; boundary=b') {
  return readMultipart(contentType, Buffer.from(body, 'utf8'));
}

describe('multipart bodies', () => {
  it('gives name, file name, type and exact bytes of each part', () => {
    const parts = read(
      '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\none\r\n' +
        '--b\r\nContent-Disposition: form-data; name="xml"; filename="x.xml"\r\nContent-Type: text/xml\r\n\r\n<a>\r\n</a>\n\r\n--b--\r\n',
    );
    expect(parts).toEqual([
      { name: 'a', filename: null, contentType: null, body: Buffer.from('one') },
      { name: 'xml', filename: 'x.xml', contentType: 'text/xml', body: Buffer.from('<a>\r\n</a>\n') },
    ]);
  });

  it.each([
    ['unquoted', 'form-data; name=xml; filename=a.xml', 'a.xml'],
    ['in another case', 'Form-Data; NAME="xml"; FileName="a.xml"', 'a.xml'],
    ['extended', 'form-data; name="xml"; filename="a.xml"; filename*=utf-8\'\'%C3%B1.xml', 'ñ.xml'],
    ['with an escaped quote', 'form-data; name="xml"; filename="a\\"b.xml"', 'a"b.xml'],
    ['empty', 'form-data; name="xml"; filename=""', ''],
  ])('reads a disposition that is %s', (_, disposition, filename) => {
    const parts = read(`--b\r\ncontent-disposition: ${disposition}\r\n\r\nx\r\n--b--`);
    expect(parts).toMatchObject([{ name: 'xml', filename }]);
  });

  it('accepts a quoted boundary, a preamble and an epilogue', () => {
    const body = 'preamble\r\n--a b\r\nContent-Disposition: form-data; name="xml"\r\n\r\nx\r\n--a b--\r\nepilogue';
    expect(read(body, 'Multipart/Form-Data; charset=utf-8; boundary="a b"')).toMatchObject([{ name: 'xml' }]);
  });

  it('does not end a part at something that only resembles the boundary', () => {
    const content = '--b\r\n -- --bb\n--b';
    const parts = read(
      `--q\r\nContent-Disposition: form-data; name="xml"\r\n\r\n${content}\r\n--q--`,
      'multipart/form-data; boundary=q',
    );
    expect(parts).toMatchObject([{ body: Buffer.from(content) }]);
  });

  it.each([
    ['not_multipart', 'application/xml', '<a></a>'],
    ['no_boundary', 'multipart/form-data', '--b--'],
    ['malformed', 'multipart/form-data; boundary=b', ''],
    [
      'malformed',
      'multipart/form-data; boundary=b',
      '--b\r\nContent-Disposition: form-data; name="xml"\r\n\r\nnever ends',
    ],
    ['malformed', 'multipart/form-data; boundary=b', '--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--'],
    ['malformed', 'multipart/form-data; boundary=b', '--b\r\nno headers end'],
  ])('refuses: %s', (refusal, contentType, body) => {
    expect(read(body, contentType)).toBe(refusal);
  });

  it('recognises a body without parts', () => {
    expect(read('--b--\r\n')).toEqual([]);
  });
});
