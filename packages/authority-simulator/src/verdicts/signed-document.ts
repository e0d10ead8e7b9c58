import type { DocumentNode } from '@ecf/domain';
import { type CheckedDocument, checkXml, parseXml, readXml, XmlRefused } from '@ecf/ecf-xml';
import { type Verification, verifyXml } from '@ecf/xml-signing';

/** A document as it was read: form and signature are judged separately. */
export interface SignedDocument {
  readonly checked: CheckedDocument;
  readonly verification: Verification;
  readonly tree: DocumentNode;
  /**
   * It begins with a byte order mark or has an element without content, which the authority refuses although schemas
   * may allow it. Sources: technical description p.59; field reports.
   */
  readonly refusedBeyondSchema: boolean;
}

/** Reads a document once for all checks; null when it is no XML document that the authority would read. */
export function readSigned(bytes: Uint8Array, now: Date): SignedDocument | null {
  try {
    const xml = parseXml(bytes);
    const checked = checkXml(xml);
    return {
      checked,
      verification: verifyXml(xml, now),
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
  const signature = canonical.search(/<(?:[\w.-]+:)?Signature[ >]/);
  const at = canonical.search(/<[A-Za-z][^<>]*><\//);
  return at >= 0 && (signature < 0 || at < signature);
}

/** The holder of the certificate that signed; null when the signature or the certificate is not good. */
export function signerOf({ verification }: SignedDocument): { readonly holder: string } | null {
  const { certificate } = verification;
  if (verification.signature !== 'valid' || !certificate?.valid_at_signing) return null;
  return { holder: certificate.holderId ?? certificate.subject };
}
