import { createHmac, type KeyObject, randomBytes } from 'node:crypto';
import forge from 'node-forge';
import { type Asn1, writeAsn1 } from './asn1.js';
import { bmpPasswords, derivePbkdf2, derivePkcs12, PURPOSE, WorkBudget } from './key-derivation.js';
import { encipher, rc2 } from './password-based-encryption.js';

/** `legacy`: RC2-40 for certificates, 3DES for the key, SHA-1; `modern`: PBES2 with AES-256 and SHA-256. */
export type Pkcs12Ciphers = 'legacy' | 'modern';

export interface Pkcs12Parts {
  readonly keys: readonly KeyObject[];
  /** X.509, DER. */
  readonly certificates: readonly Uint8Array[];
  readonly password: string;
  readonly ciphers: Pkcs12Ciphers;
  /** Rounds of each key derivation; 2048 by default, as OpenSSL writes. */
  readonly rounds?: number;
}

interface Encrypted {
  readonly algorithm: Asn1;
  readonly data: Buffer;
}

const { Type, Class } = forge.asn1;

/** Writes a PKCS#12 file for tests and sandboxes, as older or as present tools write it. */
export function writePkcs12(parts: Pkcs12Parts): Buffer {
  const legacy = parts.ciphers === 'legacy';
  const rounds = parts.rounds ?? 2048;
  const encrypt = (what: 'key' | 'certificates', data: Buffer): Encrypted => {
    if (!legacy) return encryptPbes2(parts.password, rounds, data);
    return encryptPkcs12(what === 'key' ? '3des' : 'rc2', parts.password, rounds, data);
  };

  const keyBags = parts.keys.map((key) => {
    const { algorithm, data } = encrypt('key', key.export({ format: 'der', type: 'pkcs8' }));
    return sequence(oid('1.2.840.113549.1.12.10.1.2'), tagged(0, sequence(algorithm, octetString(data))));
  });
  const certificateBags = parts.certificates.map((der) =>
    sequence(
      oid('1.2.840.113549.1.12.10.1.3'),
      tagged(0, sequence(oid('1.2.840.113549.1.9.22.1'), tagged(0, octetString(der)))),
    ),
  );
  const { algorithm, data } = encrypt('certificates', writeAsn1(sequence(...certificateBags)));
  const safe = writeAsn1(
    sequence(
      sequence(
        oid('1.2.840.113549.1.7.6'),
        tagged(0, sequence(integer(0), sequence(oid('1.2.840.113549.1.7.1'), algorithm, implicitOctets(data)))),
      ),
      sequence(oid('1.2.840.113549.1.7.1'), tagged(0, octetString(writeAsn1(sequence(...keyBags))))),
    ),
  );
  const content = sequence(oid('1.2.840.113549.1.7.1'), tagged(0, octetString(safe)));
  return writeAsn1(sequence(integer(3), content, macData(legacy ? 'sha1' : 'sha256', parts.password, rounds, safe)));
}

function encryptPkcs12(cipher: '3des' | 'rc2', password: string, rounds: number, data: Buffer): Encrypted {
  const salt = randomBytes(8);
  const bmp = bmpPasswords(password)[0]!;
  const budget = new WorkBudget();
  const key = derivePkcs12('sha1', PURPOSE.key, bmp, salt, rounds, cipher === '3des' ? 24 : 5, budget);
  const iv = derivePkcs12('sha1', PURPOSE.iv, bmp, salt, rounds, 8, budget);
  return {
    algorithm: sequence(
      oid(`1.2.840.113549.1.12.1.${cipher === '3des' ? 3 : 6}`),
      sequence(octetString(salt), integer(rounds)),
    ),
    data: cipher === '3des' ? encipher('des-ede3-cbc', key, iv, data) : rc2(key, iv, data, 'encrypt'),
  };
}

function encryptPbes2(password: string, rounds: number, data: Buffer): Encrypted {
  const salt = randomBytes(16);
  const iv = randomBytes(16);
  const key = derivePbkdf2('sha256', Buffer.from(password, 'utf8'), salt, rounds, 32, new WorkBudget());
  const derivation = sequence(
    oid('1.2.840.113549.1.5.12'),
    sequence(octetString(salt), integer(rounds), sequence(oid('1.2.840.113549.2.9'), nothing())),
  );
  const scheme = sequence(oid('2.16.840.1.101.3.4.1.42'), octetString(iv));
  return {
    algorithm: sequence(oid('1.2.840.113549.1.5.13'), sequence(derivation, scheme)),
    data: encipher('aes-256-cbc', key, iv, data),
  };
}

function macData(hash: 'sha1' | 'sha256', password: string, rounds: number, safe: Buffer): Asn1 {
  const salt = randomBytes(8);
  const length = hash === 'sha1' ? 20 : 32;
  const key = derivePkcs12(hash, PURPOSE.mac, bmpPasswords(password)[0]!, salt, rounds, length, new WorkBudget());
  const mac = createHmac(hash, key).update(safe).digest();
  const algorithm = sequence(oid(hash === 'sha1' ? '1.3.14.3.2.26' : '2.16.840.1.101.3.4.2.1'), nothing());
  return sequence(sequence(algorithm, octetString(mac)), octetString(salt), integer(rounds));
}

function sequence(...members: Asn1[]): Asn1 {
  return forge.asn1.create(Class.UNIVERSAL, Type.SEQUENCE, true, members);
}

function tagged(tag: number, value: Asn1): Asn1 {
  return forge.asn1.create(Class.CONTEXT_SPECIFIC, tag as forge.asn1.Type, true, [value]);
}

function octetString(bytes: Uint8Array): Asn1 {
  return forge.asn1.create(Class.UNIVERSAL, Type.OCTETSTRING, false, Buffer.from(bytes).toString('latin1'));
}

function implicitOctets(bytes: Uint8Array): Asn1 {
  return forge.asn1.create(Class.CONTEXT_SPECIFIC, 0 as forge.asn1.Type, false, Buffer.from(bytes).toString('latin1'));
}

function oid(identifier: string): Asn1 {
  return forge.asn1.create(Class.UNIVERSAL, Type.OID, false, forge.asn1.oidToDer(identifier).getBytes());
}

function integer(value: number): Asn1 {
  return forge.asn1.create(Class.UNIVERSAL, Type.INTEGER, false, forge.asn1.integerToDer(value).getBytes());
}

function nothing(): Asn1 {
  return forge.asn1.create(Class.UNIVERSAL, Type.NULL, false, '');
}
