import type { WrittenXml } from '@ecf/ecf-xml';
import type { SigningCertificate } from './signing-certificate.js';

export interface SignedXml {
  /** The document with prolog and with its Signature as last child of the root. Not a byte of it may change. */
  readonly xml: string;
  /** Base64, without blanks. */
  readonly signatureValue: string;
  readonly digestValue: string;
}

/** Signs a document as the authority wants it. */
export async function signXml(_written: WrittenXml, _certificate: SigningCertificate): Promise<SignedXml> {
  throw new Error('not yet');
}
