import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { CertificateError } from '../errors.js';
import { Malformed } from '../pkcs12/asn1.js';
import { TooManyRounds, UnsupportedEncryption } from '../pkcs12/key-derivation.js';
import { WrongPassword } from '../pkcs12/password-based-encryption.js';
import { type Pkcs12Content, readPkcs12 } from '../pkcs12/read-pkcs12.js';
import { describeCertificate } from './certificate-description.js';
import { certificateFields } from './certificate-fields.js';
import { type SigningCertificate, signingCertificate, validityFault } from './signing-certificate.js';

/** Real files have 2 to 10 kB; one with a long chain perhaps 30. */
const LARGEST_FILE = 512 * 1024;

/** Every key is compared with every certificate, so their numbers are bounded. Real files have a few of each. */
const MOST = { keys: 30, certificates: 100 };

/**
 * RSA keys that may sign. Recognised issuers certify none below 2048 bits any more. Above 4096 one taxpayer's key would slow
 * down all others: a signature with 8192 bits costs 50 times that with 2048.
 */
const SIGNING_BITS = { least: 2048, most: 4096 };

interface Pair {
  readonly key: KeyObject;
  readonly certificate: X509Certificate;
}

/**
 * Opens a .p12 or .pfx file, with old ciphers (3DES, RC2) and new ones (PBES2 with AES). Finds the private key and its
 * certificate. Of several pairs it takes the newest that is valid now and whose key usage, if stated, allows signatures; if
 * none is, the error has the reason for each.
 *
 * @param now the moment at which the certificate has to be valid
 * @throws CertificateError
 */
export function openCertificate(p12: Uint8Array, password: string, now: Date = new Date()): SigningCertificate {
  const content = readFile(p12, password);
  if (content.keys.length === 0) {
    throw new CertificateError(
      'private_key_missing',
      'The file holds a certificate but not its private key. Export it again together with the private key.',
    );
  }
  if (content.certificates.length === 0) {
    throw new CertificateError(
      'certificate_missing',
      'The file holds a private key but no certificate. Export it again together with the certificate.',
    );
  }
  if (content.keys.length > MOST.keys || content.certificates.length > MOST.certificates) {
    throw new CertificateError(
      'too_many_entries',
      `The file holds ${content.keys.length} private keys and ${content.certificates.length} certificates; at most ${MOST.keys} and ${MOST.certificates} are accepted. Export the certificate that signs alone, with its key and its issuers.`,
    );
  }
  const certificates = content.certificates.map(readCertificate);
  const read = content.keys.map(readKey);
  const pairs = read.flatMap((key) =>
    key instanceof CertificateError
      ? []
      : certificates
          .filter((certificate) => certificate.checkPrivateKey(key))
          .map((certificate) => ({ key, certificate })),
  );
  const unreadable = read.filter((key) => key instanceof CertificateError);
  const pair = choosePair(pairs, unreadable, now);
  return signingCertificate(pair.key, pair.certificate, chainOf(pair.certificate, certificates));
}

function readFile(p12: Uint8Array, password: string): Pkcs12Content {
  const mistake = otherKindOfFile(p12);
  if (mistake !== null) throw new CertificateError('not_a_pkcs12', `${mistake} Upload the .p12 or .pfx file.`);
  try {
    return readPkcs12(p12, password);
  } catch (cause) {
    if (cause instanceof WrongPassword) {
      throw new CertificateError('wrong_password', 'The password does not open the certificate file. Check it.', {
        cause,
      });
    }
    if (cause instanceof TooManyRounds) throw tooCostlyFile(cause.message, cause);
    if (cause instanceof UnsupportedEncryption) {
      throw new CertificateError(
        'unsupported_encryption',
        `The certificate file is encrypted in a way that is not supported (${cause.message}). Export it again with AES-256 or 3DES.`,
        { cause },
      );
    }
    if (cause instanceof Malformed) {
      const message =
        'The file is not a readable PKCS#12 file, or only a part of one. Upload the .p12 or .pfx file as your certificate provider issued it.';
      throw new CertificateError('not_a_pkcs12', message, { cause });
    }
    throw cause;
  }
}

/** The refusal of a file that takes too long to open. */
export function tooCostlyFile(why: string, cause: unknown): CertificateError {
  return new CertificateError(
    'unsupported_encryption',
    `The certificate file takes too long to open: ${why}. Export it again with fewer rounds, for example with openssl pkcs12 -export -iter 2048.`,
    { cause },
  );
}

/** Recognises files that people upload by mistake, so that the error can name them. */
function otherKindOfFile(bytes: Uint8Array): string | null {
  if (bytes.length === 0) return 'The certificate file is empty.';
  if (bytes.length > LARGEST_FILE) return `The file has ${bytes.length} bytes, far more than a certificate file has.`;
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 64));
  if (start.toString('latin1').includes('-----BEGIN')) return 'The file is in PEM form.';
  if (start.length >= 4 && start.readUInt32BE(0) === 0xfeedfeed) return 'The file is a Java key store (JKS).';
  if (start[0] !== 0x30) return 'The file is not a PKCS#12 file.';
  if (bytes.length < 20_000 && isCertificate(bytes))
    return 'The file is a certificate alone (.cer, .crt), without its private key.';
  return null;
}

function isCertificate(bytes: Uint8Array): boolean {
  try {
    return new X509Certificate(bytes).raw.length > 0;
  } catch {
    return false;
  }
}

function readCertificate(der: Buffer): X509Certificate {
  try {
    const certificate = new X509Certificate(der);
    describeCertificate(certificate);
    return certificate;
  } catch (cause) {
    throw new CertificateError('not_a_pkcs12', 'A certificate inside the file is damaged. Export the file again.', {
      cause,
    });
  }
}

/** The key, or why it cannot be read: another key of the file may sign. */
function readKey(der: Buffer): KeyObject | CertificateError {
  try {
    return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  } catch (cause) {
    return new CertificateError(
      'key_not_rsa',
      'The private key inside the file is not an RSA key that can be read. Export the file again, with an RSA key.',
      { cause },
    );
  }
}

function choosePair(pairs: Pair[], unreadable: CertificateError[], now: Date): Pair {
  if (pairs.length === 0 && unreadable.length === 0) {
    throw new CertificateError(
      'key_mismatch',
      'The private key in the file does not belong to any of its certificates. Export the certificate again together with its own key.',
    );
  }
  const judged = pairs.map((pair) => ({ ...pair, refusal: refusalOf(pair, now) }));
  const fit = judged.filter(({ refusal }) => refusal === null);
  if (fit.length > 0) return fit.reduce((best, pair) => (isNewer(pair, best) ? pair : best));
  const refusals = [...judged.flatMap(({ refusal }) => refusal ?? []), ...unreadable];
  if (refusals.length === 1) throw refusals[0];
  throw new CertificateError(
    'no_signing_key',
    `None of the ${refusals.length} keys in the file can sign now. ${refusals.map(({ message }, at) => `(${at + 1}) ${message}`).join(' ')}`,
  );
}

/** Why the pair cannot sign now; null if it can. */
function refusalOf({ key, certificate }: Pair, now: Date): CertificateError | null {
  const described = describeCertificate(certificate);
  if (key.asymmetricKeyType !== 'rsa') {
    return new CertificateError(
      'key_not_rsa',
      `The key of the certificate of ${described.subject} is of type ${key.asymmetricKeyType ?? 'unknown'}; the tax authority takes RSA signatures only. Ask your certificate provider for an RSA certificate.`,
    );
  }
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
  if (bits < SIGNING_BITS.least || bits > SIGNING_BITS.most) {
    return new CertificateError(
      'key_size',
      `The key of the certificate of ${described.subject} has ${bits} bits; ${SIGNING_BITS.least} to ${SIGNING_BITS.most} are accepted for signing. Ask your certificate provider for another.`,
    );
  }
  if (!mayUseForSignatures(certificate)) {
    return new CertificateError(
      'key_usage',
      `The key usage of the certificate of ${described.subject} (serial number ${described.serialNumber}) does not allow signatures. Export the certificate for signatures, together with its key.`,
    );
  }
  return validityFault(described, now);
}

/** Source: RFC 5280 section 4.2.1.3. A certificate that does not state the usage of its key may sign. */
function mayUseForSignatures(certificate: X509Certificate): boolean {
  try {
    return certificateFields(certificate).keyUsage?.signsDocuments !== false;
  } catch (error) {
    if (error instanceof Malformed) return true;
    throw error;
  }
}

/** Newest first: the one that became valid last, then the one that is valid longest. */
function isNewer({ certificate: one }: Pair, { certificate: other }: Pair): boolean {
  const [oneFrom, otherFrom] = [Date.parse(one.validFrom), Date.parse(other.validFrom)];
  return oneFrom > otherFrom || (oneFrom === otherFrom && Date.parse(one.validTo) > Date.parse(other.validTo));
}

/** The issuers that the file carries, nearest first. */
function chainOf(leaf: X509Certificate, certificates: X509Certificate[]): string[] {
  const chain: X509Certificate[] = [];
  for (let current = leaf; ; ) {
    const next = certificates.find((other) => other !== leaf && !chain.includes(other) && current.checkIssued(other));
    if (next === undefined) return chain.map((certificate) => certificate.raw.toString('base64'));
    chain.push(next);
    current = next;
  }
}
