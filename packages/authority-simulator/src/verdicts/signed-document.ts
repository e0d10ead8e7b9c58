import type { DocumentNode } from '@ecf/domain';
import { type CheckedDocument, checkXml, parseXml, readXml, XmlRefused } from '@ecf/ecf-xml';
import { type Verification, verifyXml } from '@ecf/xml-signing';

/** How the authority verifies signatures; the control interface changes it. */
export interface SignatureReading {
  /** A signature must hold as .NET reads a document: without blank text between elements, CR as LF. Else either form does. */
  strict: boolean;
}

/** A parsed document; form and signature are checked separately. */
export interface SignedDocument {
  readonly checked: CheckedDocument;
  readonly verification: Verification;
  /** The certificate is within its dates at the arrival; the signing time a document states is its issuer's own word. */
  readonly inForce: boolean;
  readonly tree: DocumentNode;
  /**
   * It begins with a byte order mark or has an element without content, which the authority refuses although schemas
   * may allow it. Sources: technical description p.59; field reports.
   */
  readonly refusedBeyondSchema: boolean;
}

/** Reads a document once for all checks; null if it is not an XML document that the authority would read. */
export function readSigned(bytes: Uint8Array, now: Date): SignedDocument | null {
  try {
    const xml = parseXml(bytes);
    const checked = checkXml(xml);
    const verification = verifyXml(xml, now);
    return {
      checked,
      verification,
      inForce: isInForce(verification, now),
      tree: checked.tree ?? readXml(xml),
      refusedBeyondSchema: xml.hasByteOrderMark || hasEmptyElement(xml.text),
    };
  } catch (error) {
    if (error instanceof XmlRefused) return null;
    throw error;
  }
}

/** Canonical XML writes an empty element as a start tag and an end tag; those inside the signature are its own. */
function hasEmptyElement(canonical: string): boolean {
  const end = signatureStart(canonical);
  for (let at = canonical.indexOf('></'); at >= 0 && at < end; at = canonical.indexOf('></', at + 1)) {
    if (canonical[canonical.lastIndexOf('<', at) + 1] !== '/') return true;
  }
  return false;
}

/** Start of the signature; the end of the text if there is none. */
function signatureStart(canonical: string): number {
  const declared = canonical.indexOf('Signature xmlns');
  const at = declared >= 0 ? declared : canonical.search(/<(?:[\w.-]+:)?Signature[ >]/);
  return at >= 0 ? at : canonical.length;
}

/** The holder of the certificate that signed; null when the signature or the certificate is not good. */
export function signerOf(
  { verification, inForce }: SignedDocument,
  { strict }: SignatureReading,
): { readonly holder: string } | null {
  const { certificate, refusedElsewhere } = verification;
  if (verification.signature !== 'valid' || !certificate || !inForce) return null;
  if (strict && refusedElsewhere !== null) return null;
  return { holder: certificate.holderId ?? certificate.subject };
}

function isInForce({ certificate }: Verification, now: Date): boolean {
  if (!certificate) return false;
  return Date.parse(certificate.not_before) <= now.getTime() && now.getTime() <= Date.parse(certificate.not_after);
}
