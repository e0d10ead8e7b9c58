import { gzipSync } from 'node:zlib';
import { BAD_SIGNATURE, forge, type Hostile, unreadable } from './input.js';

const B = 'b0und4ry';
const multipart = { 'content-type': `multipart/form-data; boundary=${B}` };

const GIBIBYTE = 1024 * 1024 * 1024;

const inPart = (content: string, headers = '') =>
  `--${B}\r\nContent-Disposition: form-data; name=xml\r\n${headers}\r\n${content}\r\n--${B}--`;

/** File names that must not matter, since no name of a sender's ever does. */
const FILE_NAMES = [
  ['a file name that climbs', '../../../../tmp/ecf-owned.xml'],
  ['an absolute file name', '/etc/ecf-owned'],
  ['a file name of another system', 'C:\\ecf-owned'],
  ['NUL in a file name', 'a\u0000b'],
  ['a file name of 5,000 characters', `${'n'.repeat(5_000)}.xml`],
  ['a file name with a command', '$(touch /tmp/ecf-owned).xml'],
] as const;

/** Bodies that are not uploads. */
export const bodies: readonly Hostile[] = [
  {
    name: 'a zip file',
    make: () => Buffer.concat([Buffer.from('504b0304', 'hex'), Buffer.alloc(100_000, 0x41)]),
    answer: unreadable('body_compressed'),
  },
  {
    name: 'gzip',
    make: () => Buffer.concat([Buffer.from('1f8b08', 'hex'), Buffer.alloc(100_000)]),
    answer: unreadable('body_compressed'),
  },
  {
    name: 'a zip file with the document in it',
    make: (xml) => {
      const name = Buffer.from('ecf.xml');
      const head = Buffer.alloc(30);
      head.writeUInt32LE(0x04034b50, 0);
      head.writeUInt32LE(xml.length, 18);
      head.writeUInt32LE(xml.length, 22);
      head.writeUInt16LE(name.length, 26);
      return Buffer.concat([head, name, Buffer.from(xml)]);
    },
    answer: unreadable('body_compressed'),
  },
  {
    name: 'gzip that unpacks to a gigabyte, in the part xml',
    make: () =>
      Buffer.from(
        inPart(
          gzipSync(Buffer.alloc(GIBIBYTE / 1024))
            .toString('latin1')
            .repeat(1_024),
        ),
        'latin1',
      ),
    headers: multipart,
    answer: unreadable('body_compressed'),
  },
  {
    name: 'gzip that unpacks to a megabyte, declared',
    make: () => gzipSync(Buffer.alloc(1_000_000)),
    headers: { 'content-encoding': 'gzip' },
    answer: { status: 415 },
  },
  ...['78da', '425a6839', 'fd377a585a00', '28b52ffd', '377abcaf271c', '526172211a07'].map((magic) => ({
    name: `what begins like another archive (${magic})`,
    make: () => Buffer.concat([Buffer.from(magic, 'hex'), Buffer.alloc(100_000, 0x41)]),
    answer: unreadable('body_compressed'),
  })),
  {
    name: 'a declared content encoding',
    make: (xml) => xml,
    headers: { 'content-encoding': 'gzip' },
    answer: { status: 415 },
  },
  ...['', '""', '"b', '\u00e1', 'b'.repeat(15_000)].map((boundary) => ({
    name: `the boundary ${boundary.slice(0, 9)} of ${boundary.length} characters`,
    make: () => 'not a form',
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    answer: unreadable('multipart_without_boundary'),
  })),
  {
    name: 'a multipart bomb of parts',
    make: () => `--${B}\r\nContent-Disposition: form-data; name=x\r\n\r\n\r\n`.repeat(100_000),
    headers: multipart,
    answer: unreadable('multipart_too_many_parts'),
  },
  {
    name: 'a multipart bomb of headers',
    make: () => `--${B}\r\n${'A: b\r\n'.repeat(1_000_000)}\r\n\r\n--${B}--`,
    headers: multipart,
    answer: unreadable('multipart_headers_too_large'),
  },
  {
    name: 'a part header of 8 MB',
    make: (xml) =>
      `--${B}\r\nContent-Disposition: form-data; name=xml; x="${'x'.repeat(8_000_000)}"\r\n\r\n${xml}\r\n--${B}--`,
    headers: multipart,
    answer: unreadable('multipart_headers_too_large'),
  },
  {
    name: '1,000 parts in parts',
    make: (xml) =>
      Array.from(
        { length: 1_000 },
        (_, i) => `--b${i}\r\nContent-Type: multipart/mixed; boundary=b${i + 1}\r\n\r\n`,
      ).join('') + xml,
    headers: { 'content-type': 'multipart/form-data; boundary=b0' },
    answer: { status: 422 },
  },
  {
    name: '2 MB of base64 that is none',
    make: () => inPart('A='.repeat(1_000_000), 'Content-Transfer-Encoding: base64\r\n'),
    headers: multipart,
    answer: { status: 422 },
  },
  {
    name: '2 MB of quoted-printable',
    make: () => inPart('=3C'.repeat(700_000), 'Content-Transfer-Encoding: quoted-printable\r\n'),
    headers: multipart,
    answer: { status: 422 },
  },
  {
    name: '10 MB of boundaries alone',
    make: () => `--${B}\r\n`.repeat(1_000_000).slice(0, 10_000_000),
    headers: multipart,
    answer: { status: 422 },
  },
  ...FILE_NAMES.map(([name, fileName]) => ({
    name,
    make: (xml: string) =>
      `--${B}\r\nContent-Disposition: form-data; name="xml"; filename="${fileName}"\r\n\r\n${xml}\r\n--${B}--`,
    headers: multipart,
    answer: { motive: [''] },
  })),
  {
    name: 'two parts xml, one of them blank',
    make: (xml) =>
      `--${B}\r\nContent-Disposition: form-data; name=xml\r\n\r\n${' '.repeat(1_000_000)}\r\n--${B}\r\nContent-Disposition: form-data; name=xml\r\n\r\n${forge(xml)}\r\n--${B}--`,
    headers: multipart,
    answer: BAD_SIGNATURE,
  },
  {
    name: 'multipart in multipart',
    make: (xml) =>
      `--${B}\r\nContent-Disposition: form-data; name=xml\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\n\r\n${xml}\r\n--c--\r\n--${B}--`,
    headers: multipart,
    answer: unreadable('xml.not_well_formed'),
  },
  {
    name: 'a boundary of 5 MB',
    make: () => `--${'b'.repeat(5_000_000)}`,
    headers: { 'content-type': 'multipart/form-data' },
    answer: { status: 422 },
  },
  {
    name: '8 MB of dashes',
    make: () => '-'.repeat(8_000_000),
    headers: { 'content-type': 'multipart/form-data; boundary=-' },
    answer: { status: 422 },
  },
  {
    name: '10 MB of delimiters in one line',
    make: () => 'x--b'.repeat(2_500_000),
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
    answer: unreadable('multipart_malformed'),
  },
  {
    name: 'a part of 10 MB of blanks',
    make: () => `--${B}\r\nContent-Disposition: form-data; name=xml\r\n\r\n${' '.repeat(10_000_000)}\r\n--${B}--`,
    headers: multipart,
    answer: unreadable('body_empty'),
  },
  {
    name: '8 MB of line ends and delimiters',
    make: () => `\n--${B}x`.repeat(600_000),
    headers: multipart,
    answer: { status: 422 },
  },
  {
    name: 'no closing boundary',
    make: (xml) => `--${B}\r\nContent-Disposition: form-data; name=xml\r\n\r\n${xml}`,
    headers: multipart,
    answer: unreadable('multipart_incomplete'),
  },
  {
    name: 'JSON',
    make: () => '{"a":'.repeat(100_000),
    headers: { 'content-type': 'application/json' },
    answer: unreadable('body_not_xml'),
  },
  {
    name: 'random bytes',
    make: () => Buffer.from(Array.from({ length: 100_000 }, (_, i) => (i * 7919) % 251)),
    answer: { status: 422 },
  },
  { name: 'nothing', make: () => '', answer: unreadable('body_empty') },
];
