import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { SignedXml } from 'xml-crypto';
import { signatureWarnings, verifyXml } from '../src/index.js';
import { ENVELOPED, EXCLUSIVE_C14N, INCLUSIVE_C14N, RSA_SHA256, SHA256 } from '../src/profiles/authority.js';
import { authority, certificate, ecf, issued, now } from './samples.js';

const folder = mkdtempSync(join(tmpdir(), 'xml-signing-'));
afterAll(() => rmSync(folder, { recursive: true }));

const xmlsec = spawnSync('xmlsec1', ['--version']).status === 0;
const withXmlsec = xmlsec ? it : it.skip;
if (!xmlsec) console.warn('xmlsec1 is not installed: what it would sign is skipped');

interface Choice {
  readonly signedInfo?: string;
  readonly transforms?: string[];
  readonly prefix?: string;
}

function signWithXmlCrypto(
  xml: string,
  { signedInfo = INCLUSIVE_C14N, transforms = [ENVELOPED], prefix }: Choice = {},
) {
  const signer = new SignedXml({
    privateKey: issued.key,
    publicCert: issued.pem,
    signatureAlgorithm: RSA_SHA256,
    canonicalizationAlgorithm: signedInfo as typeof INCLUSIVE_C14N,
  });
  signer.addReference({ xpath: '/*', isEmptyUri: true, transforms, digestAlgorithm: SHA256 });
  signer.computeSignature(xml, {
    location: { reference: '/*', action: 'append' },
    ...(prefix === undefined ? {} : { prefix }),
  });
  return signer.getSignedXml();
}

function signWithXmlsec(document: string, signedInfo: string, transforms: string): string {
  const template = `<Signature xmlns="http://www.w3.org/2000/09/xmldsig#">
  <SignedInfo>
    <CanonicalizationMethod Algorithm="${signedInfo}"/>
    <SignatureMethod Algorithm="${RSA_SHA256}"/>
    <Reference URI="">
      <Transforms>${transforms}</Transforms>
      <DigestMethod Algorithm="${SHA256}"/>
      <DigestValue/>
    </Reference>
  </SignedInfo>
  <SignatureValue/>
  <KeyInfo><X509Data><X509Certificate/></X509Data></KeyInfo>
</Signature>`;
  const file = join(folder, 'template.xml');
  writeFileSync(file, document.replace('</ECF>', `${template}</ECF>`));
  writeFileSync(join(folder, 'key.pem'), issued.key);
  writeFileSync(join(folder, 'holder.pem'), issued.pem);
  writeFileSync(join(folder, 'authority.pem'), authority.pem);
  const keys = ['key.pem', 'holder.pem', 'authority.pem'].map((name) => join(folder, name)).join(',');
  const output = join(folder, 'signed.xml');
  const run = spawnSync('xmlsec1', ['--sign', '--privkey-pem', keys, '--output', output, file]);
  if (run.status !== 0) throw new Error(run.stderr.toString());
  return readFileSync(output, 'utf8');
}

function expectValid(xml: string | Buffer, canonical: 'as-is' | 'whitespace-dropped' = 'as-is') {
  const verification = verifyXml(Buffer.from(xml), now);
  expect(verification).toMatchObject({ signature: 'valid', reason: null, canonical });
  expect(verification.certificate).toMatchObject({ fingerprint: certificate.fingerprint, valid_at_signing: true });
  return verification;
}

const signed = signWithXmlCrypto(ecf.output);
const indented = (xml: string) =>
  xml.replace(/(<\/[^>]+>|<[^/>]+\/>)(?=<)/g, '$1\n  ').replace(/(<ECF[^>]*>)/, '$1\r\n\t');

describe('signatures of xml-crypto', () => {
  const exclusiveWithPrefixes = { signedInfo: EXCLUSIVE_C14N, transforms: [ENVELOPED, EXCLUSIVE_C14N] };
  const choices: [string, Choice][] = [
    ['the profile', {}],
    ['a prefix', { prefix: 'ds' }],
    ['exclusive SignedInfo', { signedInfo: EXCLUSIVE_C14N }],
    ['exclusive SignedInfo and document', exclusiveWithPrefixes],
    ['exclusive throughout, with a prefix', { ...exclusiveWithPrefixes, prefix: 'ds' }],
    ['an inclusive transform spelt out', { transforms: [ENVELOPED, INCLUSIVE_C14N] }],
  ];
  it.each(choices)('verify with %s', (_, choice) => {
    const xml = signWithXmlCrypto(ecf.output, choice);
    const { verified } = expectValid(xml);
    if (choice.transforms?.[1] !== EXCLUSIVE_C14N) expect(verified?.text).toBe(ecf.canonical);
    else expect(verified?.text).toBe(ecf.canonical.replace(/^<ECF[^>]*>/, '<ECF>'));
    expect(verifyXml(Buffer.from(xml.replace('118.00', '118.01'))).reason?.code).toBe('digest_mismatch');
  });

  it('verify with namespaces in every position', () => {
    const document =
      '<a:ECF xmlns:z="urn:z" xmlns:a="urn:a" xmlns="urn:d" z:y="1" a:x="2" b="3"><b xmlns=""><c xmlns="urn:d" z:q=""/><a:c/></b><z:d xmlns:z="urn:other"><z:e z:f="&lt;>"/></z:d></a:ECF>';
    for (const [, choice] of choices) expectValid(signWithXmlCrypto(document, choice));
  });
});

describe('signatures of xmlsec1', () => {
  const enveloped = `<Transform Algorithm="${ENVELOPED}"/>`;
  const exclusive = (prefixes: string) =>
    `<Transform Algorithm="${EXCLUSIVE_C14N}"><InclusiveNamespaces xmlns="${EXCLUSIVE_C14N}" PrefixList="${prefixes}"/></Transform>`;
  const cases: [string, string, string][] = [
    ['the profile', INCLUSIVE_C14N, enveloped],
    ['exclusive', EXCLUSIVE_C14N, `${enveloped}<Transform Algorithm="${EXCLUSIVE_C14N}"/>`],
    ['exclusive with a list', INCLUSIVE_C14N, `${enveloped}${exclusive('xsi #default')}`],
    ['exclusive with an absent prefix', EXCLUSIVE_C14N, `${enveloped}${exclusive('nope xsd')}`],
  ];
  withXmlsec.each(cases)('verify: %s, value wrapped over lines, chain in X509Data', (_, signedInfo, transforms) => {
    const xml = signWithXmlsec(ecf.output, signedInfo, transforms);
    const { certificate: facts, signatureValue } = expectValid(xml);
    expect(/<SignatureValue>[^<]*\n/.test(xml)).toBe(true);
    expect(signatureValue).toMatch(/^[A-Za-z0-9+/=]{344}$/);
    expect(facts?.others.length).toBe((xml.match(/<X509Certificate>/g)?.length ?? 0) - 1);
  });

  withXmlsec('inherit attributes of the xml namespace', () => {
    const document = '<ECF xml:lang="es" xmlns:xsi="urn:i" xml:space="default"><A xml:lang="en">1</A></ECF>';
    expectValid(signWithXmlsec(document, INCLUSIVE_C14N, enveloped));
    expectValid(signWithXmlsec(document, EXCLUSIVE_C14N, `${enveloped}${exclusive('xsi')}`));
  });
});

describe('a signed document as it travels', () => {
  it('verifies with byte order mark, CRLF, without prolog, with comments before and behind the root', () => {
    expectValid(`\ufeff${signed}`);
    expectValid(signed.replace(/^<\?xml[^>]*>/, ''));
    expectValid(
      `<?xml version='1.0' encoding='UTF-8'?>\r\n<!-- made by a cash desk -->\n${signed.replace(/^<\?xml[^>]*>/, '')}\r\n`,
    );
    expectValid(`${signed}\n<!-- sent by <!a> -->\n<!-- -> -->\n`);
    const crlf = signWithXmlCrypto(ecf.output.replace(/></g, '>\n<'));
    expectValid(crlf.replaceAll('\n', '\r\n'));
  });

  it('verifies when it was indented after signing, and reports that', () => {
    const { verified } = expectValid(indented(signed), 'whitespace-dropped');
    expect(verified?.text).toBe(ecf.canonical);
    expectValid(indented(signed).replaceAll('\n', '\r\n'), 'whitespace-dropped');
  });

  it('verifies as received when it was signed with its indentation', () => {
    const { verified } = expectValid(signWithXmlCrypto(indented(ecf.output)));
    expect(verified?.text).toContain('\n  ');
  });

  it('verifies with values wrapped over lines, carriage returns as references among them', () => {
    const wrapped = signed.replace(
      /(<SignatureValue>|<X509Certificate>)([^<]+)/g,
      (_, tag, value) => `${tag}\n${value.match(/.{1,76}/g).join('&#13;\n')}\n`,
    );
    expect(expectValid(wrapped).signatureValue).toMatch(/^[A-Za-z0-9+/=]{344}$/);
  });

  it('finds the signer among several certificates, in one X509Data or several, in any order', () => {
    const root = authority.pem.replace(/-----[^-]+-----|\s/g, '');
    const other = `<X509Certificate>${root}</X509Certificate>`;
    const first = signed.replace('<X509Certificate>', `${other}<X509Certificate>`);
    expect(expectValid(first).certificate?.others).toEqual([root]);
    expectValid(signed.replace('</X509Data>', `${other}<X509SubjectName>CN=x</X509SubjectName></X509Data>`));
    expectValid(signed.replace('<X509Data>', `<KeyName>k</KeyName><X509Data>${other}</X509Data><X509Data>`));
    expectValid(signed.replace('<X509Certificate>', '<X509Certificate>MIIB</X509Certificate><X509Certificate>'));
  });
});

describe('a signature that other software refuses', () => {
  const refusals = (xml: string) => {
    const verification = verifyXml(Buffer.from(xml), now);
    expect(verification.signature).toBe('valid');
    return signatureWarnings(verification, 'ECF').map(({ rule, path, severity, message }) => {
      expect([rule, path, severity]).toEqual(['signature.blanks', 'ECF', 'warning']);
      return message.includes('carriage returns') ? 'carriage-returns' : 'blanks';
    });
  };
  const plain = ecf.output.replaceAll('&#xD;', '');

  it('is reported if it holds only with the blanks between elements', () => {
    expect(refusals(signWithXmlCrypto(plain))).toEqual([]);
    expect(refusals(signWithXmlCrypto(indented(plain)))).toEqual(['blanks']);
    expect(refusals(signWithXmlCrypto(indented(plain), { transforms: [ENVELOPED, EXCLUSIVE_C14N] }))).toEqual([
      'blanks',
    ]);
  });

  withXmlsec('is reported if it holds only with the blanks inside SignedInfo', () => {
    expect(refusals(signWithXmlsec(plain, INCLUSIVE_C14N, `<Transform Algorithm="${ENVELOPED}"/>`))).toEqual([
      'blanks',
    ]);
  });

  it('is not reported if the blanks came after signing', () => {
    expect(refusals(indented(signWithXmlCrypto(plain)))).toEqual([]);
    expect(refusals(signWithXmlCrypto(plain).replace('<KeyInfo>', '\n <KeyInfo>\n '))).toEqual([]);
  });

  it('is reported if a signed text has a carriage return as a reference, whatever the blanks', () => {
    expect(refusals(signed)).toEqual(['carriage-returns']);
    expect(refusals(signWithXmlCrypto(plain.replace('118.00', '118.00&#13;')))).toEqual(['carriage-returns']);
    expect(refusals(indented(signed))).toEqual(['carriage-returns']);
    expect(refusals(signWithXmlCrypto(indented(ecf.output)))).toEqual(['blanks']);
  });

  it('is not reported for carriage returns outside what is signed, in attributes, or of line ends', () => {
    const unsigned = signWithXmlCrypto(plain).replace(/<X509Certificate>.{64}/, '$&&#13;\n');
    expect(refusals(unsigned)).toEqual([]);
    expect(refusals(signWithXmlCrypto(plain.replace('<Encabezado>', '<Encabezado a="x&#13;>">')))).toEqual([]);
    expect(refusals(signWithXmlCrypto(plain.replace('dos', 'dos\r\n')))).toEqual([]);
  });
});

describe('facts about the certificate', () => {
  const at = (time: string) => {
    const document = ecf.output.replace('23-06-2026 10:00:00', time);
    return verifyXml(Buffer.from(signWithXmlCrypto(document)), now).certificate;
  };

  it('reports whether it was valid at the stated signing time, independent of the present time', () => {
    expect(at('31-12-2019 19:59:59')?.valid_at_signing).toBe(false);
    expect(at('31-12-2019 20:00:00')?.valid_at_signing).toBe(true);
    expect(at('31-12-2044 20:00:01')?.valid_at_signing).toBe(false);
    expect(verifyXml(Buffer.from(signed), new Date('2060-01-01')).certificate?.valid_at_signing).toBe(true);
  });

  it('validates a document without a signing time at the given time', () => {
    const seed = Buffer.from(signWithXmlCrypto('<SemillaModel><valor>1</valor></SemillaModel>'));
    expect(verifyXml(seed, now).certificate?.valid_at_signing).toBe(true);
    expect(verifyXml(seed, new Date('2060-01-01')).certificate?.valid_at_signing).toBe(false);
    expect(at('99-99-9999 00:00:00')?.valid_at_signing).toBe(true);
  });

  it('names holder, issuer, numbers and dates', () => {
    expect(verifyXml(Buffer.from(signed), now).certificate).toEqual({
      subject: 'C=DO, serialNumber=IDCDO-00112345678, CN=José Ñandú Pérez',
      issuer: 'C=DO, CN=Autoridad de prueba',
      serial_number: certificate.serialNumber,
      not_before: '2019-12-31T20:00:00-04:00',
      not_after: '2044-12-31T20:00:00-04:00',
      valid_at_signing: true,
      fingerprint: certificate.fingerprint,
      keyFingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
      holderId: '00112345678',
      der: certificate.certificate,
      others: [],
    });
  });
});
