// The engine as a library: what the gateway does with a document, without the gateway.
import {
  confirmationAddress,
  type DocumentNode,
  deriveRfce,
  type EcfType,
  type Environment,
  groupOf,
  integerOf,
  signingTimeWarnings,
  submissionRoute,
  textOf,
  withSigningTime,
} from '@ecf/domain';
import {
  asInput,
  type CanonicalXml,
  type DocumentName,
  type ExaminedDocument,
  examineJson,
  examineXml,
  inputDocument,
  parseXml,
  readXml,
  writeXml,
  XmlRefused,
} from '@ecf/ecf-xml';
import {
  type CertificateFacts,
  checkValidity,
  isSigned,
  openCertificate as openSigningCertificate,
  SignatureRefused,
  type SigningCertificate,
  securityCode,
  signatureValueOf,
  signatureWarnings,
  signXml,
  type VerificationReason,
  verifyXml,
} from '@ecf/xml-signing';
import { checkJson, type Fault } from './check.js';
import { type CheckOptions, type CheckResult, checked, jsonValue, unreadable } from './check-result.js';

export type { DocumentNode, DocumentValue, Environment } from '@ecf/domain';
export { documentSchema, type JsonSchema } from '@ecf/ecf-xml/document-schemas';
export { qrSvg } from '@ecf/printed-form/qr';
export { CertificateError, type CertificateErrorCode, type VerificationCode } from '@ecf/xml-signing';
export {
  type CheckOptions,
  type CheckResult,
  checkJson,
  type DocumentName,
  type EcfType,
  type Fault,
  type Severity,
} from './check.js';
export type { CertificateFacts, VerificationReason };

/** A document under its root key or element: an object, or JSON or XML as text or UTF-8 bytes. */
export type DocumentInput = object | string | Uint8Array;

/**
 * `invalid_document`: the document has faults, which `result` lists. `not_xml`: the bytes are not XML that is accepted.
 * `not_signed`: there is not exactly one signature with a value. `already_signed`: an unsigned document is needed.
 * `no_address`, `no_summary`: a document of this kind has none.
 */
export type EngineErrorCode =
  | 'invalid_document'
  | 'not_xml'
  | 'not_signed'
  | 'already_signed'
  | 'no_address'
  | 'no_summary';

/** A document cannot be used for what was called. `result` is the check of an `invalid_document`, else null. */
export class EngineError extends Error {
  override readonly name = 'EngineError';
  constructor(
    readonly code: EngineErrorCode,
    message: string,
    readonly result: CheckResult | null = null,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}

/** A certificate that can sign, as {@link openCertificate} returns it. */
export interface Certificate {
  /** `CN=..., serialNumber=IDCDO-..., C=DO` */
  readonly subject: string;
  readonly issuer: string;
  /** In hexadecimal. */
  readonly serialNumber: string;
  /** RNC, cédula or passport of the holder; null if the subject has none. */
  readonly holderId: string | null;
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** SHA-256 of the certificate in lower-case hexadecimal. */
  readonly fingerprint: string;
  /** DER in base64. */
  readonly certificate: string;
  /** The issuers' certificates of the file, nearest first, DER in base64. */
  readonly chain: readonly string[];
  /** The private key, a KeyObject of Node. */
  readonly privateKey: object;
}

/** A document as XML in the authority's order, not signed. */
export interface BuiltDocument {
  readonly document: DocumentName;
  readonly type: EcfType | null;
  readonly encf: string | null;
  /** UTF-8, without XML declaration. */
  readonly xml: Uint8Array;
  readonly warnings: readonly Fault[];
}

/** A signed document. */
export interface SignedDocument extends BuiltDocument {
  /** The bytes to send and to keep: changing one of them breaks the signature. */
  readonly xml: Uint8Array;
  /** The first six characters of SignatureValue, as printed below the QR code. */
  readonly securityCode: string;
}

/** The result of a verification. */
export interface VerifyResult {
  readonly signature: 'valid' | 'invalid';
  /** Why the signature is invalid; null if it is valid. */
  readonly reason: VerificationReason | null;
  /** The certificate that verified the signature. Its issuer is not checked. */
  readonly certificate: CertificateFacts | null;
  readonly document: DocumentName | null;
  readonly type: EcfType | null;
  readonly encf: string | null;
  /** Faults of structure, and of business rules. */
  readonly faults: readonly Fault[];
  readonly warnings: readonly Fault[];
}

/**
 * Checks a document in JSON or XML: structure, values and business rules, with the verdicts that the gateway gives. Never throws
 * because of the document: bytes that are neither JSON nor XML are a fault. Signatures are not verified here.
 */
export function check(input: DocumentInput, options: CheckOptions = {}): CheckResult {
  const given = { now: new Date(), ...options };
  const xml = xmlOf(input);
  if (xml === null) return checkJson(input, given);
  try {
    return checked(() => examineXml(parseXml(xml), given));
  } catch (error) {
    if (error instanceof XmlRefused) return unreadable(error.message, 'XML 1.0');
    throw error;
  }
}

/**
 * Writes a document as compact XML in the authority's order. Values are not changed, except that CR becomes LF and a value of
 * blanks only is left out, both with a warning. A missing FechaHoraFirma stays missing.
 *
 * @param input not signed
 * @throws EngineError `invalid_document`
 */
export function build(input: DocumentInput, options: CheckOptions = {}): BuiltDocument {
  const { tree, result } = prepare(input, { now: new Date(), ...options });
  return { ...result, xml: bytesOf(writeXml(tree).output) };
}

/**
 * Opens a .p12 or .pfx file. Of several keys it takes the newest that is valid now and may sign.
 *
 * @throws CertificateError with the reason, for example `wrong_password`
 */
export function openCertificate(file: Uint8Array, password: string, now: Date = new Date()): Certificate {
  return openSigningCertificate(file, password, now);
}

/**
 * Checks, writes and signs a document. An e-CF without FechaHoraFirma gets the present time.
 *
 * @param input not signed
 * @throws EngineError `invalid_document`; CertificateError if the certificate has expired since it was opened
 */
export async function sign(
  input: DocumentInput,
  certificate: Certificate,
  options: CheckOptions = {},
): Promise<SignedDocument> {
  const { now = new Date() } = options;
  const { tree, result } = prepare(input, { now, ...options });
  checkValidity(certificate, now);
  const signed = await signXml(writeXml(withSigningTime(tree, now)), certificate as SigningCertificate);
  const stated = textOf(groupOf(tree, 'ECF'), 'FechaHoraFirma');
  return {
    ...result,
    xml: bytesOf(signed.xml),
    securityCode: securityCode(signed.signatureValue),
    warnings: [...result.warnings, ...signingTimeWarnings(stated, certificate.notBefore, certificate.notAfter)],
  };
}

/**
 * Verifies the signature of a document by the authority's profile, and checks the document. Never throws because of the
 * document.
 */
export function verify(xml: string | Uint8Array, options: CheckOptions = {}): VerifyResult {
  const now = options.now ?? new Date();
  const bytes = bytesOf(xml);
  const { document, type, encf, faults, warnings } = check(bytes, { ...options, now });
  const verification = verifyXml(bytes, now);
  const { signature, reason, certificate, verified } = verification;
  const suspect = verified === null ? [] : signatureWarnings(verification, verified.rootName);
  return { signature, reason, certificate, document, type, encf, faults, warnings: [...warnings, ...suspect] };
}

/**
 * The address in the QR code of a signed e-CF or consumer summary: the authority's page that confirms the document.
 *
 * @throws EngineError `not_xml`, `not_signed`, `no_address`
 */
export function qrAddress(xml: string | Uint8Array, env: Environment): string {
  const { tree, code } = readSigned(xml);
  // A summary has the code of the full document, not that of its own signature.
  const summaryCode = textOf(groupOf(groupOf(tree, 'RFCE'), 'Encabezado'), 'CodigoSeguridadeCF');
  try {
    return confirmationAddress({ env, tree, securityCode: summaryCode ?? code });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new EngineError('no_address', `The document has no confirmation address: ${error.message}.`, null, {
      cause: error,
    });
  }
}

/**
 * The consumer summary (RFCE) of a signed e-CF of type 32 under RD$250,000: it is sent to the authority instead of the document.
 * Sign the result with {@link sign}.
 *
 * @throws EngineError `not_xml`, `not_signed`, `no_summary`
 */
export function consumerSummary(xml: string | Uint8Array): DocumentNode {
  const { tree, code } = readSigned(xml);
  const header = groupOf(groupOf(tree, 'ECF'), 'Encabezado');
  const total = textOf(groupOf(header, 'Totales'), 'MontoTotal');
  if (integerOf(groupOf(header, 'IdDoc'), 'TipoeCF') !== '32' || total === null) {
    throw new EngineError('no_summary', 'Only an e-CF of type 32 has a consumer summary.');
  }
  if (submissionRoute('32', total) !== 'rfce') {
    throw new EngineError(
      'no_summary',
      `MontoTotal is ${total}: from 250,000.00 on the document itself is sent, not a summary.`,
    );
  }
  return asInput(deriveRfce(tree, code));
}

/**
 * A document in XML as the JSON that {@link sign} and the gateway take, without its signature.
 *
 * @throws EngineError `not_xml`
 */
export function toJson(xml: string | Uint8Array): DocumentNode {
  return inputDocument(parsed(xml));
}

interface Prepared {
  readonly tree: DocumentNode;
  readonly result: Omit<BuiltDocument, 'xml'>;
}

/** The tree of an unsigned document without faults. Throws EngineError. */
function prepare(input: DocumentInput, options: CheckOptions & { now: Date }): Prepared {
  let tree: DocumentNode | null = null;
  const result = checked(() => {
    const xml = xmlOf(input);
    const examined = xml === null ? examineJson(jsonValue(input), options) : examineUnsigned(xml, options);
    tree = examined.tree;
    return examined;
  });
  const { document, type, encf, valid, faults, warnings } = result;
  if (!valid || tree === null || document === null) {
    const [{ path = '', message = '' } = {}, ...more] = faults;
    const where = path === '' ? '' : `${path}: `;
    const others = more.length === 0 ? '' : ` (and ${more.length} more faults: see result.faults)`;
    throw new EngineError('invalid_document', `${where}${message}${others}`, result);
  }
  return { tree, result: { document, type, encf, warnings } };
}

/** Texts of XML are taken as they are, except what is changed in JSON too: CR becomes LF, and blanks count as absent. */
function examineUnsigned(xml: Uint8Array, options: CheckOptions & { now: Date }): ExaminedDocument {
  const document = parsed(xml);
  if (isSigned(document)) {
    throw new EngineError('already_signed', 'The document is signed already. Use the unsigned document.');
  }
  const examined = examineXml(document, { ...options, unsigned: true });
  return examined.valid && examined.tree !== null ? examineJson(asInput(examined.tree), options) : examined;
}

/** A signed document and its security code. The signature is not verified: a damaged copy has the same address. */
function readSigned(input: string | Uint8Array): { tree: DocumentNode; code: string } {
  const xml = parsed(input);
  try {
    const value = signatureValueOf(xml);
    if (value !== null) return { tree: readXml(xml), code: securityCode(value) };
  } catch (error) {
    if (!(error instanceof SignatureRefused)) throw error;
    throw new EngineError('not_signed', error.message, null, { cause: error });
  }
  throw new EngineError('not_signed', 'The Signature has no SignatureValue.');
}

function parsed(xml: string | Uint8Array): CanonicalXml {
  try {
    return parseXml(bytesOf(xml));
  } catch (error) {
    if (error instanceof XmlRefused) throw new EngineError('not_xml', error.message, null, { cause: error });
    throw error;
  }
}

/** The bytes of an input that is XML: its first character, without blanks and byte order mark, is `<`. Null for JSON. */
function xmlOf(input: DocumentInput): Uint8Array | null {
  if (typeof input !== 'string' && !(input instanceof Uint8Array)) return null;
  const start = typeof input === 'string' ? input.slice(0, START) : new TextDecoder().decode(input.subarray(0, START));
  return start.trimStart().startsWith('<') ? bytesOf(input) : null;
}

/** Blanks before a document that are skipped when its kind is found out. */
const START = 1024;

function bytesOf(text: string | Uint8Array): Uint8Array {
  return typeof text === 'string' ? new TextEncoder().encode(text) : text;
}
