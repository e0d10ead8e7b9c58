import type { X509Certificate } from 'node:crypto';
import forge from 'node-forge';
import { certificateFields, issuedName } from '../certificates/certificate-fields.js';
import { type Asn1, members, readAsn1 } from '../pkcs12/asn1.js';

/** Certificates that count no more: by issuer and serial number, and by fingerprint. */
export interface RevokedCertificates {
  /** How many are listed. */
  readonly size: number;
  has(certificate: X509Certificate): boolean;
}

const LIST = /-----BEGIN X509 CRL-----[^-]+-----END X509 CRL-----/g;
const FINGERPRINT = /^(?:[0-9a-f]{2}:?){32}$/i;

/**
 * Reads revoked certificates: revocation lists of issuers (CRL in PEM, or one in DER), and lines with the SHA-256 of one
 * certificate. Lines that begin with # are comments. Signatures of the lists are not verified: the operator chose the file.
 *
 * @throws Error that says what is wrong, also if the list is empty
 */
export function readRevokedCertificates(bytes: Uint8Array): RevokedCertificates {
  const text = Buffer.from(bytes).toString('latin1');
  if (isDer(bytes)) return revoked(namesOf(bytes), new Set());
  const lists = text.match(LIST) ?? [];
  const names = lists.flatMap((block) => namesOf(Buffer.from(block.replace(/-----[^-]+-----|\s/g, ''), 'base64')));
  const fingerprints = new Set<string>();
  for (const line of text
    .replace(LIST, '')
    .split(/\r?\n/)
    .map((one) => one.trim())) {
    if (line === '' || line.startsWith('#')) continue;
    if (!FINGERPRINT.test(line))
      throw new Error(
        `a line is neither a revocation list in PEM nor the SHA-256 of a certificate: ${line.slice(0, 40)}`,
      );
    fingerprints.add(line.replaceAll(':', '').toLowerCase());
  }
  if (lists.length === 0 && fingerprints.size === 0)
    throw new Error('it holds no revocation list in PEM or DER, and no SHA-256 of a certificate');
  return revoked(names, fingerprints);
}

/** A SEQUENCE of more than 127 bytes, as every revocation list is. Text has no such bytes. */
function isDer(bytes: Uint8Array): boolean {
  return bytes[0] === 0x30 && (bytes[1] ?? 0) > 0x80;
}

function revoked(names: readonly string[], fingerprints: ReadonlySet<string>): RevokedCertificates {
  const named = new Set(names);
  return {
    size: named.size + fingerprints.size,
    has: (certificate) =>
      fingerprints.has(certificate.fingerprint256.replaceAll(':', '').toLowerCase()) ||
      (named.size > 0 && named.has(certificateFields(certificate).name)),
  };
}

/** The certificates of a CRL (RFC 5280 section 5.1). */
function namesOf(der: Uint8Array): string[] {
  try {
    const [body] = members(readAsn1(der));
    const fields = members(body).filter(({ type }) => type !== forge.asn1.Type.INTEGER);
    // Signature algorithm, issuer, this update, then next update if any, then the entries if any.
    const [, issuer, ...rest] = fields;
    members(issuer);
    if (!isTime(rest[0])) throw new Error('no date');
    const entries = rest.find((field) => field.type === forge.asn1.Type.SEQUENCE);
    return (entries === undefined ? [] : members(entries)).map((entry) => issuedName(issuer, members(entry)[0]));
  } catch (cause) {
    throw new Error('a revocation list in it cannot be read', { cause });
  }
}

function isTime(value: Asn1 | undefined): boolean {
  return value?.type === forge.asn1.Type.UTCTIME || value?.type === forge.asn1.Type.GENERALIZEDTIME;
}
