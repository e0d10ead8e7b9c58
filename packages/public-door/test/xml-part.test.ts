import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { takeXmlPart, XmlPartError } from '../src/xml-part.js';

const XML = '<?xml version="1.0" encoding="utf-8"?>\n<ECF>ñ</ECF>';
const B = '----b0und4ry';

function take(body: string | Buffer, contentType?: string): string {
  return takeXmlPart(typeof body === 'string' ? Buffer.from(body, 'utf8') : body, contentType).toString('utf8');
}

function problem(body: string | Buffer, contentType?: string): string {
  try {
    take(body, contentType);
  } catch (error) {
    if (error instanceof XmlPartError) return error.problem;
    throw error;
  }
  return 'none';
}

/** A multipart body of parts as raw text: headers, empty line, content. */
function multipart(parts: readonly string[], boundary = B, newline = '\r\n'): string {
  return [...parts.map((part) => `--${boundary}${newline}${part}${newline}`), `--${boundary}--${newline}`].join('');
}

function part(disposition: string, others: readonly string[] = [], content = XML, newline = '\r\n'): string {
  return [`Content-Disposition: form-data; ${disposition}`, ...others, '', content].join(newline);
}

const inLines = (text: string) => text.replace(/.{20}/g, '$&\r\n');

/** Quoted-printable: what is not ASCII, and the equals sign, in hex. */
function quotedPrintable(text: string): string {
  const bytes = [...Buffer.from(text, 'utf8')];
  const hex = (byte: number) => `=${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  return bytes.map((byte) => (byte > 0x7e || byte === 0x3d ? hex(byte) : String.fromCharCode(byte))).join('');
}

const TYPE = `multipart/form-data; boundary=${B}`;

/** Parts, as raw text, in a body as standards have it. */
const PARTS: readonly (readonly [string, string])[] = [
  ['as standards have it', part('name="xml"; filename="131880738E310000000002.xml"', ['Content-Type: text/xml'])],
  [
    "as the authority's own tool writes an e-CF",
    part('name="xml"; filename="131880738E310000000002.xml"', ['Content-Type: multipart/form-data;']),
  ],
  [
    "as the authority's own tool writes an approval",
    part("name=xml; filename=aprobacionComercial.xml; filename*=utf-8''aprobacionComercial.xml"),
  ],
  ['without file name', part('name="xml"')],
  ['name after filename', part('filename="name=other.xml"; name="xml"')],
  ['name in apostrophes', part("name='xml'; filename='a.xml'")],
  ['name in capitals', part('NAME="XML"')],
  ['filename* alone', part("name=xml; filename*=UTF-8''a%20b.xml", ['Content-Type: application/octet-stream'])],
  ['headers in any case', part('name="xml"').replace('Content-Disposition', 'CONTENT-disposition')],
  ['a folded header', part('name="xml";\r\n filename="a.xml"')],
  ['a name that cannot be a file', part('name="xml"; filename="../../etc/passwd\u0001.xml"')],
  ['base64, said so', part('name="xml"', ['Content-Transfer-Encoding: base64'], Buffer.from(XML).toString('base64'))],
  [
    'base64 in lines',
    part('name="xml"', ['Content-Transfer-Encoding: BASE64'], inLines(Buffer.from(XML).toString('base64'))),
  ],
  [
    'base64 under another name',
    part('name="a"', ['Content-Transfer-Encoding: base64'], Buffer.from(XML).toString('base64')),
  ],
  ['called base64, sent as it is', part('name="xml"', ['Content-Transfer-Encoding: base64'])],
  ['quoted-printable', part('name="xml"', ['Content-Transfer-Encoding: quoted-printable'], quotedPrintable(XML))],
  [
    'quoted-printable in lower case and lines',
    part(
      'name="xml"',
      ['Content-Transfer-Encoding: Quoted-Printable'],
      quotedPrintable(XML)
        .toLowerCase()
        .replace('xml', '=\r\nxm= \t\r\nl')
        .replace('<ecf', '<ECF')
        .replace('</ecf', '</ECF')
        .replace('utf', 'ut=\nf'),
    ),
  ],
  ['called quoted-printable, sent as it is', part('name="xml"', ['Content-Transfer-Encoding: quoted-printable'])],
  ['called binary', part('name="xml"', ['Content-Transfer-Encoding: binary'])],
  ['another part name, one part', part('name="file"; filename="a.xml"')],
  ['no headers at all', `\r\n${XML}`],
  ['no headers, not even their empty line', XML],
];

/** Whole bodies and what their header says. */
const BODIES: readonly (readonly [string, string, string | undefined])[] = [
  ['boundary in quotes', multipart([part('name="xml"')], 'a b'), 'multipart/form-data; boundary="a b"'],
  [
    'boundary before other parameters',
    multipart([part('name="xml"')]),
    `multipart/form-data; boundary=${B}; charset=utf-8`,
  ],
  ['boundary with a comma', multipart([part('name="xml"')], 'a,b'), 'multipart/form-data; boundary=a,b; charset=utf-8'],
  [
    'boundary with a comma, behind a preamble',
    `hello\r\n${multipart([part('name="xml"')], 'a,b')}`,
    'multipart/form-data; boundary=a,b',
  ],
  ['boundary before words', `hello\r\n${multipart([part('name="xml"')])}`, `${TYPE} charset=utf-8`],
  ['type in capitals', multipart([part('name="xml"')]), `MULTIPART/FORM-DATA; BOUNDARY=${B}`],
  ['no boundary in the header', multipart([part('name="xml"')]), 'multipart/form-data'],
  ['another boundary in the header', multipart([part('name="xml"')]), 'multipart/form-data; boundary=other'],
  ['no content type', multipart([part('name="xml"')]), undefined],
  ['a lying content type', multipart([part('name="xml"')]), 'application/json'],
  ['multipart/mixed', multipart([part('name="xml"')]), `multipart/mixed; boundary=${B}`],
  ['LF only', multipart([part('name="xml"', [], XML, '\n')], B, '\n'), TYPE],
  ['a preamble and an epilogue', `hello\r\n${multipart([part('name="xml"')])}bye`, TYPE],
  ['the raw document', XML, 'text/xml'],
  ['the raw document without type', XML, undefined],
  ['the raw document with a multipart type', XML, TYPE],
  [
    'other fields beside it',
    multipart([part('name="note"', [], 'x'), part('name="xml"'), part('name="ok"', [], '1')]),
    TYPE,
  ],
  ['an empty part of the same name', multipart([part('name="xml"', [], ''), part('name="xml"')]), TYPE],
  ['a second XML under another name', multipart([part('name="copy"'), part('name="xml"')]), TYPE],
  ['a byte order mark before the first boundary', `\ufeff${multipart([part('name="xml"')])}`, TYPE],
  ['a byte order mark, and no boundary in the header', `\ufeff${multipart([part('name="xml"')])}`, undefined],
  ['no line end before the closing boundary', `--${B}\r\n${part('name="xml"')}--${B}--\r\n`, TYPE],
  ['no line end anywhere after the document', `--${B}\r\n${part('name="xml"')}--${B}--`, TYPE],
  ['the last boundary without its dashes', `--${B}\r\n${part('name="xml"')}\r\n--${B}\r\n`, TYPE],
  ['the last boundary without its dashes and line end', `--${B}\r\n${part('name="xml"')}\r\n--${B}`, TYPE],
  ['the last boundary with one dash', `--${B}\r\n${part('name="xml"')}\r\n--${B}-\r\n`, TYPE],
  ['no line end after the closing boundary', multipart([part('name="xml"')]).trimEnd(), TYPE],
];

describe('the document is taken out of bodies as senders write them', () => {
  it.each(PARTS)('%s', (_, raw) => {
    expect(take(multipart([raw]), TYPE)).toBe(XML);
  });

  it.each(BODIES)('%s', (_, body, type) => {
    expect(take(body, type)).toBe(XML);
  });

  it('each of these shapes is in the table for senders, and no other', () => {
    const page = readFileSync(new URL('../../../docs/reception.md', import.meta.url), 'utf8');
    const [, table = ''] = /\| Shape of a body that is taken \|\n\|---\|\n((?:\|.*\|\n)+)/.exec(page) ?? [];
    const shapes = table
      .trimEnd()
      .split('\n')
      .map((row) => row.slice(2, -2));
    expect(shapes).toEqual([...PARTS, ...BODIES].map(([name]) => name));
  });

  it('a raw document with byte order mark and blanks keeps every byte', () => {
    expect(take(`\ufeff \r\n${XML}`)).toBe(`\ufeff \r\n${XML}`);
  });

  it('content that looks like a delimiter in the middle of a line is content', () => {
    const content = `<ECF>a--${B}b</ECF>`;
    expect(take(multipart([part('name="xml"', [], content)]), TYPE)).toBe(content);
  });

  it('a delimiter right behind the line end of the one before ends an empty part', () => {
    expect(take(`--${B}\n--${B}\r\n${part('name="xml"')}\r\n--${B}--`, TYPE)).toBe(XML);
  });

  it('content keeps its own line ends', () => {
    const content = '<ECF>\r\n</ECF>\r\n';
    expect(take(multipart([part('name="xml"', [], content)]), TYPE)).toBe(content);
  });
});

describe('what holds no single document is refused by name', () => {
  const inPart = (disposition: string) => Buffer.from(multipart([part(disposition, [], '\x1f\x8b\x08\x00')]), 'latin1');
  const many = Array.from({ length: 5_000 }, () => part('name="a"', [], 'x'));

  it.each([
    ['nothing', '', TYPE, 'body_empty'],
    ['JSON', '{"xml":"<ECF/>"}', 'application/json', 'body_not_xml'],
    ['a form', 'xml=%3CECF%3E', 'application/x-www-form-urlencoded', 'body_not_xml'],
    ['a zip file', Buffer.from('504b0304aabb', 'hex'), 'application/zip', 'body_compressed'],
    ['gzip', Buffer.from('1f8b0800aabb', 'hex'), undefined, 'body_compressed'],
    ['gzip in the part', inPart('name="xml"; filename="a.xml"'), TYPE, 'body_compressed'],
    ['gzip in the part under another name', inPart('name="file"'), TYPE, 'body_compressed'],
    ['multipart without any boundary', 'xml', 'multipart/form-data', 'multipart_without_boundary'],
    ['cut off behind the first boundary', `--${B}\r\n`, TYPE, 'multipart_incomplete'],
    ['cut off in a second part', `--${B}\r\n${part('name="xml"')}\r\n--${B}\r\nContent-`, TYPE, 'multipart_incomplete'],
    [
      'something behind a closing boundary in a line',
      `--${B}\r\n${part('name="xml"')}--${B}--\r\n<ECF/>`,
      TYPE,
      'multipart_incomplete',
    ],
    [
      'two of them, the last boundary without its dashes',
      `--${B}\r\n${part('name="xml"')}\r\n--${B}\r\n${part('name="xml"')}\r\n--${B}\r\n`,
      TYPE,
      'xml_part_repeated',
    ],
    ['cut off', multipart([part('name="xml"')]).slice(0, -40), TYPE, 'multipart_incomplete'],
    ['cut off in the headers', `--${B}\r\nContent-Disposition: form-da`, TYPE, 'multipart_incomplete'],
    ['the closing boundary alone', `--${B}--\r\n`, TYPE, 'xml_part_missing'],
    ['a boundary and nothing else', `--${B}`, TYPE, 'multipart_malformed'],
    ['a part bomb', multipart(many), TYPE, 'multipart_too_many_parts'],
    ['a header bomb', multipart([`X: ${'y'.repeat(20_000)}\r\n\r\n${XML}`]), TYPE, 'multipart_headers_too_large'],
    ['no document', multipart([part('name="note"', [], 'x')]), TYPE, 'xml_part_missing'],
    ['an empty one', multipart([part('name="xml"', [], ' ')]), TYPE, 'body_empty'],
    ['two of them', multipart([part('name="xml"'), part('name="xml"')]), TYPE, 'xml_part_repeated'],
    ['two under other names', multipart([part('name="a"'), part('name="b"')]), TYPE, 'xml_part_repeated'],
    [
      'base64 that is none',
      multipart([part('name="xml"', ['Content-Transfer-Encoding: base64'], 'ECF!')]),
      TYPE,
      'xml_part_encoding',
    ],
    [
      'quoted-printable that is none',
      multipart([part('name="xml"', ['Content-Transfer-Encoding: quoted-printable'], 'a=zz')]),
      TYPE,
      'xml_part_encoding',
    ],
  ])('%s', (_, body, type, expected) => {
    expect(problem(body, type)).toBe(expected);
  });
});
