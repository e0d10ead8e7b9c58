/**
 * The authority's signature profile: one enveloped RSA-SHA256 signature over the whole document, as last child of the root.
 * It uses inclusive Canonical XML 1.0 without comments and contains the holder's certificate.
 *
 * Sources: Firmado de e-CF (March 2023) p. 3; the signatures of documents that the authority itself has issued.
 */
export const XMLDSIG = 'http://www.w3.org/2000/09/xmldsig#';
export const ENVELOPED = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature';
export const INCLUSIVE_C14N = 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315';
export const EXCLUSIVE_C14N = 'http://www.w3.org/2001/10/xml-exc-c14n#';
export const RSA_SHA256 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256';
export const SHA256 = 'http://www.w3.org/2001/04/xmlenc#sha256';

/** The prolog of what we send; canonical text has none, so it is not part of what is signed. */
export const PROLOG = '<?xml version="1.0" encoding="utf-8"?>';

/**
 * Algorithms that we accept from others: the authority honours the algorithms that a document declares; so do we, from this list.
 * Everything else is refused, SHA-1 and the variants with comments among it.
 */
export const ACCEPTED = {
  canonicalisations: [INCLUSIVE_C14N, EXCLUSIVE_C14N],
  signatures: [RSA_SHA256],
  digests: [SHA256],
} as const;

/**
 * RSA keys of certificates whose signatures are verified. 1024 bits: documents of early certificates must stay
 * verifiable. 8192 bits and a 64-bit exponent bound the time of one verification to about a millisecond.
 */
export const VERIFIED_KEYS = { leastBits: 1024, mostBits: 8192, mostExponent: 2n ** 64n } as const;

const empty = (name: string, algorithm: string): string => `<${name} Algorithm="${algorithm}"/>`;

const REFERENCE_START = `${empty('CanonicalizationMethod', INCLUSIVE_C14N)}${empty('SignatureMethod', RSA_SHA256)}<Reference URI=""><Transforms>${empty('Transform', ENVELOPED)}</Transforms>${empty('DigestMethod', SHA256)}<DigestValue>`;
const REFERENCE_END = '</DigestValue></Reference></SignedInfo>';
const CANONICAL_REFERENCE_START = REFERENCE_START.replace(/<(\w+)( Algorithm="[^"]*")\/>/g, '<$1$2></$1>');

/**
 * SignedInfo in inclusive canonical form. As the top of what is canonicalised it carries the namespace declarations
 * of all its ancestors, default first, the others by prefix.
 *
 * @param declarations those of the root element, canonical: ` xmlns:xsd="..." xmlns:xsi="..."`
 */
export function canonicalSignedInfo(declarations: string, digestValue: string): string {
  return `<SignedInfo xmlns="${XMLDSIG}"${declarations}>${CANONICAL_REFERENCE_START}${digestValue}${REFERENCE_END}`;
}

/** The Signature element as in the document, where the declarations above it are in force. */
export function signatureElement(digestValue: string, signatureValue: string, certificate: string): string {
  return `<Signature xmlns="${XMLDSIG}"><SignedInfo>${REFERENCE_START}${digestValue}${REFERENCE_END}<SignatureValue>${signatureValue}</SignatureValue><KeyInfo><X509Data><X509Certificate>${certificate}</X509Certificate></X509Data></KeyInfo></Signature>`;
}
