import type { CanonicalXml } from '@ecf/ecf-xml';
import { XMLDSIG } from './profiles/authority.js';
import { locateSignature } from './verification/locate-signature.js';
import { SignatureRefused } from './verification/verification.js';

/**
 * The SignatureValue of a signed document, base64 without blanks, for its security code. The signature is not verified.
 *
 * @throws SignatureRefused when the document does not have exactly one Signature that is a child of its root
 */
export function signatureValueOf(xml: CanonicalXml): string | null {
  const { element } = locateSignature(xml.text);
  const value = element.children.find(({ local, namespace }) => local === 'SignatureValue' && namespace === XMLDSIG);
  return value?.text.replace(/&#xD;|\s+/g, '') || null;
}

/** Whether a document has a Signature, a misplaced or repeated one included. */
export function isSigned(xml: CanonicalXml): boolean {
  try {
    locateSignature(xml.text);
    return true;
  } catch (error) {
    if (error instanceof SignatureRefused) return error.code !== 'signature_missing';
    throw error;
  }
}

/**
 * The security code of an e-CF, its QR address and its summary (CodigoSeguridad, CodigoSeguridadeCF): the first six
 * characters of the base64 text of SignatureValue, without blanks, in their case. It may contain `+` and `/`, so it is
 * percent-encoded in addresses.
 *
 * Source: Informe Técnico e-CF 18.2.3.
 */
export function securityCode(signatureValue: string): string {
  return signatureValue.replace(/\s+/g, '').slice(0, 6);
}
