import type { DocumentNode } from '@ecf/domain';
import { type CheckedDocument, checkXml, parseXml, XmlRefused } from '@ecf/ecf-xml';
import { type Verification, verifyXml } from '@ecf/xml-signing';

/** A document as it was read: structure and signature are judged separately. */
export interface SignedDocument {
  readonly checked: CheckedDocument;
  readonly verification: Verification;
  readonly tree: DocumentNode;
  readonly hasByteOrderMark: boolean;
}

/** Reads a document once for all checks; null when it is no XML document that the authority would read. */
export function readSigned(bytes: Uint8Array, now: Date): SignedDocument | null {
  try {
    const xml = parseXml(bytes);
    const checked = checkXml(xml);
    if (!checked.tree) return null;
    const verification = verifyXml(xml, now);
    return { checked, verification, tree: checked.tree, hasByteOrderMark: xml.hasByteOrderMark };
  } catch (error) {
    if (error instanceof XmlRefused) return null;
    throw error;
  }
}

/** The holder of the certificate that signed; null when the signature or the certificate is not good. */
export function signerOf({ verification }: SignedDocument): { readonly holder: string } | null {
  const { certificate } = verification;
  if (verification.signature !== 'valid' || !certificate?.valid_at_signing) return null;
  return { holder: certificate.holderId ?? certificate.subject };
}
