import { hash, type KeyObject, verify, X509Certificate } from 'node:crypto';
import { type CertificateDescription, describeCertificate } from '../certificates/certificate-description.js';
import { VERIFIED_KEYS } from '../profiles/authority.js';
import { SignatureRefused } from './verification.js';

/** The certificate among several whose key made the signature. */
export interface Signer {
  readonly certificate: CertificateDescription;
  /** Its place in the KeyInfo. */
  readonly position: number;
}

interface KnownCertificate {
  readonly description: CertificateDescription;
  readonly key: KeyObject;
}

/**
 * Certificates that have verified something, by the SHA-256 of their base64 text, the least recently used first.
 * Reading a certificate takes ten times as long as one verification, and each sender uses the same one all year.
 */
const known = new Map<string, KnownCertificate>();
const MOST_KNOWN = 1_000;

/**
 * Finds the signer. A KeyInfo may carry the whole chain in any order: the holder's certificate is the one whose key
 * verifies, never simply the first.
 *
 * @param certificates DER in base64
 * @throws SignatureRefused when none of them verifies
 */
export function findSigner(certificates: readonly string[], signedInfo: string, signature: Buffer): Signer {
  const data = Buffer.from(signedInfo);
  let worst: SignatureRefused | null = null;
  for (const [position, text] of certificates.entries()) {
    const name = hash('sha256', text, 'base64');
    const candidate = known.get(name) ?? readCertificate(text);
    if (candidate instanceof SignatureRefused) worst ??= candidate;
    else if (verify('sha256', data, candidate.key, signature)) {
      remember(name, candidate);
      return { certificate: candidate.description, position };
    } else worst = mismatch();
  }
  throw worst ?? mismatch();
}

function readCertificate(text: string): KnownCertificate | SignatureRefused {
  try {
    const certificate = new X509Certificate(Buffer.from(text, 'base64'));
    const key = certificate.publicKey;
    if (hasAcceptedSize(key)) return { description: describeCertificate(certificate), key };
    return new SignatureRefused(
      'certificate_key',
      `The certificate's key is not an RSA key of ${VERIFIED_KEYS.leastBits} to ${VERIFIED_KEYS.mostBits} bits with an ordinary exponent.`,
    );
  } catch {
    return new SignatureRefused('certificate_unreadable', 'The X509Certificate in the Signature cannot be read.');
  }
}

/** Whether a key is one of the RSA keys of {@link VERIFIED_KEYS}, so that a verification with it takes no longer than usual. */
export function hasAcceptedSize(key: KeyObject): boolean {
  if (key.asymmetricKeyType !== 'rsa') return false;
  const { modulusLength = 0, publicExponent = 0n } = key.asymmetricKeyDetails ?? {};
  const sized = modulusLength >= VERIFIED_KEYS.leastBits && modulusLength <= VERIFIED_KEYS.mostBits;
  return sized && publicExponent >= 3n && publicExponent < VERIFIED_KEYS.mostExponent;
}

function remember(name: string, certificate: KnownCertificate): void {
  known.delete(name);
  known.set(name, certificate);
  if (known.size > MOST_KNOWN) known.delete(known.keys().next().value!);
}

function mismatch(): SignatureRefused {
  return new SignatureRefused(
    'signature_mismatch',
    'SignatureValue was not made by the key of the certificate over this SignedInfo: one of the two was changed or exchanged.',
  );
}
