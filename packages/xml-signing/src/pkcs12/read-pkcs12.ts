import { createHmac, timingSafeEqual } from 'node:crypto';
import { type Asn1, Malformed, members, objectIdentifier, octets, readAsn1, smallInteger, writeAsn1 } from './asn1.js';
import { bmpPasswords, derivePkcs12, PURPOSE, UnsupportedEncryption, WorkBudget } from './key-derivation.js';
import { decryptWithPassword, hmacHash, pbkdf2Key, WrongPassword } from './password-based-encryption.js';

export interface Pkcs12Content {
  /** PKCS#8, DER. */
  readonly keys: Buffer[];
  /** X.509, DER. */
  readonly certificates: Buffer[];
}

const DATA = '1.2.840.113549.1.7.1';
const ENCRYPTED_DATA = '1.2.840.113549.1.7.6';
const BAG = '1.2.840.113549.1.12.10.1.';
const X509_CERTIFICATE = '1.2.840.113549.1.9.22.1';
const PBMAC1 = '1.2.840.113549.1.5.14';

const DIGESTS: Record<string, string> = {
  '1.2.840.113549.2.5': 'md5',
  '1.3.14.3.2.26': 'sha1',
  '2.16.840.1.101.3.4.2.4': 'sha224',
  '2.16.840.1.101.3.4.2.1': 'sha256',
  '2.16.840.1.101.3.4.2.2': 'sha384',
  '2.16.840.1.101.3.4.2.3': 'sha512',
};

/**
 * Reads keys and certificates in a PKCS#12 file (RFC 7292) with password integrity. Content may be plain or encrypted with
 * old ciphers (3DES, RC2) or new ones (PBES2). node-forge reads the structure. Derivation and decryption are here, because
 * they must be bounded and native, and must accept passwords beyond ASCII.
 *
 * @throws Malformed, WrongPassword, UnsupportedEncryption
 */
export function readPkcs12(file: Uint8Array, password: string): Pkcs12Content {
  const budget = new WorkBudget();
  const [version, authSafe, macData] = members(readAsn1(file));
  if (smallInteger(version) !== 3) throw new Malformed('not version 3');
  const [type, content] = members(authSafe);
  const typeOid = objectIdentifier(type);
  if (typeOid !== DATA) throw new UnsupportedEncryption(`protected by ${typeOid}, not by a password`);
  const safe = octets(members(content)[0]);
  if (macData !== undefined) checkIntegrity(macData, password, safe, budget);

  const found: Pkcs12Content = { keys: [], certificates: [] };
  for (const part of members(readAsn1(safe))) collect(openPart(part, password, budget), password, budget, found, 0);
  return found;
}

/** MacData: DigestInfo, salt, rounds; or PBMAC1 (RFC 9579) in the place of the digest. */
function checkIntegrity(macData: Asn1, password: string, safe: Buffer, budget: WorkBudget): void {
  const [digestInfo, saltValue, roundsValue] = members(macData);
  const [algorithm, expectedValue] = members(digestInfo);
  const [identifier, parameters] = members(algorithm);
  const expected = octets(expectedValue);
  const oid = objectIdentifier(identifier);
  const agrees = (hash: string, key: Buffer): boolean => {
    const mac = createHmac(hash, key).update(safe).digest();
    return mac.length === expected.length && timingSafeEqual(mac, expected);
  };
  if (oid === PBMAC1) {
    const [derivation, scheme] = members(parameters);
    if (agrees(hmacHash(scheme), pbkdf2Key(derivation, password, expected.length, budget))) return;
    throw new WrongPassword('the integrity check fails');
  }
  const hash = DIGESTS[oid];
  if (hash === undefined) throw new UnsupportedEncryption(`digest ${oid}`);
  const rounds = roundsValue === undefined ? 1 : smallInteger(roundsValue);
  const salt = octets(saltValue);
  for (const bmp of bmpPasswords(password)) {
    if (agrees(hash, derivePkcs12(hash, PURPOSE.mac, bmp, salt, rounds, expected.length, budget))) return;
  }
  throw new WrongPassword('the integrity check fails');
}

/** One ContentInfo of the AuthenticatedSafe, opened: a SafeContents. */
function openPart(part: Asn1, password: string, budget: WorkBudget): Asn1 {
  const [type, content] = members(part);
  const oid = objectIdentifier(type);
  if (oid === DATA) return readAsn1(octets(members(content)[0]));
  if (oid !== ENCRYPTED_DATA) throw new UnsupportedEncryption(`content ${oid}`);
  // EncryptedContentInfo: contentType, contentEncryptionAlgorithm, encryptedContent [0] IMPLICIT OCTET STRING
  const [, algorithm, encrypted] = members(members(members(content)[0])[1]);
  const opened = decryptWithPassword(algorithm, password, octets(encrypted), budget);
  try {
    return readAsn1(opened);
  } catch (cause) {
    // A wrong password leaves valid padding behind once in some hundred times.
    throw new WrongPassword('the decrypted bytes are not ASN.1', { cause });
  }
}

function collect(contents: Asn1, password: string, budget: WorkBudget, found: Pkcs12Content, depth: number): void {
  if (depth > 4) throw new Malformed('bags nested too deep');
  for (const bag of members(contents)) {
    const [identifier, explicit] = members(bag);
    const value = members(explicit)[0];
    switch (objectIdentifier(identifier)) {
      case `${BAG}1`:
        found.keys.push(writeAsn1(value));
        break;
      case `${BAG}2`: {
        const [algorithm, data] = members(value);
        found.keys.push(decryptWithPassword(algorithm, password, octets(data), budget));
        break;
      }
      case `${BAG}3`: {
        const [kind, certificate] = members(value);
        if (objectIdentifier(kind) === X509_CERTIFICATE) found.certificates.push(octets(members(certificate)[0]));
        break;
      }
      case `${BAG}6`:
        collect(value as Asn1, password, budget, found, depth + 1);
        break;
    }
  }
}
