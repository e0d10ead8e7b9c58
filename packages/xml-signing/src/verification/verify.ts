import { hash } from 'node:crypto';
import { parseSignatureDateTime, toIsoDominican } from '@ecf/domain';
import { type CanonicalXml, parseXml, XmlRefused } from '@ecf/ecf-xml';
import { withLineFeeds, withoutBlankText } from '../canonical/blank-text.js';
import { TooManyElements } from '../canonical/elements.js';
import { exclusiveCanonical } from '../canonical/exclusive.js';
import { declarationsInForce, declarationText, TooManyNamespaces } from '../canonical/namespaces.js';
import { findSigner, type Signer } from './find-signer.js';
import { type LocatedSignature, locateSignature } from './locate-signature.js';
import { readSignature, type SignatureContent } from './read-signature.js';
import type { CertificateFacts, RefusedElsewhere, Verification } from './verification.js';
import { SignatureRefused } from './verification.js';

interface Verified {
  /** Exactly what was digested. */
  readonly text: string;
  readonly content: SignatureContent;
  readonly signer: Signer;
}

/**
 * Verifies the enveloped signature of a document by the authority's profile: as received, and if that fails again without
 * blank text. It never throws for a faulty document; `reason` names the fault.
 *
 * Read afterwards from `verified` and from nothing else: it is what the signature covers. An expired or unknown certificate
 * does not make a signature invalid; `certificate` holds the facts.
 *
 * @param xml the bytes as received, or what parseXml made of them
 * @param now for documents that state no signing time
 */
export function verifyXml(xml: Uint8Array | CanonicalXml, now: Date = new Date()): Verification {
  try {
    const received = xml instanceof Uint8Array ? parseXml(xml) : xml;
    // Comments before and behind the root are not part of what is signed.
    if (received.hasProcessingInstructions || received.hasInnerComments) {
      throw new SignatureRefused(
        'comment_or_instruction',
        'The document has comments or processing instructions, which can make it read differently from what was signed.',
      );
    }
    const { verified, canonical } = verifyBothWays(received.text);
    return {
      signature: 'valid',
      reason: null,
      canonical,
      refusedElsewhere: refusedElsewhere(received.text, canonical),
      certificate: certificateFacts(verified, received.rootName, now),
      verified: { ...received, text: verified.text, source: verified.text },
      signatureValue: verified.content.signatureValue,
    };
  } catch (error) {
    const { code, message } = refusal(error);
    return {
      signature: 'invalid',
      reason: { code, message },
      canonical: null,
      refusedElsewhere: null,
      certificate: null,
      verified: null,
      signatureValue: null,
    };
  }
}

function verifyBothWays(text: string): { verified: Verified; canonical: 'as-is' | 'whitespace-dropped' } {
  try {
    return { verified: verifyText(text), canonical: 'as-is' };
  } catch (error) {
    if (!(error instanceof SignatureRefused)) throw error;
    if (error.code !== 'digest_mismatch' && error.code !== 'signature_mismatch') throw error;
    const compact = withoutBlankText(text);
    if (compact.length === text.length) throw error;
    return { verified: verifyText(compact), canonical: 'whitespace-dropped' };
  }
}

/** Verifies a valid signature again in the forms in which others read the document, as far as they differ. */
function refusedElsewhere(text: string, canonical: 'as-is' | 'whitespace-dropped'): RefusedElsewhere | null {
  if (canonical === 'as-is') {
    const compact = withoutBlankText(text);
    if (compact.length !== text.length && !verifies(compact)) return 'blanks';
  }
  const read = withLineFeeds(text);
  return read === text || verifies(withoutBlankText(read)) ? null : 'carriage-returns';
}

function verifies(text: string): boolean {
  try {
    verifyText(text);
    return true;
  } catch (error) {
    if (error instanceof SignatureRefused) return false;
    throw error;
  }
}

function verifyText(text: string): Verified {
  const located = locateSignature(text);
  const content = readSignature(located.element);
  const { start, end } = located.element;
  // Nothing else in the document depends on the Signature, so cutting it out of the canonical text is exact.
  const document = text.slice(0, start) + text.slice(end);
  const { exclusive, inclusivePrefixes } = content.documentCanonicalisation;
  const signed = exclusive ? exclusiveCanonical(document, 0, document.length, null, inclusivePrefixes) : document;
  if (!hash('sha256', signed, 'buffer').equals(content.digest)) {
    throw new SignatureRefused('digest_mismatch', 'The document was changed after it was signed.');
  }
  const signer = findSigner(content.certificates, canonicalSignedInfo(text, located, content), content.signature);
  return { text: signed, content, signer };
}

/** SignedInfo as it was signed: on its own, with the declarations (inclusive: all, exclusive: used ones) around it. */
function canonicalSignedInfo(text: string, located: LocatedSignature, content: SignatureContent): string {
  const { name, start, contentStart, end, outside, inside, attributes } = content.signedInfo;
  const { exclusive, inclusivePrefixes } = content.signedInfoCanonicalisation;
  if (exclusive) return exclusiveCanonical(text, start, end, outside, inclusivePrefixes);
  const declarations = declarationsInForce(inside).map(({ prefix, uri }) => declarationText(prefix, uri));
  const own = attributes.map((attribute) => ` ${attribute.name}="${attribute.raw}"`);
  // Canonical XML 1.0 hands down attributes of the xml namespace too.
  const inherited = located.rootAttributes
    .filter((attribute) => attribute.name.startsWith('xml:'))
    .map((attribute) => ` ${attribute.name}="${attribute.raw}"`);
  return `<${name}${declarations.join('')}${own.join('')}${inherited.join('')}>${text.slice(contentStart, end)}`;
}

function certificateFacts({ text, content, signer }: Verified, rootName: string, now: Date): CertificateFacts {
  const { certificate: described, position } = signer;
  const at = statedSigningTime(rootName, text) ?? now;
  return {
    subject: described.subject,
    serial_number: described.serialNumber,
    issuer: described.issuer,
    not_before: toIsoDominican(described.notBefore),
    not_after: toIsoDominican(described.notAfter),
    valid_at_signing: described.notBefore <= at && at <= described.notAfter,
    fingerprint: described.fingerprint,
    keyFingerprint: described.keyFingerprint,
    holderId: described.holderId,
    der: content.certificates[position]!,
    others: content.certificates.filter((_, other) => other !== position),
  };
}

function refusal(error: unknown): Pick<SignatureRefused, 'code' | 'message'> {
  if (error instanceof SignatureRefused) return error;
  if (error instanceof XmlRefused) return { code: 'xml_refused', message: error.message };
  if (error instanceof TooManyElements || error instanceof TooManyNamespaces) {
    return { code: 'signature_structure', message: 'The document declares or nests more than any real one does.' };
  }
  throw error;
}

/** The element in which a document states when it was signed. RFCE and the seed state none. */
const SIGNING_TIME: Record<string, string> = {
  ECF: 'FechaHoraFirma',
  ARECF: 'FechaHoraAcuseRecibo',
  ACECF: 'FechaHoraAprobacionComercial',
  ANECF: 'FechaHoraAnulacioneNCF',
};

/** The signing time that a document states, or null. Read from canonical text, where no such element nests. */
function statedSigningTime(rootName: string, text: string): Date | null {
  const element = SIGNING_TIME[rootName];
  if (element === undefined) return null;
  const start = text.lastIndexOf(`<${element}>`);
  if (start < 0) return null;
  const from = start + element.length + 2;
  return parseSignatureDateTime(text.slice(from, text.indexOf('<', from)));
}
