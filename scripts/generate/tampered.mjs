// Makes the defects of examples/tampered for goldens.mjs. examples/tampered/expected.json, written by hand, has the results that
// verifier and checker must give.

const C14N = 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315';
const XMLDSIG = 'http://www.w3.org/2000/09/xmldsig#';

/** Replaces one text, which must occur. */
function replaced(xml, from, to) {
  const changed = xml.replace(from, to);
  if (changed === xml) throw new Error(`the document has no ${from}`);
  return changed;
}

const signatureOf = (xml) => /<Signature .*<\/Signature>/s.exec(xml)[0];
const bodyOf = (xml) => xml.slice(xml.indexOf('>', xml.indexOf('<ECF')) + 1, xml.indexOf('<Signature '));
const rootOf = (xml) => /<ECF[^>]*>/.exec(xml)[0];
const certificateOf = (xml) => /<X509Certificate>([^<]*)/.exec(xml)[1];

/** Changes to the bytes of the signed type 31. */
const AFTER_SIGNING = {
  'changed-amount': (xml) => replaced(xml, '<MontoTotal>11430.00', '<MontoTotal>11430.01'),
  'changed-element-name': (xml) => replaced(xml, /MontoTotal>/g, 'MontoTotaL>'),
  'added-element': (xml) => replaced(xml, '<MontoTotal>', '<MontoExento>0.00</MontoExento><MontoTotal>'),
  'removed-element': (xml) => replaced(xml, /<CorreoEmisor>[^<]*<\/CorreoEmisor>/, ''),
  'added-attribute': (xml) => replaced(xml, '<MontoTotal>', '<MontoTotal a="1">'),
  'added-declaration': (xml) => replaced(xml, '<ECF ', '<ECF xmlns:b="urn:b" '),
  'blanks-inside-value': (xml) => replaced(xml, '<MontoTotal>11430.00', '<MontoTotal> 11430.00'),
  'changed-digest': (xml) => replaced(xml, /<DigestValue>..../, '<DigestValue>AAAA'),
  'changed-signature-value': (xml) => replaced(xml, /<SignatureValue>..../, '<SignatureValue>AAAA'),
  'other-certificate': (xml, { issuer }) => replaced(xml, certificateOf(xml), issuer),
  'unreadable-certificate': (xml) => replaced(xml, certificateOf(xml), 'MIIB'),
  'missing-certificate': (xml) => replaced(xml, /<X509Certificate>.*<\/X509Certificate>/, ''),
  'missing-signature': (xml) => replaced(xml, signatureOf(xml), ''),
  'two-signatures': (xml) => replaced(xml, '</Signature>', `</Signature>${signatureOf(xml)}`),
  'element-after-signature': (xml) => replaced(xml, '</Signature>', '</Signature><MontoTotal>1.00</MontoTotal>'),
  'signature-not-below-root': (xml) =>
    replaced(replaced(xml, signatureOf(xml), ''), '</Encabezado>', `${signatureOf(xml)}</Encabezado>`),
  'signed-document-inside-another': (xml) =>
    `${rootOf(xml)}<Encabezado><Version>1.0</Version></Encabezado>${replaced(xml, /^<\?.*?\?>/, '')}</ECF>`,
  'signed-content-moved': (xml) =>
    `${rootOf(xml)}<Encabezado><Version>1.0</Version></Encabezado><Viejo>${bodyOf(xml)}</Viejo>${signatureOf(xml)}</ECF>`,
  'reference-by-id': (xml) => replaced(replaced(xml, '<ECF ', '<ECF Id="x" '), 'URI=""', 'URI="#x"'),
  'two-references': (xml) => replaced(xml, '</SignedInfo>', `${/<Reference.*<\/Reference>/.exec(xml)[0]}</SignedInfo>`),
  'sha1-digest': (xml) => replaced(xml, 'http://www.w3.org/2001/04/xmlenc#sha256', `${XMLDSIG}sha1`),
  'rsa-sha1': (xml) => replaced(xml, 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256', `${XMLDSIG}rsa-sha1`),
  'canonical-with-comments': (xml) => replaced(xml, `"${C14N}"`, `"${C14N}#WithComments"`),
  'object-in-signature': (xml) => replaced(xml, '</KeyInfo>', '</KeyInfo><Object>x</Object>'),
  'key-without-certificate': (xml) => replaced(xml, /<X509Data>.*<\/X509Data>/, '<KeyName>x</KeyName>'),
  'comment-inside-value': (xml) => replaced(xml, '<MontoTotal>11430.00', '<MontoTotal>11430<!---->.00'),
  'processing-instruction': (xml) => replaced(xml, '<ECF ', '<?xml-stylesheet href="x"?><ECF '),
  'document-type': (xml) => replaced(xml, '<ECF ', '<!DOCTYPE ECF [<!ENTITY a "1">]><ECF '),
  'not-well-formed': (xml) => replaced(xml, '</Encabezado>', ''),
  'latin-1-bytes': (xml) => Buffer.from(xml, 'latin1'),
  'utf-16': (xml) => Buffer.from(`\ufeff${xml}`, 'utf16le'),
  'indented-after-signing': (xml) => xml.replace(/></g, '>\n<'),
  'comments-around-root': (xml) => `${replaced(xml, '<ECF ', '<!-- a --><ECF ')}<!-- b -->`,
  'without-prolog': (xml) => replaced(xml, /^<\?.*?\?>/, ''),
  'byte-order-mark': (xml) => `\ufeff${xml}`,
};

/** Documents with an error in their content, correctly signed. */
const BEFORE_SIGNING = {
  'unknown-element': ['ecf-31', (xml) => replaced(xml, '<MontoTotal>', '<MontoExtra>1.00</MontoExtra><MontoTotal>')],
  'element-out-of-order': ['ecf-31', (xml) => replaced(xml, /(<TipoeCF>31<\/TipoeCF>)(<eNCF>[^<]*<\/eNCF>)/, '$2$1')],
  'missing-element': ['ecf-31', (xml) => replaced(xml, /<RazonSocialEmisor>[^<]*<\/RazonSocialEmisor>/, '')],
  'repeated-element': ['ecf-31', (xml) => replaced(xml, /(<TipoPago>[^<]*<\/TipoPago>)/, '$1$1')],
  'empty-element': ['ecf-32', (xml) => replaced(xml, /<Comprador>.*<\/Comprador>/, '<Comprador></Comprador>')],
  'text-in-group': ['ecf-31', (xml) => replaced(xml, '<IdDoc>', '<IdDoc>x')],
  'bad-date': ['ecf-31', (xml) => replaced(xml, '<FechaEmision>15-06-2026', '<FechaEmision>2026-06-15')],
  'three-decimals': ['ecf-31', (xml) => replaced(xml, '<MontoTotal>11430.00', '<MontoTotal>11430.000')],
  'unlisted-code': ['ecf-31', (xml) => replaced(xml, '<TipoIngresos>01', '<TipoIngresos>07')],
  'unlisted-type': ['ecf-31', (xml) => replaced(xml, '<TipoeCF>31', '<TipoeCF>42')],
  'long-text': ['ecf-31', (xml) => replaced(xml, /<RazonSocialEmisor>[^<]*/, `<RazonSocialEmisor>${'x'.repeat(151)}`)],
  'impossible-day': ['ecf-31', (xml) => replaced(xml, '<FechaEmision>15-06-2026', '<FechaEmision>31-06-2026')],
  'number-of-another-type': ['ecf-31', (xml) => replaced(xml, '<eNCF>E31', '<eNCF>E33')],
  'lower-case-number': ['ecf-31', (xml) => replaced(xml, '<eNCF>E31', '<eNCF>e31')],
  'signed-in-the-future': [
    'ecf-31',
    (xml) => replaced(xml, /<FechaHoraFirma>[^<]*/, '<FechaHoraFirma>01-01-2099 00:00:00'),
  ],
  'wrong-total': ['ecf-31', (xml) => replaced(xml, '<MontoTotal>11430.00', '<MontoTotal>11530.00')],
  'wrong-check-digit': ['ecf-31', (xml) => replaced(xml, '<RNCComprador>188888885', '<RNCComprador>188888884')],
  'large-consumer-without-buyer': [
    'ecf-32-large',
    (xml) => replaced(xml, /<(RNCComprador|IdentificadorExtranjero)>[^<]*<\/\1>/, ''),
  ],
  'note-on-a-note': ['ecf-34', (xml) => replaced(xml, '<NCFModificado>E31', '<NCFModificado>E33')],
  'taxed-line-in-minor-expenses': [
    'ecf-43',
    (xml) => replaced(xml, '<IndicadorFacturacion>4', '<IndicadorFacturacion>1'),
  ],
  'rejection-without-reason': [
    'acecf',
    (xml) => replaced(xml, /<DetalleMotivoRechazo>[^<]*<\/DetalleMotivoRechazo>/, ''),
  ],
  'overlapping-ranges': [
    'anecf',
    (xml) => replaced(replaced(xml, 'E310000000060', 'E310000000050'), 'E310000000068', 'E310000000058'),
  ],
};

/** The bytes of every tampered document by its name. */
export async function tampered({ signed, issuer }) {
  const invoice = await signed('ecf-31');
  const files = new Map();
  for (const [name, change] of Object.entries(AFTER_SIGNING)) {
    files.set(name, Buffer.from(change(invoice, { issuer })));
  }
  for (const [name, [example, change]] of Object.entries(BEFORE_SIGNING)) {
    files.set(name, Buffer.from(await signed(example, change)));
  }
  return files;
}
