/** A body as some sender writes it, with the Content-Type that it claims; null = none. */
export interface Shape {
  readonly name: string;
  readonly type: string | null;
  readonly body: (xml: string) => string | Buffer;
}

const B = '----b0und4ry';
const TYPE = `multipart/form-data; boundary=${B}`;

const part = (disposition: string, others: readonly string[] = [], newline = '\r\n') =>
  [`Content-Disposition: form-data; ${disposition}`, ...others, '', ''].join(newline);
const around = (head: string, content: string, newline = '\r\n') =>
  `--${B}${newline}${head}${content}${newline}--${B}--${newline}`;
const base64 = (text: string) => Buffer.from(text, 'utf8').toString('base64');
const quotedPrintable = (text: string) =>
  Buffer.from(text, 'utf8')
    .toString('latin1')
    .replace(/[=\u0080-\u00ff]/g, (byte) => `=${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);

const whole = (name: string, head: string): Shape => ({ name, type: TYPE, body: (xml) => around(head, xml) });

/** What senders of e-CF were seen to write, byte by byte. */
export const SHAPES: readonly Shape[] = [
  whole('as standards have it', part('name="xml"; filename="131880738E310000000002.xml"', ['Content-Type: text/xml'])),
  whole(
    'a part type that says multipart',
    part('name="xml"; filename="a.xml"', ['Content-Type: multipart/form-data;']),
  ),
  whole('bare names and filename*', part("name=xml; filename=a.xml; filename*=utf-8''a.xml")),
  whole(
    'filename* alone, a binary type',
    part("name=xml; filename*=UTF-8''a%20b.xml", ['Content-Type: application/pdf']),
  ),
  whole('no part type, no file name', part('name="xml"')),
  whole('the name after the file name', part('filename="name=other.xml"; name="xml"')),
  whole('a name in apostrophes', part("name='xml'; filename='a.xml'")),
  whole('names in capitals', part('NAME="XML"').replace('Content-Disposition', 'CONTENT-DISPOSITION')),
  whole('a folded header', part('name="xml";\r\n filename="a.xml"')),
  whole('a file name that climbs', part('name="xml"; filename="../../etc/passwd"')),
  whole('another part name', part('name="file"; filename="a.xml"')),
  whole('a part without headers', '\r\n'),
  whole('called base64, sent as it is', part('name="xml"', ['Content-Transfer-Encoding: base64'])),
  whole('called quoted-printable, sent as it is', part('name="xml"', ['Content-Transfer-Encoding: quoted-printable'])),
  {
    name: 'base64',
    type: TYPE,
    body: (xml) => around(part('name="xml"', ['Content-Transfer-Encoding: base64']), base64(xml)),
  },
  {
    name: 'quoted-printable',
    type: TYPE,
    body: (xml) => around(part('name="xml"', ['Content-Transfer-Encoding: quoted-printable']), quotedPrintable(xml)),
  },
  { name: 'line feeds alone', type: TYPE, body: (xml) => around(part('name="xml"', [], '\n'), xml, '\n') },
  {
    name: 'a boundary in quotes',
    type: `multipart/form-data; boundary="${B}"`,
    body: (xml) => around(part('name="xml"'), xml),
  },
  { name: 'no boundary in the header', type: 'multipart/form-data', body: (xml) => around(part('name="xml"'), xml) },
  { name: 'a type that lies', type: 'application/json', body: (xml) => around(part('name="xml"'), xml) },
  { name: 'a multipart body without type', type: null, body: (xml) => around(part('name="xml"'), xml) },
  {
    name: 'other fields beside it',
    type: TYPE,
    body: (xml) => `--${B}\r\n${part('name="note"')}x\r\n${around(part('name="xml"'), xml)}`,
  },
  {
    name: 'a byte order mark before the first boundary',
    type: TYPE,
    body: (xml) => `\ufeff${around(part('name="xml"'), xml)}`,
  },
  {
    name: 'no line end before the closing boundary',
    type: TYPE,
    body: (xml) => `--${B}\r\n${part('name="xml"')}${xml}--${B}--\r\n`,
  },
  {
    name: 'the last boundary without its dashes',
    type: TYPE,
    body: (xml) => `--${B}\r\n${part('name="xml"')}${xml}\r\n--${B}\r\n`,
  },
  { name: 'the document itself', type: 'text/xml', body: (xml) => xml },
  { name: 'the document itself, without type', type: null, body: (xml) => xml },
  { name: 'the document itself, called a form', type: 'application/x-www-form-urlencoded', body: (xml) => xml },
  { name: 'a byte order mark', type: TYPE, body: (xml) => around(part('name="xml"'), `\ufeff${xml}`) },
  { name: 'no prolog', type: TYPE, body: (xml) => around(part('name="xml"'), xml.replace(/^<\?xml[^>]*\?>\s*/, '')) },
  {
    name: 'pretty-printed after signing',
    type: TYPE,
    body: (xml) => around(part('name="xml"'), xml.replaceAll('><', '>\n  <')),
  },
];
