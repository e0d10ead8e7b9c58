import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { testKey } from '@ecf/test-support';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { signXml, type VerificationCode, verifyXml } from '../src/index.js';
import { EXCLUSIVE_C14N, INCLUSIVE_C14N, XMLDSIG } from '../src/profiles/authority.js';
import { authority, certificate, ecf, issued, now } from './samples.js';

let signed: string;
let signature: string;
let body: string;

beforeAll(async () => {
  signed = (await signXml(ecf, certificate)).xml;
  signature = signed.slice(signed.indexOf('<Signature '), signed.indexOf('</ECF>'));
  body = ecf.output.slice(ecf.output.indexOf('>') + 1, -'</ECF>'.length);
});

function code(xml: string): VerificationCode | 'valid' {
  const verification = verifyXml(Buffer.from(xml), now);
  if (verification.signature === 'valid') return 'valid';
  expect(verification).toMatchObject({ canonical: null, certificate: null, verified: null, signatureValue: null });
  expect(verification.reason?.message).toMatch(/^[A-Z].* /);
  return verification.reason!.code;
}

/** Signs any SignedInfo with the holder's key, so that only the rule under test can refuse it. */
function resigned(document: string, signedInfo: string, rest = '', attributes = ''): string {
  const canonical = signedInfo.replace('<SignedInfo', `<SignedInfo xmlns="${XMLDSIG}"`);
  const value = sign('sha256', Buffer.from(canonical), certificate.privateKey).toString('base64');
  return document.replace(
    '</ECF>',
    `<Signature xmlns="${XMLDSIG}"${attributes}>${signedInfo}<SignatureValue>${value}</SignatureValue><KeyInfo><X509Data><X509Certificate>${certificate.certificate}</X509Certificate></X509Data></KeyInfo>${rest}</Signature></ECF>`,
  );
}

const plain = '<ECF><A>1</A></ECF>';
const digest = createHash('sha256').update(plain).digest('base64');
const element = (name: string, algorithm: string) => `<${name} Algorithm="${algorithm}"></${name}>`;
const signedInfoOf = (change: (text: string) => string = (text) => text): string =>
  change(
    `<SignedInfo>${element('CanonicalizationMethod', INCLUSIVE_C14N)}${element('SignatureMethod', 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256')}<Reference URI=""><Transforms>${element('Transform', `${XMLDSIG}enveloped-signature`)}</Transforms>${element('DigestMethod', 'http://www.w3.org/2001/04/xmlenc#sha256')}<DigestValue>${digest}</DigestValue></Reference></SignedInfo>`,
  );

describe('a SignedInfo that was signed with blanks inside', () => {
  it('is valid, and software that drops them refuses it', () => {
    const indented = signedInfoOf((text) => text.replaceAll('><', '>\n  <'));
    expect(verifyXml(Buffer.from(resigned(plain, indented)), now)).toMatchObject({
      signature: 'valid',
      canonical: 'as-is',
      refusedElsewhere: 'blanks',
    });
    const compact = resigned(plain, signedInfoOf());
    expect(verifyXml(Buffer.from(compact), now)).toMatchObject({ signature: 'valid', refusedElsewhere: null });
  });
});

describe('a document changed after signing', () => {
  it('is refused wherever it was changed', () => {
    const changes: [string, string | RegExp, string, VerificationCode][] = [
      ['a value', '118.00', '118.01', 'digest_mismatch'],
      ['an element name', /MontoTotal/g, 'MontoTotaL', 'digest_mismatch'],
      ['an added element', '<MontoTotal>', '<X>1</X><MontoTotal>', 'digest_mismatch'],
      ['a left out element', '<Version>1.0</Version>', '', 'digest_mismatch'],
      ['an added attribute', '<MontoTotal>', '<MontoTotal a="1">', 'digest_mismatch'],
      ['blanks inside a value', '>118.00<', '> 118.00<', 'digest_mismatch'],
      ['an added declaration', ' xmlns:xsi=', ' xmlns:b="urn:b" xmlns:xsi=', 'digest_mismatch'],
      ['the digest', /<DigestValue>..../, '<DigestValue>AAAA', 'digest_mismatch'],
      ['the signature', /<SignatureValue>..../, '<SignatureValue>AAAA', 'signature_mismatch'],
      ['a shorter signature', /(<SignatureValue>)..../, '$1', 'signature_mismatch'],
      ['text after the signature', '</Signature>', '</Signature>x', 'signature_misplaced'],
      ['an element after the signature', '</Signature>', '</Signature><X>1</X>', 'signature_misplaced'],
    ];
    for (const [what, from, to, expected] of changes) {
      const changed = signed.replace(from, to);
      expect(changed).not.toBe(signed);
      expect([what, code(changed)]).toEqual([what, expected]);
    }
  });

  it('is refused with another holder’s certificate, key or without any', () => {
    const other = authority.issue({
      commonName: 'Otra',
      holderId: '2',
      notBefore: new Date('2020-01-01'),
      notAfter: new Date('2045-01-01'),
      password: 'x',
      key: testKey(2),
    });
    const swapped = signed.replace(certificate.certificate, other.pem.replace(/-----[^-]+-----|\s/g, ''));
    expect(code(swapped)).toBe('signature_mismatch');
    expect(code(signed.replace(/<X509Certificate>.*<\/X509Certificate>/, ''))).toBe('certificate_missing');
    expect(code(signed.replace(/<X509Certificate>[^<]*/, '<X509Certificate>MIIB'))).toBe('certificate_unreadable');
    expect(code(signed.replace(/<X509Certificate>[^<]*/, '<X509Certificate>'))).toBe('signature_structure');
    expect(code(signed.replace(/<X509Certificate>/, '<X509Certificate>-----BEGIN'))).toBe('signature_structure');
    expect(code(signed.replace(/<KeyInfo>.*<\/KeyInfo>/, ''))).toBe('signature_structure');
  });

  it('is never valid with other content after a change of any byte', () => {
    const bytes = Buffer.from(signed);
    let valid = 0;
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes);
      changed[at] = changed[at]! ^ (1 << (at % 7));
      const { verified } = verifyXml(changed, now);
      if (verified === null) continue;
      valid++;
      expect(verified.text).toBe(ecf.canonical);
    }
    // Some bytes are not signed: the prolog, and all of the certificate but its key, which its issuer certifies.
    expect(valid).toBeLessThan(bytes.length / 5);
  });

  it('is never valid with other content after cuts, repeats or exchanges', () => {
    const tokens = signed.match(/<[^>]*>|[^<]+/g)!;
    let seed = 20260623;
    const random = (below: number): number => {
      seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
      return (seed >>> 8) % below;
    };
    for (let round = 0; round < 3000; round++) {
      const changed = [...tokens];
      const [from, to] = [random(tokens.length), random(tokens.length)];
      const kind = random(3);
      if (kind === 0) changed.splice(Math.min(from, to), Math.abs(from - to) % 12);
      else if (kind === 1) changed.splice(from, 0, ...tokens.slice(to, to + 1 + random(12)));
      else [changed[from], changed[to]] = [changed[to]!, changed[from]!];
      const { verified } = verifyXml(Buffer.from(changed.join('')), now);
      if (verified !== null) expect(verified.text).toBe(ecf.canonical);
    }
  });
});

describe('signature wrapping', () => {
  const root = () => ecf.output.slice(0, ecf.output.indexOf('>') + 1);
  const evil = '<Encabezado><Version>1.0</Version></Encabezado><MontoTotal>9.00</MontoTotal>';

  const forms: [string, () => string, VerificationCode][] = [
    [
      'the signed document inside another',
      () => `${root()}${evil}${signed.replace(/^<\?.*?\?>/, '')}</ECF>`,
      'signature_misplaced',
    ],
    [
      'the same with the signature taken out to the end',
      () => `${root()}${evil}<Wrapped>${body}</Wrapped>${signature}</ECF>`,
      'digest_mismatch',
    ],
    [
      'the signature deeper',
      () => `${root()}${body.replace('</Encabezado>', `${signature}</Encabezado>`)}</ECF>`,
      'signature_misplaced',
    ],
    ['the signature first', () => `${root()}${signature}${body}</ECF>`, 'signature_misplaced'],
    ['two signatures', () => `${root()}${body}${signature}${signature}</ECF>`, 'several_signatures'],
    [
      'a second one deeper',
      () => `${root()}${body.replace('</Encabezado>', `${signature}</Encabezado>`)}${signature}</ECF>`,
      'several_signatures',
    ],
    [
      'a second one under a prefix',
      () => signed.replace('<MontoTotal>', `<d:Signature xmlns:d="${XMLDSIG}"/><MontoTotal>`),
      'several_signatures',
    ],
    ['one inside the KeyInfo', () => signed.replace('</KeyInfo>', `${signature}</KeyInfo>`), 'several_signatures'],
    [
      'one inside an Object',
      () => signed.replace('</KeyInfo>', `</KeyInfo><Object>${signature}</Object>`),
      'several_signatures',
    ],
    [
      'the document in an Object',
      () =>
        `${root()}${evil}${signature.replace('</KeyInfo>', `</KeyInfo><Object><ECF Id="x">${body}</ECF></Object>`).replace('URI=""', 'URI="#x"')}</ECF>`,
      'signature_structure',
    ],
    [
      'a detached copy by Id',
      () => `${root()}${evil}<Old Id="x">${body}</Old>${signature.replace('URI=""', 'URI="#x"')}</ECF>`,
      'reference_refused',
    ],
    [
      'the root by Id',
      () => signed.replace('<ECF ', '<ECF Id="x" ').replace('URI=""', 'URI="#x"'),
      'reference_refused',
    ],
    ['an xpointer', () => signed.replace('URI=""', 'URI="#xpointer(/)"'), 'reference_refused'],
    ['a file', () => signed.replace('URI=""', 'URI="file:///etc/passwd"'), 'reference_refused'],
    ['no URI', () => signed.replace(' URI=""', ''), 'reference_refused'],
    ['the signature as root', () => signature, 'signature_misplaced'],
    ['no signature', () => ecf.output, 'signature_missing'],
    ['a Signature of no namespace', () => signed.replace(` xmlns="${XMLDSIG}"`, ''), 'signature_missing'],
    [
      'a namespace that only looks alike',
      () => signed.replace(`"${XMLDSIG}"`, '"http://www.w3.org/2000/09/xmldsig"'),
      'signature_missing',
    ],
    [
      'children of another namespace',
      () => signed.replace('<SignedInfo>', '<SignedInfo xmlns="urn:x">'),
      'signature_structure',
    ],
    ['two SignedInfo', () => signed.replace('</SignedInfo>', `</SignedInfo>${signedInfoOf()}`), 'signature_structure'],
    [
      'two SignatureValue',
      () => signed.replace('<KeyInfo>', '<SignatureValue>AAAA</SignatureValue><KeyInfo>'),
      'signature_structure',
    ],
    [
      'two Reference',
      () => signed.replace('</SignedInfo>', `${signed.match(/<Reference.*<\/Reference>/)![0]}</SignedInfo>`),
      'reference_refused',
    ],
    ['text between the parts', () => signed.replace('<SignedInfo>', 'x<SignedInfo>'), 'signature_structure'],
    [
      'an element inside DigestValue',
      () => signed.replace('<DigestValue>', '<DigestValue><a/>'),
      'signature_structure',
    ],
    ['a comment inside a value', () => signed.replace('118.00', '118<!---->.00'), 'comment_or_instruction'],
    [
      'a comment inside the digest',
      () => signed.replace('<DigestValue>', '<DigestValue><!-- -->'),
      'comment_or_instruction',
    ],
    [
      'a comment inside and one after the root',
      () => `${signed.replace('118.00', '118<!---->.00')}<!-- -->`,
      'comment_or_instruction',
    ],
    ['an instruction after the root', () => `${signed}<?x y?>`, 'comment_or_instruction'],
    ['an instruction inside a value', () => signed.replace('118.00', '118<?x ?>.00'), 'comment_or_instruction'],
    [
      'an instruction before the root',
      () => signed.replace('<ECF', '<?xml-stylesheet href="x"?><ECF'),
      'comment_or_instruction',
    ],
    ['a document type', () => signed.replace('<ECF', '<!DOCTYPE ECF [<!ENTITY a "1">]><ECF'), 'xml_refused'],
    ['two roots', () => `${signed}<ECF/>`, 'xml_refused'],
    ['bytes that are not XML', () => 'no XML', 'xml_refused'],
    ['nothing', () => '', 'xml_refused'],
  ];
  it.each(forms)('%s is refused', (_, form, expected) => {
    expect(code(form())).toBe(expected);
  });

  it('leaves elements alone that are merely called Signature', async () => {
    const canonical = ecf.canonical.replace(
      '<MontoTotal>',
      '<Firma xmlns="urn:x"><Signature></Signature></Firma><MontoTotal>',
    );
    expect(
      code(
        (
          await signXml({ canonical, output: canonical.replace('></Signature>', '/>') }, certificate).catch(() => ({
            xml: '',
          }))
        ).xml,
      ),
    ).toBe('xml_refused');
    const nested = plain.replace('<A>', '<b:Signature xmlns:b="urn:b">x</b:Signature><A>');
    const digestOfNested = createHash('sha256').update(nested).digest('base64');
    expect(
      code(
        resigned(
          nested,
          signedInfoOf((text) => text.replace(digest, digestOfNested)),
        ),
      ),
    ).toBe('valid');
  });
});

describe('a signature that verifies but is not of the profile', () => {
  const transform = (algorithm: string, content = '') => `<Transform Algorithm="${algorithm}">${content}</Transform>`;
  const enveloped = element('Transform', `${XMLDSIG}enveloped-signature`);
  const replaced = (from: string, to: string) => () =>
    resigned(
      plain,
      signedInfoOf((text) => text.replace(from, to)),
    );

  const cases: [string, () => string, VerificationCode | 'valid'][] = [
    ['nothing changed', () => resigned(plain, signedInfoOf()), 'valid'],
    [
      'Id attributes, which nothing refers to',
      () =>
        resigned(
          plain,
          signedInfoOf((text) => text.replace('<SignedInfo>', '<SignedInfo Id="s">')),
          '',
          ' Id="x"',
        ),
      'valid',
    ],
    ['SHA-1 digest', replaced('http://www.w3.org/2001/04/xmlenc#sha256', `${XMLDSIG}sha1`), 'foreign_algorithm'],
    [
      'RSA-SHA1',
      replaced('http://www.w3.org/2001/04/xmldsig-more#rsa-sha256', `${XMLDSIG}rsa-sha1`),
      'foreign_algorithm',
    ],
    [
      'HMAC with the certificate as its key',
      replaced('xmldsig-more#rsa-sha256', 'xmldsig-more#hmac-sha256'),
      'foreign_algorithm',
    ],
    ['canonicalisation with comments', replaced(INCLUSIVE_C14N, `${INCLUSIVE_C14N}#WithComments`), 'foreign_algorithm'],
    ['Canonical XML 1.1', replaced(INCLUSIVE_C14N, 'http://www.w3.org/2006/12/xml-c14n11'), 'foreign_algorithm'],
    ['no algorithm', replaced(` Algorithm="${INCLUSIVE_C14N}"`, ''), 'foreign_algorithm'],
    ['no transform', replaced(enveloped, ''), 'signature_structure'],
    ['no Transforms', replaced(`<Transforms>${enveloped}</Transforms>`, ''), 'signature_structure'],
    ['enveloped twice', replaced(enveloped, enveloped + enveloped), 'foreign_algorithm'],
    [
      'enveloped after canonicalisation',
      replaced(enveloped, transform(INCLUSIVE_C14N) + enveloped),
      'foreign_algorithm',
    ],
    [
      'three transforms',
      replaced(enveloped, enveloped + transform(EXCLUSIVE_C14N) + transform(EXCLUSIVE_C14N)),
      'signature_structure',
    ],
    [
      'XPath',
      replaced(
        enveloped,
        enveloped + transform('http://www.w3.org/TR/1999/REC-xpath-19991116', '<XPath>not(//A)</XPath>'),
      ),
      'foreign_algorithm',
    ],
    [
      'XSLT',
      replaced(enveloped, enveloped + transform('http://www.w3.org/TR/1999/REC-xslt-19991116', '<x></x>')),
      'foreign_algorithm',
    ],
    ['base64', replaced(enveloped, enveloped + transform(`${XMLDSIG}base64`)), 'foreign_algorithm'],
    [
      'something inside a transform',
      replaced(enveloped, transform(`${XMLDSIG}enveloped-signature`, '<XPath>1</XPath>')),
      'signature_structure',
    ],
    [
      'a length for the signature method',
      replaced(
        'rsa-sha256"></SignatureMethod>',
        'rsa-sha256"><HMACOutputLength>1</HMACOutputLength></SignatureMethod>',
      ),
      'signature_structure',
    ],
    [
      'a typed Reference',
      replaced('<Reference URI="">', `<Reference Type="${XMLDSIG}Manifest" URI="">`),
      'signature_structure',
    ],
    ['an Object', () => resigned(plain, signedInfoOf(), '<Object><x>1</x></Object>'), 'signature_structure'],
    [
      'a Manifest',
      () => resigned(plain, signedInfoOf(), '<Object><Manifest></Manifest></Object>'),
      'signature_structure',
    ],
    ['attributes of the Signature', () => resigned(plain, signedInfoOf(), '', ' a="1"'), 'signature_structure'],
    [
      'a pointer to a key elsewhere',
      () => resigned(plain, signedInfoOf()).replace('<KeyInfo>', '<KeyInfo><RetrievalMethod URI="http://x/"/>'),
      'signature_structure',
    ],
    [
      'a key without certificate',
      () => resigned(plain, signedInfoOf()).replace(/<X509Data>.*<\/X509Data>/, '<KeyValue>x</KeyValue>'),
      'certificate_missing',
    ],
    [
      'nine certificates',
      () =>
        resigned(plain, signedInfoOf()).replace(
          '<X509Data>',
          `<X509Data>${'<X509Certificate>MIIB</X509Certificate>'.repeat(8)}`,
        ),
      'certificate_unreadable',
    ],
    [
      'two hundred parts',
      () =>
        resigned(plain, signedInfoOf()).replace(
          '<X509Data>',
          `<X509Data>${'<X509SubjectName>x</X509SubjectName>'.repeat(200)}`,
        ),
      'signature_structure',
    ],
  ];
  it.each(cases)('%s', (_, form, expected) => {
    expect(code(form())).toBe(expected);
  });

  it.each([
    ['an elliptic curve', generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey],
    ['RSA-PSS', generateKeyPairSync('rsa-pss', { modulusLength: 1024 }).privateKey],
    ['a short RSA key', generateKeyPairSync('rsa', { modulusLength: 768 }).privateKey],
    ['a huge exponent', generateKeyPairSync('rsa', { modulusLength: 1024, publicExponent: 3 }).privateKey],
  ])('%s as key', (name, key) => {
    const { pem } = authority.issue({
      commonName: 'x',
      holderId: '1',
      notBefore: new Date('2020-01-01'),
      notAfter: new Date('2045-01-01'),
      password: 'x',
      key,
    });
    const xml = signed.replace(certificate.certificate, pem.replace(/-----[^-]+-----|\s/g, ''));
    // The last one only shows that exponent 3, which old issuers used, is not a reason to refuse.
    expect(code(xml)).toBe(name === 'a huge exponent' ? 'signature_mismatch' : 'certificate_key');
  });
});

describe('hostile size', () => {
  it('is bounded: many elements, deep nesting, many attributes, long text, many blanks', () => {
    const long = 'x'.repeat(5_000_000);
    expect(code(`<ECF>${'<a>1</a>'.repeat(500_000)}${signature}</ECF>`)).toBe('digest_mismatch');
    expect(code(`<ECF>${'<a>'.repeat(250)}${'</a>'.repeat(250)}${signature}</ECF>`)).toBe('digest_mismatch');
    expect(code(`<ECF>${'<a>'.repeat(5000)}`)).toBe('xml_refused');
    expect(code(`<ECF>${long}${signature}</ECF>`)).toBe('digest_mismatch');
    expect(code(`<ECF>${' '.repeat(5_000_000)}${signature}${' '.repeat(5_000_000)}</ECF>`)).toBe('digest_mismatch');
    expect(code(signed.replace('<SignatureValue>', `<SignatureValue>${long}`))).toBe('signature_mismatch');
    expect(code(signed.replace('<X509Certificate>', `<X509Certificate>${long}`))).toBe('certificate_unreadable');
    expect(code(signed.replace('<SignatureValue>', `<SignatureValue>${' \n'.repeat(2_000_000)}`))).toBe('valid');
    const exclusive = signed.replaceAll(INCLUSIVE_C14N, EXCLUSIVE_C14N);
    // The cost of each element's namespaces is bounded before canonicalisation.
    const declared = Array.from({ length: 60 }, (_, i) => ` xmlns:p${i}="urn:${i}" p${i}:a="1"`);
    expect(code(exclusive.replace('<MontoTotal>', `${'<p:q xmlns:p="urn:p"/>'.repeat(200_000)}<MontoTotal>`))).toBe(
      'digest_mismatch',
    );
    expect(
      code(
        exclusive.replace(
          '<MontoTotal>',
          `<p ${declared.slice(0, 30).join('')}>${'<p29:x p1:b="2"/>'.repeat(100_000)}</p><MontoTotal>`,
        ),
      ),
    ).toBe('xml_refused');
    expect(
      code(
        exclusive.replace(
          '<MontoTotal>',
          `<p ${declared.slice(0, 30).join('')}>${'<p29:x p1:b="2"/>'.repeat(10_000)}</p><MontoTotal>`,
        ),
      ),
    ).toBe('digest_mismatch');
  });
});

it('does not name the password or the key anywhere', () => {
  expect(JSON.stringify(verifyXml(Buffer.from(signed), now))).not.toContain(issued.password);
});
