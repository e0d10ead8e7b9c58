import { BODY_SHAPES } from '@ecf/test-support/body-shapes';
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

const TYPE = `multipart/form-data; boundary=${B}`;

describe('the document is found in the bodies that senders write', () => {
  it.each(BODY_SHAPES)('$name', ({ body, type }) => {
    expect(take(body(XML), type ?? undefined)).toBe(XML);
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

describe('a body without exactly one document is refused with the reason', () => {
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

describe('malformed forms are the fault of the sender', () => {
  const LONG = 'b'.repeat(1_000_000);
  const types = ['=', '=""', '=" "', '="b', '=other"', '', '=\u00e1', `=${LONG}`, `="${LONG}`].map(
    (value) => `multipart/form-data; boundary${value}`,
  );
  it.each(types)('Content-Type %#: the boundary is found in the body, or the form is refused', (type) => {
    expect(take(multipart([part('name="xml"')]), type)).toBe(XML);
    expect(problem('x', type)).toBe('multipart_without_boundary');
    expect(problem(Buffer.alloc(1_000_000, ' -'), type)).toBe('multipart_without_boundary');
  });

  it.each([
    'Content-Disposition',
    'Content-Disposition: form-data; name="xml',
    'Content-Disposition: form-data; name=\u00e1',
    `Content-Disposition: form-data; name="${LONG}"`,
    `Content-Disposition: form-data${'; name'.repeat(200_000)}`,
    `Content-Disposition: form-data; name=xml\r\n${' folded\r\n'.repeat(100_000)}`,
    ' folded',
    '',
  ])('a part with header %# is read as it stands, or refused', (header) => {
    const body = `--${B}\r\n${header}\r\n\r\nnot a document\r\n--${B}--`;
    const problems = ['xml_part_missing', 'multipart_headers_too_large', 'none'];
    expect(problems).toContain(problem(body, TYPE));
  });
});
