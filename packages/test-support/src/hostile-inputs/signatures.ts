import { BAD, BAD_SIGNATURE, bare, forge, type Hostile, SIGNATURE, unreadable } from './input.js';

const signatureOf = (xml: string) => SIGNATURE.exec(xml)?.[0] ?? '';
const inSignature = (xml: string, from: string | RegExp, to: string) =>
  xml.replace(signatureOf(xml), (s) => s.replace(from, to));

const REFERENCE = /<Reference .*<\/Reference>/s;
const TRANSFORM = /<Transform [^>]*>(?:<\/Transform>)?/;

/** Signatures that are made to verify something else than what is read. */
export const signatures: readonly Hostile[] = [
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
    name: 'a second Signature under a prefix',
    make: (xml) => {
      const prefixed = signatureOf(xml)
        .replace('xmlns=', 'xmlns:d=')
        .replace(/<(\/?)(?=\w)/g, '<$1d:');
      return xml.replace('<DetallesItems>', `${prefixed}<DetallesItems>`);
    },
    answer: BAD,
  },
  {
    name: 'a second Signature in the KeyInfo',
    make: (xml) => xml.replace('</KeyInfo>', `${signatureOf(xml)}</KeyInfo>`),
    answer: BAD,
  },
  {
    name: 'the Signature before the content',
    make: (xml) => {
      const [start = ''] = /<ECF[^>]*>/.exec(xml) ?? [];
      return xml.replace(SIGNATURE, '').replace(start, `${start}${signatureOf(xml)}`);
    },
    answer: BAD,
  },
  {
    name: 'the Signature as the root',
    make: (xml) => signatureOf(xml),
    answer: unreadable('document.not_an_ecf'),
  },
  {
    name: 'the Signature around the document',
    make: (xml) =>
      bare(xml)
        .replace(SIGNATURE, '')
        .replace(/^.*$/s, (document) =>
          signatureOf(xml).replace('</Signature>', `<Object>${document}</Object></Signature>`),
        ),
    answer: { motive: ['1'] },
  },
  {
    name: 'a genuine copy by Id beside the forged content',
    make: (xml) => {
      const content = /<ECF[^>]*>(.*)<Signature /s.exec(xml)?.[1] ?? '';
      const referring = signatureOf(xml).replace('URI=""', 'URI="#genuine"');
      return forge(xml).replace(SIGNATURE, `<Old Id="genuine">${content}</Old>${referring}`);
    },
    answer: BAD,
  },
  {
    name: 'two elements of one Id',
    make: (xml) =>
      inSignature(forge(xml), 'URI=""', 'URI="#same"')
        .replace('<ECF ', '<ECF Id="same" ')
        .replace('<Encabezado>', '<Encabezado Id="same">'),
    answer: BAD,
  },
  {
    name: 'a Manifest',
    make: (xml) =>
      inSignature(
        forge(xml),
        '</Signature>',
        `<Object><Manifest>${REFERENCE.exec(xml)?.[0]}</Manifest></Object></Signature>`,
      ),
    answer: BAD_SIGNATURE,
  },
  {
    name: 'a key elsewhere',
    make: (xml) => inSignature(xml, '<KeyInfo>', '<KeyInfo><RetrievalMethod URI="http://127.0.0.1:9/key"/>'),
    answer: BAD_SIGNATURE,
  },
  {
    name: 'two values',
    make: (xml) => inSignature(xml, '<KeyInfo>', '<SignatureValue>AAAA</SignatureValue><KeyInfo>'),
    answer: BAD_SIGNATURE,
  },
  {
    name: 'canonicalisation with comments',
    make: (xml) => inSignature(xml, 'REC-xml-c14n-20010315', 'REC-xml-c14n-20010315#WithComments'),
    answer: BAD_SIGNATURE,
  },
  {
    name: 'the digest of the forged content, the old signature',
    make: (xml) => inSignature(forge(xml), /<DigestValue>..../, '<DigestValue>AAAA'),
    answer: BAD_SIGNATURE,
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
