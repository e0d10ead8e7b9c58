import type { CanonicalXml } from '@ecf/ecf-xml';
import { locateSignature } from './locate-signature.js';
import { XMLDSIG } from './profiles/authority.js';

/**
 * The SignatureValue of a signed document, base64 without blanks, for its security code. Nothing is verified.
 *
 * @throws SignatureRefused when the document has no Signature of its own, or more than one
 */
export function signatureValueOf(xml: CanonicalXml): string | null {
  const { element } = locateSignature(xml.text);
  const value = element.children.find(({ local, namespace }) => local === 'SignatureValue' && namespace === XMLDSIG);
  return value?.text.replace(/&#xD;|\s+/g, '') || null;
}
