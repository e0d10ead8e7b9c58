import type { DocumentNode } from '@ecf/domain';
import { type CanonicalXml, parseXml, readXml, XmlRefused } from '@ecf/ecf-xml';
import { SignatureRefused, securityCode, signatureValueOf, verifyXml } from '@ecf/xml-signing';

/** A signed document with the facts that other commands derive from it. */
export interface SignedDocument {
  readonly tree: DocumentNode;
  readonly securityCode: string;
  /** Why the signature does not verify; null when it does. */
  readonly doubt: string | null;
}

/** The document cannot serve: exit code 1, with the reason. */
export class DocumentAtFault extends Error {}

/**
 * Reads a signed document. It is read even if its signature does not verify, because a damaged copy has the same address as
 * the issued document. A warning reports the invalid signature.
 *
 * @throws DocumentAtFault
 */
export function readSigned(bytes: Uint8Array): SignedDocument {
  try {
    const xml = parseXml(bytes);
    const { reason } = verifyXml(xml);
    return { tree: treeOf(xml), securityCode: codeOf(xml), doubt: reason === null ? null : reason.message };
  } catch (error) {
    if (error instanceof XmlRefused || error instanceof SignatureRefused) {
      throw new DocumentAtFault(error.message, { cause: error });
    }
    throw error;
  }
}

function treeOf(xml: CanonicalXml): DocumentNode {
  const tree = readXml(xml);
  if (tree.ECF === undefined && tree.RFCE === undefined) {
    throw new DocumentAtFault(`The document is ${xml.rootName}; only e-CF and their summaries have an address.`);
  }
  return tree;
}

function codeOf(xml: CanonicalXml): string {
  const value = signatureValueOf(xml);
  if (value === null) throw new DocumentAtFault('The Signature has no SignatureValue, so there is no security code.');
  return securityCode(value);
}
