import { BAD_SIGNATURE, bare, type Hostile, unreadable } from './input.js';

const doctype = (declaration: string, xml: string) => bare(xml).replace(/^/, `<?xml version="1.0"?>${declaration}`);

const laughs = Array.from({ length: 9 }, (_, i) => `<!ENTITY l${i + 1} "${`&l${i};`.repeat(10)}">`).join('');
/** Documents of which our parsers may only name the fault. */
export const documents: readonly Hostile[] = [
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
    name: 'parameter entity of the network',
    make: (xml) => doctype('<!DOCTYPE ECF [<!ENTITY % p SYSTEM "http://127.0.0.1:9/x.dtd"> %p;]>', xml),
    answer: unreadable('xml.doctype'),
  },
  {
    name: 'external entity in an attribute',
    make: (xml) =>
      doctype('<!DOCTYPE ECF [<!ENTITY f SYSTEM "file:///etc/hostname">]>', xml).replace('<ECF ', '<ECF a="&f;" '),
    answer: unreadable('xml.doctype'),
  },
  {
    name: 'default attributes by a document type',
    make: (xml) => doctype('<!DOCTYPE ECF [<!ATTLIST ECF a CDATA "1">]>', xml),
    answer: unreadable('xml.doctype'),
  },
  {
    name: 'document type inside the root',
    make: (xml) => xml.replace('<DetallesItems>', '<!DOCTYPE a [<!ENTITY e "x">]><DetallesItems>'),
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
    name: '100,000 levels inside a document',
    make: (xml) => xml.replace('<DetallesItems>', `${'<a>'.repeat(100_000)}${'</a>'.repeat(100_000)}<DetallesItems>`),
    answer: unreadable('xml.too_deep'),
  },
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
    name: 'the same attribute twice, by two prefixes',
    make: (xml) => xml.replace('<ECF ', '<ECF xmlns:a="urn:a" xmlns:b="urn:a" a:c="1" b:c="2" '),
    answer: unreadable('xml.not_well_formed'),
  },
  {
    name: 'the same namespace declared twice',
    make: (xml) => xml.replace('<ECF ', '<ECF xmlns:a="urn:a" xmlns:a="urn:b" '),
    answer: unreadable('xml.not_well_formed'),
  },
  {
    name: 'two URIs of one Reference',
    make: (xml) => xml.replace('URI=""', 'URI="" URI="#x"'),
    answer: unreadable('xml.not_well_formed'),
  },
  {
    name: 'NUL between elements',
    make: (xml) => xml.replace('<DetallesItems>', '\u0000<DetallesItems>'),
    answer: unreadable('xml.nul'),
  },
  {
    name: 'NUL behind the document',
    make: (xml) => `${xml}\u0000`,
    answer: unreadable('xml.nul'),
  },
  {
    name: 'NUL as a character reference',
    make: (xml) => xml.replace('<TipoPago>1', '<TipoPago>&#0;1'),
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
    name: 'UTF-16, big end first',
    make: (xml) => Buffer.concat([Buffer.from([0xfe, 0xff]), Buffer.from(xml, 'utf16le').swap16()]),
    answer: unreadable('xml.encoding'),
  },
  {
    name: 'UTF-16 without a mark',
    make: (xml) => Buffer.from(xml, 'utf16le'),
    answer: unreadable('xml.encoding'),
  },
  {
    name: 'a UTF-8 mark before UTF-16',
    make: (xml) => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(xml, 'utf16le')]),
    answer: unreadable('xml.encoding'),
  },
  {
    name: 'half UTF-8, half UTF-16',
    make: (xml) => Buffer.concat([Buffer.from(xml.slice(0, 500)), Buffer.from(xml.slice(500), 'utf16le')]),
    answer: unreadable('xml.nul'),
  },
  {
    name: 'UTF-32',
    make: (xml) => Buffer.from(Uint32Array.from(Array.from(xml, (c) => c.charCodeAt(0))).buffer),
    answer: unreadable('xml.encoding'),
  },
  {
    name: 'UTF-7 declared',
    make: (xml) => xml.replace(/encoding="[^"]*"/, 'encoding="UTF-7"').replace('Comercial', '+ADw-x'),
    answer: unreadable('xml.encoding'),
  },
  {
    name: 'EBCDIC',
    make: () => Buffer.concat([Buffer.from('4c6fa79493', 'hex'), Buffer.alloc(10_000, 0x40)]),
    answer: unreadable('body_not_xml'),
  },
  {
    name: 'two encodings declared',
    make: (xml) => xml.replace(/encoding="[^"]*"/, 'encoding="UTF-8" encoding="EBCDIC"'),
    answer: unreadable('xml.not_well_formed'),
  },
  {
    name: 'half a surrogate pair in UTF-8',
    make: (xml) =>
      Buffer.concat([Buffer.from(xml.slice(0, 500)), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from(xml.slice(500))]),
    answer: unreadable('xml.not_utf8'),
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
    name: '2 MB of one attribute',
    make: (xml) => xml.replace('<ECF ', `<ECF a="${'x'.repeat(2_000_000)}" `),
    answer: { motive: ['1'] },
  },
  {
    name: 'a name of 1 MB',
    make: (xml) => xml.replace('<DetallesItems>', `<${'n'.repeat(1_000_000)}/><DetallesItems>`),
    answer: unreadable('xml.not_well_formed'),
  },
  {
    name: '2 MB of a comment',
    make: (xml) => xml.replace('<DetallesItems>', `<!--${'x'.repeat(2_000_000)}--><DetallesItems>`),
    answer: BAD_SIGNATURE,
  },
  {
    name: '2 MB of CDATA',
    make: (xml) => xml.replace('<RazonSocialEmisor>', `<RazonSocialEmisor><![CDATA[${'<'.repeat(2_000_000)}]]>`),
    answer: { motive: ['1'] },
  },
  {
    name: '300,000 character references',
    make: (xml) => xml.replace('<RazonSocialEmisor>', `<RazonSocialEmisor>${'&#x41;'.repeat(300_000)}`),
    answer: { motive: ['1'] },
  },
  {
    name: '1,100,000 empty elements',
    make: () => `<ECF>${'<a/>'.repeat(1_100_000)}</ECF>`,
    answer: unreadable('xml.too_complex'),
  },
  {
    name: '100,000 unknown elements',
    make: (xml) => xml.replace('<DetallesItems>', `${'<x>1</x>'.repeat(100_000)}<DetallesItems>`),
    answer: { motive: ['1'] },
  },
  {
    name: '8,000 namespaces that are not URIs, in 128 KiB',
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
