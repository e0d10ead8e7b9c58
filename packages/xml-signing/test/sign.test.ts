import { execFileSync, spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseXml } from '@ecf/ecf-xml';
import { afterAll, describe, expect, it } from '@jest/globals';
import { DOMParser } from '@xmldom/xmldom';
import { SignedXml } from 'xml-crypto';
import {
  SignatureRefused,
  SigningError,
  securityCode,
  signatureValueOf,
  signedLength,
  signXml,
  verifyXml,
} from '../src/index.js';
import { authority, certificate, ecf, issued, now, written } from './samples.js';

const folder = mkdtempSync(join(tmpdir(), 'xml-signing-'));
afterAll(() => rmSync(folder, { recursive: true }));

const xmlsec = spawnSync('xmlsec1', ['--version']).status === 0;
const withXmlsec = xmlsec ? it : it.skip;
if (!xmlsec) console.warn('xmlsec1 is not installed: what it would verify is skipped');

const documents: [string, { canonical: string; output: string }][] = [
  ['ECF', ecf],
  ['RFCE', written('RFCE')],
  ['ACECF', written('ACECF', '<FechaHoraAprobacionComercial>23-06-2026 10:00:00</FechaHoraAprobacionComercial>')],
  ['ANECF', written('ANECF')],
  ['ARECF', written('ARECF', '<FechaHoraAcuseRecibo>23-06-2026 10:00:00</FechaHoraAcuseRecibo>')],
  ['SemillaModel', written('SemillaModel')],
];

function verifiesWithXmlCrypto(xml: string): boolean {
  const signature = new DOMParser()
    .parseFromString(xml, 'text/xml')
    .getElementsByTagNameNS('http://www.w3.org/2000/09/xmldsig#', 'Signature')[0]!;
  const verifier = new SignedXml({ publicCert: issued.pem });
  verifier.loadSignature(signature as unknown as Node);
  try {
    return verifier.checkSignature(xml);
  } catch {
    return false;
  }
}

function verifiesWithXmlsec(xml: string): boolean {
  const file = join(folder, 'signed.xml');
  const trusted = join(folder, 'authority.pem');
  writeFileSync(file, xml);
  writeFileSync(trusted, authority.pem);
  return spawnSync('xmlsec1', ['--verify', '--trusted-pem', trusted, '--enabled-key-data', 'x509', file]).status === 0;
}

describe('signXml', () => {
  it.each(documents)('makes %s as long as signedLength says', async (_, document) => {
    expect(Buffer.byteLength((await signXml(document, certificate)).xml)).toBe(signedLength(document, certificate));
  });

  it.each([1_024, 2_048, 3_072, 4_096])('the length follows from a key of %i bits', async (modulusLength) => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength });
    const other = { ...certificate, privateKey };
    expect(Buffer.byteLength((await signXml(ecf, other)).xml)).toBe(signedLength(ecf, other));
  });

  it.each(documents)('signs %s as xml-crypto and this package verify it', async (_, document) => {
    const { xml, signatureValue } = await signXml(document, certificate);
    expect(verifiesWithXmlCrypto(xml)).toBe(true);
    expect(verifiesWithXmlCrypto(xml.replace('118.00', '118.01'))).toBe(false);
    expect(verifyXml(Buffer.from(xml), now)).toMatchObject({
      signature: 'valid',
      reason: null,
      canonical: 'as-is',
      signatureValue,
      verified: { text: document.canonical },
    });
  });

  withXmlsec.each(documents)('signs %s as xmlsec1 verifies it', async (_, document) => {
    const { xml } = await signXml(document, certificate);
    expect(verifiesWithXmlsec(xml)).toBe(true);
    expect(verifiesWithXmlsec(xml.replace('118.00', '118.01'))).toBe(false);
  });

  it('follows the profile to the letter', async () => {
    const { xml, signatureValue, digestValue } = await signXml(ecf, certificate);
    expect(xml).toBe(
      `<?xml version="1.0" encoding="utf-8"?>${ecf.output.slice(0, -'</ECF>'.length)}` +
        '<Signature xmlns="http://www.w3.org/2000/09/xmldsig#"><SignedInfo>' +
        '<CanonicalizationMethod Algorithm="http://www.w3.org/TR/2001/REC-xml-c14n-20010315"/>' +
        '<SignatureMethod Algorithm="http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"/>' +
        '<Reference URI=""><Transforms>' +
        '<Transform Algorithm="http://www.w3.org/2000/09/xmldsig#enveloped-signature"/></Transforms>' +
        '<DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"/>' +
        `<DigestValue>${digestValue}</DigestValue></Reference></SignedInfo>` +
        `<SignatureValue>${signatureValue}</SignatureValue><KeyInfo><X509Data>` +
        `<X509Certificate>${certificate.certificate}</X509Certificate></X509Data></KeyInfo></Signature></ECF>`,
    );
  });

  it('gives equal bytes for equal input', async () => {
    const [first, second] = await Promise.all([signXml(ecf, certificate), signXml(ecf, certificate)]);
    expect(first).toEqual(second);
  });

  it('signs roots with fewer or other declarations', async () => {
    for (const declarations of ['', ' xmlns:a="urn:a"', ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"']) {
      const canonical = `<ECF${declarations}><A>1</A></ECF>`;
      const { xml } = await signXml({ canonical, output: canonical }, certificate);
      expect(verifyXml(Buffer.from(xml), now).signature).toBe('valid');
      expect(verifiesWithXmlCrypto(xml)).toBe(true);
    }
  });

  it('refuses a signed or non-canonical document', async () => {
    const { xml } = await signXml(ecf, certificate);
    const signed = xml.slice(xml.indexOf('<ECF'));
    await expect(signXml({ canonical: signed, output: signed }, certificate)).rejects.toMatchObject({
      code: 'already_signed',
    });
    for (const canonical of ['', 'ECF', '<ECF/>', '<ECF a="1"></ECF>', '<ECF xmlns="urn:x"></ECF>', ' <ECF></ECF>']) {
      await expect(signXml({ canonical, output: canonical }, certificate)).rejects.toBeInstanceOf(SigningError);
    }
  });
});

describe('securityCode', () => {
  it('is the first six characters, blanks left out, case and signs kept', () => {
    expect(securityCode('S/D+duXYZ==')).toBe('S/D+du');
    expect(securityCode('\r\n  ab\nCd\tEf gh')).toBe('abCdEf');
  });

  it('is that of the SignatureValue', async () => {
    const { xml, signatureValue } = await signXml(ecf, certificate);
    expect(xml).toContain(`<SignatureValue>${securityCode(signatureValue)}`);
  });
});

if (xmlsec) {
  it('was checked with a real xmlsec1', () => {
    expect(execFileSync('xmlsec1', ['--version']).toString()).toContain('xmlsec1');
  });
}

describe('signatureValueOf', () => {
  it('gives the value without verifying it', async () => {
    const { xml, signatureValue } = await signXml(ecf, certificate);
    expect(signatureValueOf(parseXml(Buffer.from(xml.replace('118.00', '9.00'))))).toBe(signatureValue);
    const wrapped = xml.replace(/<SignatureValue>(.{9})/, '<SignatureValue>\r\n $1&#13;\n');
    expect(signatureValueOf(parseXml(Buffer.from(wrapped)))).toBe(signatureValue);
  });

  it('refuses a document without Signature', () => {
    expect(() => signatureValueOf(parseXml(Buffer.from(ecf.output)))).toThrow(SignatureRefused);
  });
});
