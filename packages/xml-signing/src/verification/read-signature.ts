import type { Element } from '../canonical/elements.js';
import { ACCEPTED, ENVELOPED, EXCLUSIVE_C14N, INCLUSIVE_C14N, XMLDSIG } from '../profiles/authority.js';
import { SignatureRefused } from './verification.js';

/** Canonicalisation by inclusive or exclusive Canonical XML 1.0, without comments. */
export interface Canonicalisation {
  readonly exclusive: boolean;
  /** Prefixes of InclusiveNamespaces; '' represents `#default`. */
  readonly inclusivePrefixes: readonly string[];
}

/** The content of a Signature whose structure is exactly that of the profile. */
export interface SignatureContent {
  readonly signedInfo: Element;
  readonly signedInfoCanonicalisation: Canonicalisation;
  readonly documentCanonicalisation: Canonicalisation;
  readonly digest: Buffer;
  readonly signature: Buffer;
  /** Base64 without blanks. */
  readonly signatureValue: string;
  /** Each DER in base64 without blanks, in document order. */
  readonly certificates: readonly string[];
}

const MOST_CERTIFICATES = 8;
const LONGEST_CERTIFICATE = 16_384;
const INCLUSIVE: Canonicalisation = { exclusive: false, inclusivePrefixes: [] };
/** KeyInfo is not signed and only helps to find the certificate; other ways of pointing at keys are refused. */
const KEY_INFO = new Set(['KeyName', 'KeyValue', 'X509Data']);
const X509_DATA = new Set(['X509Certificate', 'X509IssuerSerial', 'X509SubjectName', 'X509SKI', 'X509CRL']);

/**
 * Reads a Signature of the only accepted structure: one Reference to the whole document, no Object, no Manifest, no
 * ambiguous optional parts.
 *
 * @throws SignatureRefused
 */
export function readSignature(signature: Element): SignatureContent {
  onlyAttributes(signature, ['Id']);
  const [signedInfo, signatureValue, keyInfo] = children(signature, ['SignedInfo', 'SignatureValue', 'KeyInfo']);
  onlyAttributes(signedInfo, ['Id']);
  const [method, algorithm, reference] = children(signedInfo, [
    'CanonicalizationMethod',
    'SignatureMethod',
    'Reference',
  ]);
  const signedInfoCanonicalisation = canonicalisation(method);
  accepted(algorithm, ACCEPTED.signatures);
  noChildren(algorithm);
  const value = base64(signatureValue);
  return {
    signedInfo,
    signedInfoCanonicalisation,
    ...readReference(reference),
    signature: Buffer.from(value, 'base64'),
    signatureValue: value,
    certificates: certificatesOf(keyInfo),
  };
}

function readReference(reference: Element): Pick<SignatureContent, 'documentCanonicalisation' | 'digest'> {
  onlyAttributes(reference, ['Id', 'URI']);
  const uri = reference.attributes.find(({ name }) => name === 'URI');
  if (uri?.raw !== '') {
    throw new SignatureRefused('reference_refused', 'The Reference does not cover the whole document (URI="").');
  }
  const [transforms, digestMethod, digestValue] = children(reference, ['Transforms', 'DigestMethod', 'DigestValue']);
  accepted(digestMethod, ACCEPTED.digests);
  noChildren(digestMethod);
  onlyAttributes(transforms, []);
  blank(transforms);
  const [enveloped, rendering, ...more] = transforms.children;
  if (enveloped === undefined || more.length > 0) throw structure('Transforms');
  for (const transform of transforms.children) expectName(transform, 'Transform');
  accepted(enveloped, [ENVELOPED]);
  noChildren(enveloped);
  const digest = Buffer.from(base64(digestValue), 'base64');
  return { documentCanonicalisation: rendering === undefined ? INCLUSIVE : canonicalisation(rendering), digest };
}

function canonicalisation(method: Element): Canonicalisation {
  const algorithm = accepted(method, ACCEPTED.canonicalisations);
  if (algorithm === INCLUSIVE_C14N) {
    noChildren(method);
    return INCLUSIVE;
  }
  blank(method);
  const [list, ...more] = method.children;
  if (list === undefined) return { exclusive: true, inclusivePrefixes: [] };
  if (more.length > 0 || list.local !== 'InclusiveNamespaces' || list.namespace !== EXCLUSIVE_C14N) {
    throw structure(method.local);
  }
  noChildren(list);
  onlyAttributes(list, ['PrefixList']);
  const prefixes = (list.attributes[0]?.raw ?? '').split(/[ \t\n]+/).filter((prefix) => prefix !== '');
  if (prefixes.length > 32) throw structure('InclusiveNamespaces');
  return { exclusive: true, inclusivePrefixes: prefixes.map((prefix) => (prefix === '#default' ? '' : prefix)) };
}

function certificatesOf(keyInfo: Element): string[] {
  blank(keyInfo);
  const certificates: string[] = [];
  for (const hint of keyInfo.children) {
    if (hint.namespace !== XMLDSIG || !KEY_INFO.has(hint.local)) throw structure('KeyInfo');
    if (hint.local !== 'X509Data') continue;
    for (const item of hint.children) {
      if (item.namespace !== XMLDSIG || !X509_DATA.has(item.local)) throw structure('X509Data');
      if (item.local === 'X509Certificate') certificates.push(base64(item));
    }
  }
  if (certificates.length === 0) {
    throw new SignatureRefused('certificate_missing', 'The Signature carries no X509Certificate to verify it with.');
  }
  if (certificates.length > MOST_CERTIFICATES || certificates.some(({ length }) => length > LONGEST_CERTIFICATE)) {
    throw new SignatureRefused(
      'certificate_unreadable',
      `The Signature carries more than ${MOST_CERTIFICATES} certificates, or one that is longer than any real one.`,
    );
  }
  return certificates;
}

/** Exactly these children, in this order, and no text between them. */
function children<const Names extends readonly string[]>(
  parent: Element,
  names: Names,
): { [Position in keyof Names]: Element } {
  blank(parent);
  if (parent.children.length !== names.length) {
    const references = parent.children.filter(({ local }) => local === 'Reference').length;
    if (references > 1) {
      throw new SignatureRefused('reference_refused', 'The Signature has more than one Reference.');
    }
    throw structure(parent.local);
  }
  for (const [position, name] of names.entries()) expectName(parent.children[position]!, name);
  return parent.children as unknown as { [Position in keyof Names]: Element };
}

function expectName(element: Element, name: string): void {
  if (element.local !== name || element.namespace !== XMLDSIG) throw structure(name);
}

function accepted(element: Element, algorithms: readonly string[]): string {
  onlyAttributes(element, ['Algorithm']);
  const algorithm = element.attributes[0]?.raw ?? '';
  if (algorithms.includes(algorithm)) return algorithm;
  throw new SignatureRefused(
    'foreign_algorithm',
    `${element.local} names an algorithm that is not accepted: ${JSON.stringify(algorithm.slice(0, 100))}.`,
  );
}

function onlyAttributes(element: Element, names: readonly string[]): void {
  if (element.attributes.some(({ name }) => !names.includes(name))) throw structure(element.local);
}

function noChildren(element: Element): void {
  if (element.children.length > 0) throw structure(element.local);
  blank(element);
}

function blank(element: Element): void {
  if (/[^ \t\n]/.test(element.text)) throw structure(element.local);
}

/** Base64 text, often wrapped over lines; Java writes the carriage returns of its line ends as references. */
function base64(element: Element): string {
  onlyAttributes(element, ['Id']);
  const value = element.text.replace(/&#xD;|[ \t\n]+/g, '');
  // A pattern for the whole text would need stack for each character of a hostile one.
  const digits = value.replace(/={1,2}$/, '');
  if (element.children.length > 0 || digits === '' || /[^A-Za-z0-9+/]/.test(digits)) {
    throw new SignatureRefused('signature_structure', `${element.local} is not base64 text.`);
  }
  return value;
}

function structure(name: string): SignatureRefused {
  return new SignatureRefused(
    'signature_structure',
    `The Signature does not have the form that the authority requires: ${name} is missing, misplaced or has other content.`,
  );
}
