import { describe, expect, it } from '@jest/globals';
import { checkXml, parseXml, readXml, XmlRefused } from '../src/index.js';

const MEGABYTE = 1024 * 1024;

function refusal(source: string | Uint8Array): { code: string; line: number | null } {
  try {
    parseXml(typeof source === 'string' ? Buffer.from(source) : source);
  } catch (error) {
    if (error instanceof XmlRefused) return { code: error.code, line: error.line };
    throw error;
  }
  return { code: 'accepted', line: null };
}

const bomb = `<!DOCTYPE l [<!ENTITY a "ha">${Array.from({ length: 30 }, (_, i) => `<!ENTITY a${i} "&a${i - 1};&a${i - 1};">`).join('')}]><ECF>&a29;</ECF>`;

describe('hostile XML is refused', () => {
  it.each<[string, string, string | Uint8Array]>([
    ['an external entity', 'doctype', '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><ECF>&x;</ECF>'],
    ['an entity bomb', 'doctype', bomb],
    ['an external subset', 'doctype', '<!DOCTYPE ECF SYSTEM "http://127.0.0.1:9/x.dtd"><ECF/>'],
    ['a DOCTYPE behind comments', 'doctype', '<?xml version="1.0"?><!-- a --><?b?>\n<!DOCTYPE ECF><ECF/>'],
    ['a DOCTYPE inside the root', 'doctype', '<ECF><!DOCTYPE a></ECF>'],
    ['a DOCTYPE in capitals only', 'doctype', '<!doctype html><ECF/>'],
    ['an undefined entity', 'not_well_formed', '<ECF>&x;</ECF>'],
    ['an HTML entity', 'not_well_formed', '<ECF>&copy;</ECF>'],
    ['two roots', 'not_well_formed', '<ECF/><ECF/>'],
    ['text behind the root', 'not_well_formed', '<ECF/>x'],
    ['an unfinished tag', 'not_well_formed', '<ECF'],
    ['an unfinished comment', 'not_well_formed', '<ECF><!-- </ECF>'],
    ['an unfinished CDATA section', 'not_well_formed', '<ECF><![CDATA[ </ECF>'],
    ['an attribute twice', 'not_well_formed', '<ECF a="1" a="2"/>'],
    ['an undeclared prefix', 'not_well_formed', '<ECF><x:a/></ECF>'],
    ['a reference to NUL', 'not_well_formed', '<ECF>&#0;</ECF>'],
    ['a reference to a surrogate', 'not_well_formed', '<ECF>&#xD800;</ECF>'],
    ['a control character', 'not_well_formed', '<ECF>\u0001</ECF>'],
    ['XML 2.0', 'not_well_formed', '<?xml version="2.0"?><ECF/>'],
    ['NUL', 'nul', '<ECF>a\0b</ECF>'],
    ['NUL at the end', 'nul', '<ECF/>\0'],
    ['no bytes', 'empty', ''],
    ['blanks alone', 'not_well_formed', ' \n '],
    ['a byte that is not UTF-8', 'not_utf8', Buffer.from([0x3c, 0x61, 0x3e, 0xff, 0x3c, 0x2f, 0x61, 0x3e])],
    ['an overlong slash', 'not_utf8', Buffer.from([0x3c, 0x61, 0x3e, 0xc0, 0xaf, 0x3c, 0x2f, 0x61, 0x3e])],
    ['UTF-16 with its mark', 'encoding', Buffer.from('\ufeff<ECF/>', 'utf16le')],
    ['UTF-16 without its mark', 'encoding', Buffer.from('<ECF/>', 'utf16le')],
    ['a DOCTYPE in UTF-16', 'encoding', Buffer.from('\ufeff<!DOCTYPE a><ECF/>', 'utf16le')],
    ['Latin-1 by declaration', 'encoding', '<?xml version="1.0" encoding="ISO-8859-1"?><ECF>ñ</ECF>'],
    ['UTF-7 by declaration', 'encoding', "<?xml version='1.0' encoding='UTF-7'?><ECF/>"],
    ['257 levels', 'too_deep', `${'<a>'.repeat(257)}${'</a>'.repeat(257)}`],
    ['a million levels', 'too_deep', '<a>'.repeat(1_000_000)],
    ['a thousand attributes', 'too_complex', `<a ${Array.from({ length: 1000 }, (_, i) => `a${i}="1"`).join(' ')}/>`],
    [
      'namespaces on every level',
      'too_complex',
      `${'<a xmlns:a="u:a" xmlns:b="u:b">'.repeat(100)}${'</a>'.repeat(100)}`,
    ],
    ['more elements than any document', 'too_complex', `<a>${'<a/>'.repeat(1_000_001)}</a>`],
    ['a text of 11 MB', 'too_complex', `<a>${'x'.repeat(11 * MEGABYTE)}</a>`],
    [
      'sixty namespaces over fifty thousand elements',
      'too_complex',
      `<ECF ${Array.from({ length: 60 }, (_, n) => `xmlns:a${n}="urn:u${n}"`).join(' ')}>${'<b/>'.repeat(50_000)}</ECF>`,
    ],
    ['namespaces that are not URIs', 'too_complex', `<ECF>${'<a xmlns:n="u"/>'.repeat(10_001)}</ECF>`],
    ['namespaces that almost are', 'too_complex', `<ECF>${'<a xmlns="urn:a b"/>'.repeat(10_001)}</ECF>`],
    ['21 MB', 'too_large', Buffer.alloc(21 * MEGABYTE, 'x')],
  ])('%s: %s', (_, code, source) => {
    expect(refusal(source).code).toBe(code);
  });

  it('names the place of the fault', () => {
    expect(refusal('<ECF>\n  <!DOCTYPE x>\n</ECF>')).toEqual({ code: 'doctype', line: 2 });
    expect(refusal('<ECF>\n\n<a></b></ECF>')).toEqual({ code: 'not_well_formed', line: 3 });
  });

  it('is allowed only inside comments, CDATA sections and instructions', () => {
    const source = '<?xml version="1.0"?><!-- <!DOCTYPE a> --><?p <!DOCTYPE a> ?><ECF><![CDATA[<!DOCTYPE a>]]></ECF>';
    expect(refusal(source).code).toBe('accepted');
  });
});

describe('large or crooked XML costs no more than its length', () => {
  it.each<[string, string]>([
    ['many siblings', `<ECF>${'<a/>'.repeat(200_000)}</ECF>`],
    ['usual namespaces over many', `<ECF xmlns:a="u:a" xmlns:b="u:b" xmlns:c="u:c">${'<a/>'.repeat(100_000)}</ECF>`],
    ['namespaces that are URIs', `<ECF>${'<a xmlns="urn:a"/><a xmlns=""/>'.repeat(50_000)}</ECF>`],
    ['many faults', `<ARECF><DetalleAcusedeRecibo>${'<a>1</a>'.repeat(60_000)}</DetalleAcusedeRecibo></ARECF>`],
    ['a long comment', `<ECF><!--${'- '.repeat(1_000_000)}--></ECF>`],
    ['many comments', `<ECF>${'<!--x-->'.repeat(200_000)}</ECF>`],
    ['many unclosed quotes', `<ECF>${`<a b='"'/>`.repeat(30_000)}</ECF>`],
    [
      'a long e-mail address',
      `<ECF><Encabezado><IdDoc><TipoeCF>31</TipoeCF></IdDoc><Emisor><CorreoEmisor>${'a+'.repeat(200_000)}</CorreoEmisor></Emisor></Encabezado></ECF>`,
    ],
    [
      'a long number',
      `<ECF><Encabezado><IdDoc><TipoeCF>31</TipoeCF></IdDoc><Totales><MontoTotal>${'0'.repeat(2_000_000)}x</MontoTotal></Totales></Encabezado></ECF>`,
    ],
    [
      'a long date',
      `<RFCE><Encabezado><Emisor><FechaEmision>${' '.repeat(2_000_000)}x</FechaEmision></Emisor></Encabezado></RFCE>`,
    ],
    ['a long name of an attribute', `<ARECF ${'q'.repeat(49_000)}=""/>`],
    ['a long name of an element', `<ARECF><${'q'.repeat(49_000)}/></ARECF>`],
    ['long names of elements with odd namespaces', `<ECF>${`<${'q'.repeat(49_000)} xmlns:n="u"/>`.repeat(22)}</ECF>`],
    ['a long tag with an odd namespace', `<ECF xmlns:n="u"${' '.repeat(8 * MEGABYTE)}>x</ECF>`],
    ['many references', `<ECF>${'&#65;&amp;'.repeat(30_000)}</ECF>`],
  ])('%s', (_, source) => {
    const xml = parseXml(Buffer.from(source));
    const checked = checkXml(xml);
    expect(checked.faults.length).toBeGreaterThan(0);
    expect(checked.faults.length).toBeLessThanOrEqual(1001);
    // Quotes in faults are short, because faults are stored while refused documents are not.
    expect(checked.faults.every(({ path, message }) => path.length + message.length < 500)).toBe(true);
    expect(readXml(xml)).toBeDefined();
  });

  it('keeps no state of earlier documents', () => {
    const source = Buffer.from(`<ECF>${'<a>text</a>'.repeat(1_000)}</ECF>`);
    const bad = Buffer.from('<ECF><a></ECF>');
    const round = (): void => {
      for (let i = 0; i < 60; i++) {
        parseXml(source);
        refusal(bad);
      }
    };
    round();
    const before = process.memoryUsage().rss;
    round();
    round();
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * MEGABYTE);
  });
});
