import { X509Certificate } from 'node:crypto';
import { testKey } from '@ecf/test-support';
import { describe, expect, it } from '@jest/globals';
import forge from 'node-forge';
import { chainFault, readRevokedCertificates, readTrustedIssuers, revocationFault } from '../src/index.js';
import { authority, certificate, now } from './samples.js';

interface Made {
  readonly pem: string;
  readonly der: string;
  readonly certificate: forge.pki.Certificate;
  readonly key: forge.pki.rsa.PrivateKey;
}

let serial = 10;

/** A certificate with these extensions, signed by another one or by itself. */
function made(
  name: string,
  keyNumber: number,
  extensions: object[],
  by: Made | null,
  validity = { from: '2024-01-01', to: '2030-01-01' },
): Made {
  const key = forge.pki.privateKeyFromPem(testKey(keyNumber).export({ type: 'pkcs8', format: 'pem' }).toString());
  const made = forge.pki.createCertificate();
  serial += 1;
  made.serialNumber = serial.toString(16).padStart(2, '0');
  made.publicKey = forge.pki.setRsaPublicKey(key.n, key.e);
  made.validity.notBefore = new Date(validity.from);
  made.validity.notAfter = new Date(validity.to);
  made.setSubject([{ name: 'commonName', value: name }]);
  made.setIssuer(by === null ? [{ name: 'commonName', value: name }] : by.certificate.subject.attributes);
  made.setExtensions(extensions);
  made.sign(by?.key ?? key, forge.md.sha256.create());
  const pem = forge.pki.certificateToPem(made);
  return { pem, der: pem.replace(/-----[^-]+-----|\s/g, ''), certificate: made, key };
}

const usage = (use: object) => ({ name: 'keyUsage', critical: true, ...use });
const issues = (pathLenConstraint?: number) => [
  {
    name: 'basicConstraints',
    critical: true,
    cA: true,
    ...(pathLenConstraint === undefined ? {} : { pathLenConstraint }),
  },
  usage({ keyCertSign: true, cRLSign: true }),
];
const signs = [usage({ digitalSignature: true })];

/** A CRL of an issuer over its own certificates, with a signature that is never checked. */
function revocationList(issuer: Made, revoked: readonly Made[]): Buffer {
  const { asn1, pki } = forge;
  const node = (type: number, value: string | forge.asn1.Asn1[]) =>
    asn1.create(asn1.Class.UNIVERSAL, type, Array.isArray(value), value);
  const sequence = (...values: forge.asn1.Asn1[]) => node(asn1.Type.SEQUENCE, values);
  const time = () => node(asn1.Type.UTCTIME, asn1.dateToUtcTime(now));
  const algorithm = () =>
    sequence(node(asn1.Type.OID, asn1.oidToDer('1.2.840.113549.1.1.11').getBytes()), node(asn1.Type.NULL, ''));
  const subject = (pki as unknown as { distinguishedNameToAsn1(of: object): forge.asn1.Asn1 }).distinguishedNameToAsn1(
    issuer.certificate.subject,
  );
  const entries = revoked.map(({ certificate: { serialNumber } }) =>
    sequence(node(asn1.Type.INTEGER, forge.util.hexToBytes(serialNumber)), time()),
  );
  const body = sequence(
    node(asn1.Type.INTEGER, '\u0001'),
    algorithm(),
    subject,
    time(),
    time(),
    ...(entries.length > 0 ? [sequence(...entries)] : []),
  );
  const list = sequence(body, algorithm(), node(asn1.Type.BITSTRING, `\u0000${'signature'.repeat(28)}`));
  return Buffer.from(asn1.toDer(list).getBytes(), 'latin1');
}

const pemOf = (der: Buffer) => `-----BEGIN X509 CRL-----\n${der.toString('base64')}\n-----END X509 CRL-----\n`;

const root = made('Root', 1, issues(), null);
const middle = made('Middle', 2, issues(), root);
const holder = made('Holder', 0, signs, middle);
const signer = { der: holder.der, others: [middle.der] };
const trusted = readTrustedIssuers(root.pem);

describe('a chain of certificates', () => {
  it('may have authorities between holder and trusted issuer, as many as each of them allows', () => {
    expect(chainFault(signer, trusted, now, null)).toBeNull();
    const narrow = made('Narrow', 1, issues(0), null);
    const below = made('Below', 2, issues(), narrow);
    const far = made('Far', 0, signs, below);
    expect(chainFault({ der: far.der, others: [below.der] }, readTrustedIssuers(narrow.pem), now, null)).toMatch(
      /allows 0 authorities below it, and 1 are/,
    );
    const near = made('Near', 0, signs, narrow);
    expect(chainFault({ der: near.der, others: [] }, readTrustedIssuers(narrow.pem), now, null)).toBeNull();
  });

  it('may lead to any of the certificates of an issuer that renewed its own with the same key', () => {
    const old = made('Root', 1, issues(), null, { from: '2014-01-01', to: '2024-06-01' });
    for (const pem of [`${old.pem}${root.pem}`, `${root.pem}${old.pem}`])
      expect(chainFault(signer, readTrustedIssuers(pem), now, null)).toBeNull();
    const oldMiddle = made('Middle', 2, issues(), old, { from: '2014-01-01', to: '2024-06-01' });
    for (const others of [
      [oldMiddle.der, middle.der],
      [middle.der, oldMiddle.der],
    ])
      expect(chainFault({ ...signer, others }, trusted, now, null)).toBeNull();
    expect(chainFault(signer, readTrustedIssuers(old.pem), now, null)).toMatch(
      /issuer that is expired or not valid yet/,
    );
  });

  it('needs issuers that are valid at the time that counts for them', () => {
    const late = new Date('2030-01-02');
    expect(chainFault(signer, trusted, now, null, now)).toBeNull();
    expect(chainFault(signer, trusted, now, null, late)).toMatch(/issuer that is expired or not valid yet/);
  });

  it('is valid only if each key may be used for its purpose', () => {
    const encrypts = made('Encrypts', 0, [usage({ keyEncipherment: true })], root);
    expect(chainFault({ der: encrypts.der, others: [] }, trusted, now, null)).toMatch(
      /key usage that allows no signatures/,
    );
    const commits = made('Commits', 0, [usage({ nonRepudiation: true })], root);
    expect(chainFault({ der: commits.der, others: [] }, trusted, now, null)).toBeNull();
    const free = made('Free', 0, [], root);
    expect(chainFault({ der: free.der, others: [] }, trusted, now, null)).toBeNull();
    const noIssuer = made('No issuer', 2, [issues()[0] as object, usage({ digitalSignature: true })], root);
    const below = made('Below', 0, signs, noIssuer);
    expect(chainFault({ der: below.der, others: [noIssuer.der] }, trusted, now, null)).not.toBeNull();
  });

  it('holds no certificate that is revoked', () => {
    const lists = (bytes: Buffer | string) => readRevokedCertificates(Buffer.from(bytes));
    expect(chainFault(signer, trusted, now, lists(pemOf(revocationList(middle, [holder]))))).toBe('is revoked');
    expect(chainFault(signer, trusted, now, lists(revocationList(root, [middle])))).toBe(
      'has an issuer that is revoked',
    );
    // The same serial number of another issuer is another certificate.
    expect(chainFault(signer, trusted, now, lists(pemOf(revocationList(root, [holder]))))).toBeNull();
    expect(chainFault(signer, trusted, now, lists(pemOf(revocationList(root, []))))).toBeNull();
    const { fingerprint256 } = new X509Certificate(holder.pem);
    const revoked = lists(`# stolen on Monday\n${fingerprint256}\r\n${pemOf(revocationList(root, []))}`);
    expect([revoked.size, chainFault(signer, trusted, now, revoked)]).toEqual([1, 'is revoked']);
    expect(revocationFault(signer, revoked)).toBe('is revoked');
    expect(revocationFault({ der: certificate.certificate }, revoked)).toBeNull();
  });

  it.each([
    ['nothing', '', /no revocation list/],
    ['comments alone', '# none\n', /no revocation list/],
    ['a certificate', authority.pem, /a line is neither/],
    ['another line', 'AB:CD\n', /a line is neither.*AB:CD/],
    ['a cut list', pemOf(revocationList(root, [holder]).subarray(0, 60)), /cannot be read/],
    ['DER that is not a list', Buffer.from(root.der, 'base64'), /cannot be read/],
  ])('a file with %s lists nothing and says so', (_, content, message) => {
    expect(() => readRevokedCertificates(Buffer.from(content))).toThrow(message);
  });
});
