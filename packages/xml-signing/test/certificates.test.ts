import { createPublicKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { testKey } from '@ecf/test-support';
import { describe, expect, it } from '@jest/globals';
import {
  type CertificateHolder,
  createCertificateAuthority,
  fileOfSeveral,
} from '../src/certificates/certificate-authority.js';
import {
  CertificateError,
  checkValidity,
  deserialiseCertificate,
  openCertificate,
  serialiseCertificate,
} from '../src/index.js';
import { writePkcs12 } from '../src/pkcs12/write-pkcs12.js';

const now = new Date('2026-06-23T12:00:00-04:00');
const authority = createCertificateAuthority({ key: testKey(1) });
const holderKey = testKey(0);
const otherKey = testKey(2);
const holder: CertificateHolder = {
  commonName: 'José Ñandú Pérez',
  holderId: '00112345678',
  rnc: '130000001',
  notBefore: new Date('2025-01-01T00:00:00Z'),
  notAfter: new Date('2027-01-01T00:00:00Z'),
  password: 'contraseña€',
  key: holderKey,
};
const issued = authority.issue(holder);
const leaf = new X509Certificate(issued.pem).raw;
const root = new X509Certificate(authority.pem).raw;

function refusal(file: Uint8Array, password = holder.password, at = now): CertificateError {
  try {
    openCertificate(file, password, at);
  } catch (error) {
    if (error instanceof CertificateError) return error;
    throw error;
  }
  throw new Error('the file was opened');
}

describe('openCertificate', () => {
  it.each(['legacy', 'modern'] as const)('opens a file with %s ciphers and a password beyond ASCII', (ciphers) => {
    const opened = openCertificate(authority.issue({ ...holder, ciphers }).p12, holder.password, now);
    expect(opened).toMatchObject({
      subject: 'C=DO, organizationIdentifier=VATDO-130000001, serialNumber=IDCDO-00112345678, CN=José Ñandú Pérez',
      issuer: 'C=DO, CN=Autoridad de prueba',
      holderId: '00112345678',
      notBefore: holder.notBefore,
      notAfter: holder.notAfter,
      chain: [root.toString('base64')],
    });
    expect(opened.fingerprint).toMatch(/^[0-9a-f]{64}$/);
    expect(opened.serialNumber).toMatch(/^[0-9A-F]{32}$/);
    expect(createPublicKey(opened.privateKey).equals(createPublicKey(holderKey))).toBe(true);
  });

  it('accepts an empty password and certificates in any order', () => {
    const file = writePkcs12({ keys: [holderKey], certificates: [root, leaf], password: '', ciphers: 'legacy' });
    const opened = openCertificate(file, '', now);
    expect(opened.certificate).toBe(leaf.toString('base64'));
    expect(opened.chain).toEqual([root.toString('base64')]);
  });

  it('uses the valid pair of several', () => {
    const old = authority.issue({ ...holder, key: otherKey, notAfter: new Date('2026-01-01T00:00:00Z') });
    const file = writePkcs12({
      keys: [otherKey, holderKey],
      certificates: [new X509Certificate(old.pem).raw, leaf],
      password: 'x',
      ciphers: 'modern',
    });
    expect(openCertificate(file, 'x', now).certificate).toBe(leaf.toString('base64'));
  });

  /** A file with a pair for each holder, in the order given. */
  const fileOf = (...holders: CertificateHolder[]) =>
    fileOfSeveral(
      holders.map((each) => authority.issue(each)),
      'x',
    );
  const encryption: CertificateHolder = {
    ...holder,
    key: otherKey,
    keyUsage: ['keyEncipherment', 'dataEncipherment'],
    notBefore: new Date('2026-01-01T00:00:00Z'),
    notAfter: new Date('2029-01-01T00:00:00Z'),
  };
  const signerOf = (file: Uint8Array) => createPublicKey(openCertificate(file, 'x', now).privateKey);

  it('signs with the key whose usage allows signatures, wherever it is in the file', () => {
    for (const file of [fileOf(encryption, holder), fileOf(holder, encryption)]) {
      expect(signerOf(file).equals(createPublicKey(holderKey))).toBe(true);
    }
    const unstated = fileOf(encryption, { ...holder, keyUsage: null });
    expect(signerOf(unstated).equals(createPublicKey(holderKey))).toBe(true);
    const nonRepudiation = fileOf(encryption, { ...holder, keyUsage: ['nonRepudiation'] });
    expect(signerOf(nonRepudiation).equals(createPublicKey(holderKey))).toBe(true);
  });

  it('signs with the newest of several pairs that can sign now', () => {
    const newer = {
      ...holder,
      key: otherKey,
      notBefore: new Date('2026-01-01T00:00:00Z'),
      notAfter: new Date('2026-12-31'),
    };
    const future = { ...holder, key: testKey(3), notBefore: new Date('2026-12-01T00:00:00Z') };
    for (const file of [fileOf(holder, newer, future), fileOf(future, newer, holder)]) {
      expect(signerOf(file).equals(createPublicKey(otherKey))).toBe(true);
    }
  });

  it('signs with the key that fits beside one of a kind that cannot be read', () => {
    const odd = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
    const unreadable = Object.assign(Object.create(odd), {
      export: () => {
        const der = odd.export({ format: 'der', type: 'pkcs8' });
        der[der.indexOf(Buffer.from('2a8648ce3d0201', 'hex')) + 6] = 0x7f;
        return der;
      },
    });
    const file = (...keys: (typeof odd)[]) =>
      writePkcs12({ keys, certificates: [leaf], password: 'x', ciphers: 'modern' });
    expect(signerOf(file(unreadable, holderKey)).equals(createPublicKey(holderKey))).toBe(true);
    expect(refusal(file(unreadable), 'x').code).toBe('key_not_rsa');
    const late = refusal(file(unreadable, holderKey), 'x', new Date('2027-06-01T00:00:00Z'));
    expect(late.message).toMatch(
      /^None of the 2 keys .* expired on 2027-01-01.* \(2\) The private key .* not an RSA key/,
    );
  });

  it('names the reason for each pair if none can sign', () => {
    const expired = { ...holder, notAfter: new Date('2026-01-01T00:00:00Z') };
    const error = refusal(fileOf(encryption, expired), 'x');
    expect(error.code).toBe('no_signing_key');
    expect(error.message).toMatch(
      /^None of the 2 keys in the file can sign now\. \(1\) The key usage of the certificate of .*José.* does not allow signatures\. .* \(2\) The certificate of .*José.* expired on 2026-01-01/,
    );
    expect(refusal(fileOf(encryption), 'x').code).toBe('key_usage');
  });

  it('reports wrong_password, and never shows the password', () => {
    for (const ciphers of ['legacy', 'modern'] as const) {
      const error = refusal(authority.issue({ ...holder, ciphers }).p12, 'Secreta-123');
      expect(error.code).toBe('wrong_password');
      expect(error.message).not.toContain('Secreta-123');
    }
  });

  it('reports an expired or not yet valid certificate, with the date and the remedy', () => {
    const late = refusal(issued.p12, holder.password, new Date('2027-01-01T00:00:01Z'));
    expect(late.code).toBe('certificate_expired');
    expect(late.message).toContain('2027-01-01');
    expect(late.message).toContain('Renew');
    const early = refusal(issued.p12, holder.password, new Date('2024-12-31T23:59:59Z'));
    expect(early.code).toBe('certificate_not_yet_valid');
    expect(openCertificate(issued.p12, holder.password, holder.notAfter).notAfter).toEqual(holder.notAfter);
  });

  it('names the missing parts of a file', () => {
    const file = (keys: (typeof holderKey)[], certificates: Uint8Array[]) =>
      writePkcs12({ keys, certificates, password: 'x', ciphers: 'modern' });
    expect(refusal(file([], [leaf]), 'x').code).toBe('private_key_missing');
    expect(refusal(file([holderKey], []), 'x').code).toBe('certificate_missing');
    expect(refusal(file([otherKey], [leaf, root]), 'x').code).toBe('key_mismatch');
  });

  it('refuses keys that are not RSA, too short or too long', () => {
    const { privateKey: curve } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    expect(refusal(authority.issue({ ...holder, key: curve }).p12).code).toBe('key_not_rsa');
    const { privateKey: pss } = generateKeyPairSync('rsa-pss', { modulusLength: 2048 });
    expect(refusal(authority.issue({ ...holder, key: pss }).p12).code).toBe('key_not_rsa');
    const { privateKey: short } = generateKeyPairSync('rsa', { modulusLength: 1024 });
    const error = refusal(authority.issue({ ...holder, key: short }).p12);
    expect(error.code).toBe('key_size');
    expect(error.message).toContain('1024');
  });

  it('recognises other files uploaded by mistake', () => {
    const cases: [string, Uint8Array][] = [
      ['empty', Buffer.alloc(0)],
      ['PEM', Buffer.from(issued.pem)],
      ['a certificate alone', leaf],
      ['Java key store', Buffer.from('feedfeed0000000200000001', 'hex')],
      ['not a PKCS#12', Buffer.from('<ECF/>')],
      ['far more', Buffer.alloc(600_000, 0x30)],
      ['only a part', issued.p12.subarray(0, issued.p12.length - 100)],
      ['not a readable', Buffer.from('3003020103', 'hex')],
      ['not a readable', Buffer.alloc(5000, 0x30)],
      // An OID of more than 53 bits, and a bag without the key that it announces.
      ['not a readable', Buffer.from(`3013020103300e060a${'ff'.repeat(9)}7fa000`, 'hex')],
      [
        'not a readable',
        Buffer.from(
          '303a020103303506092a864886f70d010701a02804263024302206092a864886f70d010701a01504133011300f060b2a864886f70d010c0a0101a000',
          'hex',
        ),
      ],
    ];
    for (const [says, bytes] of cases) {
      const error = refusal(bytes);
      expect([error.code, error.message]).toEqual(['not_a_pkcs12', expect.stringContaining(says)]);
    }
  });

  it('throws no other error for any changed byte of a file', () => {
    const file = writePkcs12({ keys: [holderKey], certificates: [leaf], password: 'x', ciphers: 'modern', rounds: 1 });
    let refused = 0;
    for (let at = 0; at < file.length; at += 3) {
      const changed = Buffer.from(file);
      changed[at] = changed[at]! ^ 0x15;
      try {
        openCertificate(changed, 'x', now);
      } catch (error) {
        expect(error).toBeInstanceOf(CertificateError);
        refused++;
      }
    }
    expect(refused).toBeGreaterThan(file.length / 3 - 20);
  });

  it('opens a file with 600,000 rounds of each derivation, as Firefox writes it', () => {
    const parts = { keys: [holderKey], certificates: [leaf], password: 'x', ciphers: 'modern' } as const;
    expect(openCertificate(writePkcs12({ ...parts, rounds: 600_000 }), 'x', now).subject).toContain('José');
  });

  it('refuses more rounds than any program writes, naming both numbers and the remedy', () => {
    const file = writePkcs12({
      keys: [holderKey],
      certificates: [leaf],
      password: 'x',
      ciphers: 'modern',
      rounds: 33000,
    });
    const iterations = Buffer.from('02030080e8', 'hex');
    let patched = 0;
    for (let at = file.indexOf(iterations); at >= 0; at = file.indexOf(iterations, at + 1)) {
      file.set(Buffer.from('7fffff', 'hex'), at + 2);
      patched++;
    }
    expect(patched).toBeGreaterThan(0);
    const { code, message } = refusal(file, 'x');
    expect(code).toBe('unsupported_encryption');
    expect(message).toBe(
      'The certificate file takes too long to open: it requires 8,388,607 rounds of key derivation for one key; at most 1,000,000 are accepted. Export it again with fewer rounds, for example with openssl pkcs12 -export -iter 2048.',
    );
  });

  it('refuses a file with more encrypted keys than a real one, and with more plain keys and certificates', () => {
    const many = { certificates: [leaf], password: 'x', ciphers: 'modern', rounds: 1 } as const;
    const encrypted = refusal(writePkcs12({ ...many, keys: new Array(100).fill(holderKey) }), 'x');
    expect([encrypted.code, encrypted.message]).toEqual([
      'unsupported_encryption',
      expect.stringContaining('more key derivations; at most 90 are accepted'),
    ]);
    const keys = refusal(writePkcs12({ ...many, keys: new Array(31).fill(holderKey) }), 'x');
    expect([keys.code, keys.message]).toEqual(['too_many_entries', expect.stringContaining('31 private keys')]);
    const certificates = new Array(101).fill(leaf);
    expect(refusal(writePkcs12({ ...many, keys: [holderKey], certificates }), 'x').code).toBe('too_many_entries');
  });
});

describe('a certificate kept', () => {
  it('comes back the same', () => {
    const opened = openCertificate(issued.p12, holder.password, now);
    const again = deserialiseCertificate(serialiseCertificate(opened));
    expect({ ...again, privateKey: null }).toEqual({ ...opened, privateKey: null });
    expect(again.privateKey.equals(opened.privateKey)).toBe(true);
  });

  it('is checked against the clock when it is used', () => {
    const opened = openCertificate(issued.p12, holder.password, now);
    expect(() => checkValidity(opened, now)).not.toThrow();
    expect(() => checkValidity(opened, new Date('2030-01-01T00:00:00Z'))).toThrow(CertificateError);
  });

  it('is refused without quoting its bytes when they are damaged', () => {
    const bytes = Buffer.from(serialiseCertificate(openCertificate(issued.p12, holder.password, now)));
    const text = bytes.toString();
    for (const damaged of [text.slice(1), text.slice(0, -30), text.replace('"v":1', '"v":2'), '', 'null']) {
      let caught: unknown;
      try {
        deserialiseCertificate(Buffer.from(damaged));
      } catch (error) {
        caught = error;
      }
      expect(caught).toMatchObject({ code: 'unreadable_store' });
      expect((caught as Error).cause).toBeUndefined();
    }
  });
});
