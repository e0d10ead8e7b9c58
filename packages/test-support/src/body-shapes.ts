/** A body as some sender writes it around a document, with the Content-Type that it claims; null = none. */
export interface BodyShape {
  readonly name: string;
  readonly type: string | null;
  readonly body: (xml: string) => Buffer;
}

const B = '----b0und4ry';
const TYPE = `multipart/form-data; boundary=${B}`;
const NAMED = 'name="xml"';

const transfer = (encoding: string) => [`Content-Transfer-Encoding: ${encoding}`];
const base64 = (xml: string) => Buffer.from(xml).toString('base64');
const inLines = (text: string) => text.replace(/.{20}/g, '$&\r\n');

/** Quoted-printable: what is not ASCII, and the equals sign, in hex. */
function quotedPrintable(xml: string): string {
  const bytes = [...Buffer.from(xml, 'utf8')];
  const hex = (byte: number) => `=${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  return bytes.map((byte) => (byte > 0x7e || byte === 0x3d ? hex(byte) : String.fromCharCode(byte))).join('');
}

/** The same in lower case, with line ends that are none, of each kind. */
function quotedPrintableInLines(xml: string): string {
  const lower = quotedPrintable(xml).replace(/=[0-9A-F]{2}/g, (hex) => hex.toLowerCase());
  return lower.replace('xml', '=\r\nxm= \t\r\nl').replace('utf', 'ut=\nf');
}

/** The text of a part: headers, empty line, content. */
function part(disposition: string, others: readonly string[] = [], newline = '\r\n') {
  return (content: string) => [`Content-Disposition: form-data; ${disposition}`, ...others, '', content].join(newline);
}

function multipart(parts: readonly string[], boundary = B, newline = '\r\n'): string {
  return [...parts.map((one) => `--${boundary}${newline}${one}${newline}`), `--${boundary}--${newline}`].join('');
}

const shape = (name: string, type: string | null, body: (xml: string) => string): BodyShape => ({
  name,
  type,
  body: (xml) => Buffer.from(body(xml), 'utf8'),
});

/** One part, written so, in a body as standards have it. */
const withPart = (name: string, text: (xml: string) => string): BodyShape =>
  shape(name, TYPE, (xml) => multipart([text(xml)]));

const plain = part(NAMED);
const form = (xml: string) => multipart([plain(xml)]);
const opened = (xml: string) => `--${B}\r\n${plain(xml)}`;

/** The shapes of a body that reception and approvals accept (docs/providers.md describes them). */
export const BODY_SHAPES: readonly BodyShape[] = [
  withPart(
    'as standards have it',
    part('name="xml"; filename="131880738E310000000002.xml"', ['Content-Type: text/xml']),
  ),
  withPart(
    "as the authority's own tool writes an e-CF",
    part('name="xml"; filename="131880738E310000000002.xml"', ['Content-Type: multipart/form-data;']),
  ),
  withPart(
    "as the authority's own tool writes an approval",
    part("name=xml; filename=aprobacionComercial.xml; filename*=utf-8''aprobacionComercial.xml"),
  ),
  withPart('without file name', plain),
  withPart('name after filename', part('filename="name=other.xml"; name="xml"')),
  withPart('name in apostrophes', part("name='xml'; filename='a.xml'")),
  withPart('name in capitals', part('NAME="XML"')),
  withPart('filename* alone', part("name=xml; filename*=UTF-8''a%20b.xml", ['Content-Type: application/octet-stream'])),
  withPart('headers in any case', (xml) => plain(xml).replace('Content-Disposition', 'CONTENT-disposition')),
  withPart('a folded header', part('name="xml";\r\n filename="a.xml"')),
  withPart('a name that cannot be a file', part('name="xml"; filename="../../etc/passwd\u0001.xml"')),
  withPart('base64, said so', (xml) => part(NAMED, transfer('base64'))(base64(xml))),
  withPart('base64 in lines', (xml) => part(NAMED, transfer('BASE64'))(inLines(base64(xml)))),
  withPart('base64 under another name', (xml) => part('name="a"', transfer('base64'))(base64(xml))),
  withPart('called base64, sent as it is', part(NAMED, transfer('base64'))),
  withPart('quoted-printable', (xml) => part(NAMED, transfer('quoted-printable'))(quotedPrintable(xml))),
  withPart('quoted-printable in lower case and lines', (xml) =>
    part(NAMED, transfer('Quoted-Printable'))(quotedPrintableInLines(xml)),
  ),
  withPart('called quoted-printable, sent as it is', part(NAMED, transfer('quoted-printable'))),
  withPart('called binary', part(NAMED, transfer('binary'))),
  withPart('another part name, one part', part('name="file"; filename="a.xml"')),
  withPart('no headers at all', (xml) => `\r\n${xml}`),
  withPart('no headers, not even their empty line', (xml) => xml),
  shape('boundary in quotes', 'multipart/form-data; boundary="a b"', (xml) => multipart([plain(xml)], 'a b')),
  shape('boundary before other parameters', `${TYPE}; charset=utf-8`, form),
  shape('boundary with a comma', 'multipart/form-data; boundary=a,b; charset=utf-8', (xml) =>
    multipart([plain(xml)], 'a,b'),
  ),
  shape(
    'boundary with a comma, behind a preamble',
    'multipart/form-data; boundary=a,b',
    (xml) => `hello\r\n${multipart([plain(xml)], 'a,b')}`,
  ),
  shape('boundary before words', `${TYPE} charset=utf-8`, (xml) => `hello\r\n${form(xml)}`),
  shape('type in capitals', `MULTIPART/FORM-DATA; BOUNDARY=${B}`, form),
  shape('no boundary in the header', 'multipart/form-data', form),
  shape('another boundary in the header', 'multipart/form-data; boundary=other', form),
  shape('no content type', null, form),
  shape('a lying content type', 'application/json', form),
  shape('multipart/mixed', `multipart/mixed; boundary=${B}`, form),
  shape('LF only', TYPE, (xml) => multipart([part(NAMED, [], '\n')(xml)], B, '\n')),
  shape('a preamble and an epilogue', TYPE, (xml) => `hello\r\n${form(xml)}bye`),
  shape('the raw document', 'text/xml', (xml) => xml),
  shape('the raw document without type', null, (xml) => xml),
  shape('the raw document with a multipart type', TYPE, (xml) => xml),
  shape('the raw document, called a form', 'application/x-www-form-urlencoded', (xml) => xml),
  shape('other fields beside it', TYPE, (xml) =>
    multipart([part('name="note"')('x'), plain(xml), part('name="ok"')('1')]),
  ),
  shape('an empty part of the same name', TYPE, (xml) => multipart([plain(''), plain(xml)])),
  shape('a second XML under another name', TYPE, (xml) => multipart([part('name="copy"')(xml), plain(xml)])),
  shape('a byte order mark before the first boundary', TYPE, (xml) => `\ufeff${form(xml)}`),
  shape('a byte order mark, and no boundary in the header', null, (xml) => `\ufeff${form(xml)}`),
  shape('no line end before the closing boundary', TYPE, (xml) => `${opened(xml)}--${B}--\r\n`),
  shape('no line end anywhere after the document', TYPE, (xml) => `${opened(xml)}--${B}--`),
  shape('the last boundary without its dashes', TYPE, (xml) => `${opened(xml)}\r\n--${B}\r\n`),
  shape('the last boundary without its dashes and line end', TYPE, (xml) => `${opened(xml)}\r\n--${B}`),
  shape('the last boundary with one dash', TYPE, (xml) => `${opened(xml)}\r\n--${B}-\r\n`),
  shape('no line end after the closing boundary', TYPE, (xml) => form(xml).trimEnd()),
];
