import { createCipheriv, createDecipheriv } from 'node:crypto';
import forge from 'node-forge';
import { type Asn1, isInteger, members, objectIdentifier, octets, smallInteger } from './asn1.js';
import {
  bmpPasswords,
  derivePbkdf2,
  derivePkcs12,
  PURPOSE,
  UnsupportedEncryption,
  type WorkBudget,
} from './key-derivation.js';

/** The decrypted bytes make no sense: the password is another one. */
export class WrongPassword extends Error {}

/** The ciphers of PKCS#12 itself (RFC 7292, appendix C), which older Windows, Java and OpenSSL write. */
const PKCS12_CIPHERS: Record<string, { name: 'rc2' | 'des-ede3-cbc'; key: number; stored: number }> = {
  '1.2.840.113549.1.12.1.3': { name: 'des-ede3-cbc', key: 24, stored: 24 },
  '1.2.840.113549.1.12.1.4': { name: 'des-ede3-cbc', key: 24, stored: 16 },
  '1.2.840.113549.1.12.1.5': { name: 'rc2', key: 16, stored: 16 },
  '1.2.840.113549.1.12.1.6': { name: 'rc2', key: 5, stored: 5 },
};

const PBES2 = '1.2.840.113549.1.5.13';
const PBKDF2 = '1.2.840.113549.1.5.12';

const PBES2_CIPHERS: Record<string, { name: string; key: number }> = {
  '2.16.840.1.101.3.4.1.2': { name: 'aes-128-cbc', key: 16 },
  '2.16.840.1.101.3.4.1.22': { name: 'aes-192-cbc', key: 24 },
  '2.16.840.1.101.3.4.1.42': { name: 'aes-256-cbc', key: 32 },
  '1.2.840.113549.3.7': { name: 'des-ede3-cbc', key: 24 },
};

/** The pseudo-random functions of PBKDF2, by the last number of 1.2.840.113549.2.n. */
const HMAC_HASHES: Record<string, string> = {
  '1.2.840.113549.2.7': 'sha1',
  '1.2.840.113549.2.8': 'sha224',
  '1.2.840.113549.2.9': 'sha256',
  '1.2.840.113549.2.10': 'sha384',
  '1.2.840.113549.2.11': 'sha512',
};

/**
 * Decrypts what an AlgorithmIdentifier of PKCS#12 describes.
 *
 * @throws WrongPassword, UnsupportedEncryption, Malformed
 */
export function decryptWithPassword(algorithm: Asn1 | undefined, password: string, data: Buffer, budget: WorkBudget) {
  const [identifier, parameters] = members(algorithm);
  const oid = objectIdentifier(identifier);
  if (oid === PBES2) return decryptPbes2(parameters, password, data, budget);
  const cipher = PKCS12_CIPHERS[oid];
  if (cipher === undefined) throw new UnsupportedEncryption(`cipher ${oid}`);
  const [saltValue, roundsValue] = members(parameters);
  const salt = octets(saltValue);
  const rounds = smallInteger(roundsValue);
  let failure: unknown;
  for (const bmp of bmpPasswords(password)) {
    const stored = derivePkcs12('sha1', PURPOSE.key, bmp, salt, rounds, cipher.stored, budget);
    const iv = derivePkcs12('sha1', PURPOSE.iv, bmp, salt, rounds, 8, budget);
    try {
      if (cipher.name === 'rc2') return rc2(stored, iv, data, 'decrypt');
      // Two-key triple DES repeats its first key as the third.
      const key = stored.length === cipher.key ? stored : Buffer.concat([stored, stored.subarray(0, 8)]);
      return decipher(cipher.name, key, iv, data);
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

/** The key that a PBKDF2 AlgorithmIdentifier describes: of the length it declares, else of the given one. */
export function pbkdf2Key(algorithm: Asn1 | undefined, password: string, length: number, budget: WorkBudget): Buffer {
  const [identifier, parameters] = members(algorithm);
  const oid = objectIdentifier(identifier);
  if (oid !== PBKDF2) throw new UnsupportedEncryption(`key derivation ${oid}`);
  const [salt, rounds, ...options] = members(parameters);
  const declared = isInteger(options[0]) ? smallInteger(options.shift()) : length;
  if (declared > 64) throw new UnsupportedEncryption(`a derived key of ${declared} bytes`);
  const prf = options[0] === undefined ? 'sha1' : hmacHash(options[0]);
  return derivePbkdf2(prf, Buffer.from(password, 'utf8'), octets(salt), smallInteger(rounds), declared, budget);
}

/** The hash of an HMAC AlgorithmIdentifier. */
export function hmacHash(algorithm: Asn1 | undefined): string {
  const oid = objectIdentifier(members(algorithm)[0]);
  const hash = HMAC_HASHES[oid];
  if (hash === undefined) throw new UnsupportedEncryption(`HMAC ${oid}`);
  return hash;
}

/** RC2 in CBC mode, which OpenSSL 3 no longer carries by default. */
export function rc2(key: Buffer, iv: Buffer, data: Buffer, direction: 'decrypt' | 'encrypt'): Buffer {
  const keyText = key.toString('latin1');
  const bits = key.length * 8;
  const cipher =
    direction === 'decrypt'
      ? forge.rc2.createDecryptionCipher(keyText, bits)
      : forge.rc2.createEncryptionCipher(keyText, bits);
  cipher.start(iv.toString('latin1'));
  cipher.update(forge.util.createBuffer(data.toString('latin1')));
  if (!cipher.finish()) throw new WrongPassword('bad padding');
  return Buffer.from(cipher.output.getBytes(), 'latin1');
}

/** For the writer of test files. */
export function encipher(name: string, key: Buffer, iv: Buffer, data: Buffer): Buffer {
  const cipher = createCipheriv(name, key, iv);
  return Buffer.concat([cipher.update(data), cipher.final()]);
}

function decryptPbes2(parameters: Asn1 | undefined, password: string, data: Buffer, budget: WorkBudget): Buffer {
  const [derivation, scheme] = members(parameters);
  const [identifier, ivValue] = members(scheme);
  const oid = objectIdentifier(identifier);
  const cipher = PBES2_CIPHERS[oid];
  if (cipher === undefined) throw new UnsupportedEncryption(`cipher ${oid}`);
  const key = pbkdf2Key(derivation, password, cipher.key, budget);
  return decipher(cipher.name, key, octets(ivValue), data);
}

function decipher(name: string, key: Buffer, iv: Buffer, data: Buffer): Buffer {
  try {
    const cipher = createDecipheriv(name, key, iv);
    return Buffer.concat([cipher.update(data), cipher.final()]);
  } catch (cause) {
    throw new WrongPassword('the bytes do not decrypt', { cause });
  }
}
