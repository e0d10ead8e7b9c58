/** A hostile input, made from a genuine signed document; for tests and benchmarks. */
export interface Hostile {
  readonly name: string;
  readonly make: (genuine: string, foreignCertificate: string) => string | Buffer;
  readonly headers?: Record<string, string>;
  /** What has to come back: the kind of a 422, the motives an acknowledgement may have, or a status. */
  readonly answer: { kind: string } | { motive: readonly string[] } | { status: number };
}

const B = 'b0und4ry';
const multipart = { 'content-type': `multipart/form-data; boundary=${B}` };
const unreadable = (kind: string) => ({ kind });
const BAD_SIGNATURE = { motive: ['2'] };
const BAD = { motive: ['1', '2'] };

const SIGNATURE = /<Signature .*<\/Signature>/s;
const signatureOf = (xml: string) => SIGNATURE.exec(xml)?.[0] ?? '';
const bare = (xml: string) => xml.replace(/^<\?xml[^>]*\?>/, '');
const forge = (xml: string) => xml.replace(/<MontoTotal>[^<]*/, '<MontoTotal>99999.99');
const doctype = (declaration: string, xml: string) => bare(xml).replace(/^/, `<?xml version="1.0"?>${declaration}`);
const inSignature = (xml: string, from: string | RegExp, to: string) =>
  xml.replace(signatureOf(xml), (s) => s.replace(from, to));

const laughs = Array.from({ length: 9 }, (_, i) => `<!ENTITY l${i + 1} "${`&l${i};`.repeat(10)}">`).join('');
const REFERENCE = /<Reference .*<\/Reference>/s;
const TRANSFORM = /<Transform [^>]*>(?:<\/Transform>)?/;

/** Documents that no parser of ours may do more with than name their fault. */
const documents: readonly Hostile[] = [
  {
    name: 'document type declaration',
    make: (xml) => doctype('<!DOCTYPE ECF>', xml),
    answer: unreadable('xml.doctype'),
  },
  {
    name: 'ten million laughs',
    make: (xml) => doctype(`<!DOCTYPE ECF [<!ENTITY l0 "ha">${laughs}]>`, xml).replace('<TipoPago>1', '<TipoPago>&l9;'),
    answer: unreadable('xml.doctype'),
  },
  {
    name: 'quadratic entity',
    make: (xml) =>
      doctype(`<!DOCTYPE ECF [<!ENTITY q "${'q'.repeat(50_000)}">]>`, xml).replace(
        '<TipoPago>1',
        `<TipoPago>${'&q;'.repeat(10_000)}`,
      ),
    answer: unreadable('xml.doctype'),
  },
  {
    name: 'external entity, file',
    make: (xml) =>
      doctype('<!DOCTYPE ECF [<!ENTITY f SYSTEM "file:///etc/passwd">]>', xml).replace('<TipoPago>1', '<TipoPago>&f;'),
    answer: unreadable('xml.doctype'),
  },
  {
    name: 'external entity, network',
    make: (xml) => doctype('<!DOCTYPE ECF SYSTEM "http://127.0.0.1:9/x.dtd">', xml),
    answer: unreadable('xml.doctype'),
  },
  {
    name: 'document type after a comment',
    make: (xml) => doctype('<!-- > --><!DOCTYPE ECF>', xml),
    answer: unreadable('xml.doctype'),
  },
  {
    name: 'undeclared entity',
    make: (xml) => xml.replace('<TipoPago>1', '<TipoPago>&copy;'),
    answer: unreadable('xml.not_well_formed'),
  },
  {
    name: '100,000 levels',
    make: () => '<a>'.repeat(100_000) + '</a>'.repeat(100_000),
    answer: unreadable('xml.too_deep'),
  },
  { name: '100,000 open levels', make: () => '<a>'.repeat(100_000), answer: unreadable('xml.too_deep') },
  {
    name: '100,000 attributes',
    make: () => `<ECF ${Array.from({ length: 100_000 }, (_, i) => `a${i}="1"`).join(' ')}/>`,
    answer: unreadable('xml.too_complex'),
  },
  {
    name: '10,000 namespaces',
    make: () => `<ECF ${Array.from({ length: 10_000 }, (_, i) => `xmlns:n${i}="urn:${i}"`).join(' ')}/>`,
    answer: unreadable('xml.too_complex'),
  },
  {
    name: 'the same attribute twice',
    make: (xml) => xml.replace('<ECF ', '<ECF a="1" a="2" '),
    answer: unreadable('xml.not_well_formed'),
  },
  {
    name: 'NUL in a value',
    make: (xml) => xml.replace('<TipoPago>1', '<TipoPago>\u00001'),
    answer: unreadable('xml.nul'),
  },
  {
    name: 'UTF-16',
    make: (xml) => Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(xml, 'utf16le')]),
    answer: unreadable('xml.encoding'),
  },
  {
    name: 'Latin-1 bytes under a UTF-8 declaration',
    make: (xml) => Buffer.from(xml.replace('Comercial', 'Comerciál'), 'latin1'),
    answer: unreadable('xml.not_utf8'),
  },
  {
    name: 'another declared encoding',
    make: (xml) => xml.replace(/encoding="[^"]*"/, 'encoding="ISO-8859-1"').replace('Comercial', 'Comerciál'),
    answer: unreadable('xml.encoding'),
  },
  {
    name: 'overlong UTF-8',
    make: (xml) =>
      Buffer.concat([Buffer.from(xml.slice(0, 200)), Buffer.from([0xc0, 0xbc]), Buffer.from(xml.slice(200))]),
    answer: unreadable('xml.not_utf8'),
  },
  { name: 'two roots', make: (xml) => `${xml}${bare(xml)}`, answer: unreadable('xml.not_well_formed') },
  {
    name: 'an unclosed comment',
    make: (xml) => xml.replace('<DetallesItems>', '<!--<DetallesItems>'),
    answer: unreadable('xml.not_well_formed'),
  },
  {
    name: '200,000 empty elements',
    make: () => `<ECF>${'<a/>'.repeat(200_000)}</ECF>`,
    answer: unreadable('document.not_an_ecf'),
  },
  {
    name: '8 MB of one text',
    make: (xml) => xml.replace('<RazonSocialEmisor>', `<RazonSocialEmisor>${'x'.repeat(8_000_000)}`),
    answer: { motive: ['1'] },
  },
  {
    name: '8 MB of blanks between elements',
    make: (xml) => xml.replace('<DetallesItems>', `${' '.repeat(8_000_000)}<DetallesItems>`),
    answer: { motive: ['', '2'] },
  },
  {
    name: '100,000 unknown elements',
    make: (xml) => xml.replace('<DetallesItems>', `${'<x>1</x>'.repeat(100_000)}<DetallesItems>`),
    answer: { motive: ['1'] },
  },
  {
    name: '8,000 namespaces that are no URI, in 128 KiB',
    make: (xml) => xml.replace('<DetallesItems>', `${'<x xmlns="y"/>'.repeat(8_000)}<DetallesItems>`),
    answer: { motive: ['1'] },
  },
  {
    name: 'elements with prefixes',
    make: (xml) =>
      bare(xml)
        .replace(/<(\/?)(?=\w)/g, '<$1x:')
        .replace('<x:ECF ', '<x:ECF xmlns:x="urn:x" '),
    answer: unreadable('document.not_an_ecf'),
  },
  {
    name: 'path characters for an eNCF',
    make: (xml) => xml.replace(/<eNCF>[^<]*/, '<eNCF>../../../../a'),
    answer: unreadable('document.encf_malformed'),
  },
  {
    name: 'path characters for an RNC',
    make: (xml) => xml.replace(/<RNCEmisor>[^<]*/, '<RNCEmisor>../../etc'),
    answer: unreadable('document.party_malformed'),
  },
  {
    name: 'SQL for an RNC',
    make: (xml) => xml.replace(/<RNCEmisor>[^<]*/, "<RNCEmisor>1'; DROP TABLE x; --"),
    answer: unreadable('document.party_malformed'),
  },
  {
    name: '__proto__ as an element',
    make: (xml) => xml.replace('<DetallesItems>', '<__proto__><a>1</a></__proto__><DetallesItems>'),
    answer: { motive: ['1'] },
  },
  {
    name: 'XInclude',
    make: (xml) =>
      xml.replace(
        '<DetallesItems>',
        '<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="file:///etc/passwd"/><DetallesItems>',
      ),
    answer: { motive: ['1'] },
  },
  {
    name: 'a stylesheet instruction',
    make: (xml) => xml.replace('<ECF ', '<?xml-stylesheet href="http://127.0.0.1:9/x.xsl"?><ECF '),
    answer: BAD_SIGNATURE,
  },
];

/** Signatures that are made to verify something else than what is read. */
const signatures: readonly Hostile[] = [
  {
    name: 'the genuine document inside the forged one',
    make: (xml) => forge(xml).replace(SIGNATURE, `<Wrapper>${bare(xml)}</Wrapper>${signatureOf(xml)}`),
    answer: BAD,
  },
  {
    name: 'the genuine document in an Object of the Signature',
    make: (xml) =>
      inSignature(forge(xml), '</Signature>', `<Object>${bare(xml).replace(SIGNATURE, '')}</Object></Signature>`),
    answer: BAD,
  },
  {
    name: 'the forged document behind the Signature',
    make: (xml) => xml.replace('</ECF>', `${bare(forge(xml))}</ECF>`),
    answer: BAD,
  },
  { name: 'a second Signature', make: (xml) => xml.replace('</ECF>', `${signatureOf(xml)}</ECF>`), answer: BAD },
  {
    name: 'a Signature inside a group',
    make: (xml) => forge(xml).replace('<DetallesItems>', `${signatureOf(xml)}<DetallesItems>`),
    answer: BAD,
  },
  {
    name: 'the Signature in a group alone',
    make: (xml) => xml.replace(SIGNATURE, '').replace('<DetallesItems>', `${signatureOf(xml)}<DetallesItems>`),
    answer: BAD,
  },
  {
    name: 'a reference by Id',
    make: (xml) => inSignature(forge(xml), 'URI=""', 'URI="#genuine"').replace('<ECF ', '<ECF Id="genuine" '),
    answer: BAD,
  },
  {
    name: 'a reference to the network',
    make: (xml) => inSignature(xml, 'URI=""', 'URI="http://127.0.0.1:9/x"'),
    answer: BAD_SIGNATURE,
  },
  {
    name: 'a reference to a file',
    make: (xml) => inSignature(xml, 'URI=""', 'URI="file:///etc/passwd"'),
    answer: BAD_SIGNATURE,
  },
  {
    name: 'a reference by XPointer',
    make: (xml) => inSignature(xml, 'URI=""', 'URI="#xpointer(/)"'),
    answer: BAD_SIGNATURE,
  },
  {
    name: 'two references',
    make: (xml) => inSignature(xml, REFERENCE, `${REFERENCE.exec(xml)?.[0]}${REFERENCE.exec(xml)?.[0]}`),
    answer: BAD_SIGNATURE,
  },
  { name: 'no reference', make: (xml) => inSignature(xml, REFERENCE, ''), answer: BAD_SIGNATURE },
  {
    name: 'an XPath transform that leaves the change out',
    make: (xml) =>
      inSignature(
        forge(xml),
        TRANSFORM,
        (TRANSFORM.exec(xml)?.[0] ?? '') +
          '<Transform Algorithm="http://www.w3.org/TR/1999/REC-xpath-19991116"><XPath>not(ancestor-or-self::MontoTotal)</XPath></Transform>',
      ),
    answer: BAD_SIGNATURE,
  },
  {
    name: 'an XSLT transform',
    make: (xml) =>
      inSignature(
        xml,
        TRANSFORM,
        '<Transform Algorithm="http://www.w3.org/TR/1999/REC-xslt-19991116"><xsl:stylesheet xmlns:xsl="http://www.w3.org/1999/XSL/Transform" version="1.0"/></Transform>',
      ),
    answer: BAD_SIGNATURE,
  },
  {
    name: '10,000 transforms',
    make: (xml) => inSignature(xml, TRANSFORM, (TRANSFORM.exec(xml)?.[0] ?? '').repeat(10_000)),
    answer: BAD_SIGNATURE,
  },
  {
    name: 'SHA-1',
    make: (xml) =>
      inSignature(xml, 'http://www.w3.org/2001/04/xmlenc#sha256', 'http://www.w3.org/2000/09/xmldsig#sha1'),
    answer: BAD_SIGNATURE,
  },
  {
    name: 'HMAC with the public key',
    make: (xml) =>
      inSignature(
        xml,
        'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
        'http://www.w3.org/2001/04/xmldsig-more#hmac-sha256',
      ),
    answer: BAD_SIGNATURE,
  },
  {
    name: 'an empty SignatureValue',
    make: (xml) => inSignature(xml, /<SignatureValue>[^<]*/, '<SignatureValue>'),
    answer: BAD_SIGNATURE,
  },
  {
    name: 'a SignatureValue of 5 MB',
    make: (xml) => inSignature(xml, /<SignatureValue>[^<]*/, `<SignatureValue>${'A'.repeat(5_000_000)}`),
    answer: BAD_SIGNATURE,
  },
  {
    name: 'the certificate of somebody else',
    make: (xml, foreign) => inSignature(xml, /<X509Certificate>[^<]*/, `<X509Certificate>${foreign}`),
    answer: BAD_SIGNATURE,
  },
  {
    name: '2,000 certificates',
    make: (xml) =>
      inSignature(
        xml,
        /<X509Certificate>[^<]*<\/X509Certificate>/,
        '<X509Certificate>MIIB</X509Certificate>'.repeat(2_000),
      ),
    answer: BAD_SIGNATURE,
  },
  {
    name: 'no certificate',
    make: (xml) => inSignature(xml, /<X509Certificate>[^<]*<\/X509Certificate>/, ''),
    answer: BAD_SIGNATURE,
  },
  {
    name: 'a comment inside the number',
    make: (xml) => xml.replace('<eNCF>E31', '<eNCF>E31<!-- -->'),
    answer: { motive: ['2'] },
  },
  {
    name: 'a comment inside the amount',
    make: (xml) => xml.replace(/<MontoTotal>(.)/, '<MontoTotal>$1<!---->'),
    answer: { motive: ['2'] },
  },
  {
    name: 'an instruction inside a value',
    make: (xml) => xml.replace('<MontoTotal>', '<MontoTotal><?x y?>'),
    answer: { motive: ['2'] },
  },
  {
    name: 'CDATA around a value',
    make: (xml) => xml.replace(/<RazonSocialEmisor>([^<]*)/, '<RazonSocialEmisor><![CDATA[$1]]>'),
    answer: { motive: ['', '1', '2'] },
  },
  {
    name: 'a default namespace that moves the content',
    make: (xml) => xml.replace('<ECF ', '<ECF xmlns="urn:other" '),
    answer: { motive: ['1'] },
  },
  {
    name: 'a Signature of another namespace',
    make: (xml) => inSignature(xml, 'http://www.w3.org/2000/09/xmldsig#', 'urn:none'),
    answer: BAD,
  },
  { name: 'blank text turned into content', make: (xml) => forge(xml).replaceAll('><', '>\n<'), answer: BAD_SIGNATURE },
];

/** Bodies that are no upload. */
const bodies: readonly Hostile[] = [
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
    name: 'a declared content encoding',
    make: (xml) => xml,
    headers: { 'content-encoding': 'gzip' },
    answer: { status: 415 },
  },
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

export const HOSTILE: readonly Hostile[] = [...documents, ...signatures, ...bodies];
