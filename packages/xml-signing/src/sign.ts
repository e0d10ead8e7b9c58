import { hash, sign } from 'node:crypto';
import { promisify } from 'node:util';
import type { WrittenXml } from '@ecf/ecf-xml';
import type { SigningCertificate } from './certificates/signing-certificate.js';
import { SigningError } from './errors.js';
import { canonicalSignedInfo, PROLOG, signatureElement } from './profiles/authority.js';

export interface SignedXml {
  /** The document with prolog and with its Signature as last child of the root. Not a byte of it may change. */
  readonly xml: string;
  /** Base64, without blanks. */
  readonly signatureValue: string;
  readonly digestValue: string;
}

/** With a callback, RSA runs in the thread pool: all cores sign, and the event loop stays free. */
const signInThreadPool = promisify(sign);

/** A root element in canonical form whose only attributes are declarations of prefixes. */
const ROOT = /^<([A-Za-z_][\w.-]*)((?: xmlns:[A-Za-z_][\w.-]*="[^"<]*")*)>/;

/**
 * Signs a document in the authority's profile. It builds no tree: the digest covers the writer's canonical text, and the
 * Signature is built from constants and inserted before the root's end tag.
 *
 * @throws SigningError when the text is signed already, or is not a canonical document without default namespace
 */
export async function signXml(written: WrittenXml, certificate: SigningCertificate): Promise<SignedXml> {
  const { canonical, output } = written;
  const root = ROOT.exec(canonical);
  const end = root === null ? '' : `</${root[1]}>`;
  if (root === null || !canonical.endsWith(end) || !output.endsWith(end)) {
    throw new SigningError('not_canonical', 'Only canonical text with a prefix-free root element can be signed.');
  }
  if (canonical.includes('<Signature') && /<Signature[ >]/.test(canonical)) {
    throw new SigningError('already_signed', 'The document has a Signature already. Sign the unsigned document.');
  }
  const digestValue = hash('sha256', canonical, 'base64');
  const signedInfo = canonicalSignedInfo(root[2] ?? '', digestValue);
  const signature = await signInThreadPool('sha256', Buffer.from(signedInfo), certificate.privateKey);
  const signatureValue = signature.toString('base64');
  const element = signatureElement(digestValue, signatureValue, certificate.certificate);
  return { xml: `${PROLOG}${output.slice(0, -end.length)}${element}${end}`, signatureValue, digestValue };
}

/** SHA-256 in base64. */
const DIGEST_CHARACTERS = 44;

/** The size in bytes of the document that {@link signXml} makes, without signing it: all parts have a fixed length. */
export function signedLength({ output }: WrittenXml, { privateKey, certificate }: SigningCertificate): number {
  const keyBytes = (privateKey.asymmetricKeyDetails?.modulusLength ?? 0) / 8;
  const signatureCharacters = 4 * Math.ceil(Math.ceil(keyBytes) / 3);
  const element = signatureElement('='.repeat(DIGEST_CHARACTERS), '='.repeat(signatureCharacters), certificate);
  return Buffer.byteLength(PROLOG + output + element);
}
