import type { ReceivedAcknowledgement } from '@ecf/contracts';
import {
  type DocumentNode,
  type Environment,
  parseSignatureDateTime,
  storableText,
  toCalendarDate,
  toIsoDominican,
} from '@ecf/domain';
import { checkXml, readXml } from '@ecf/ecf-xml';
import {
  parseReceived,
  type SignerFacts,
  shownSigner,
  type TrustCheck,
  validateSignature,
} from '@ecf/public-ingress/signed-document';
import { verifyXml } from '@ecf/xml-signing';
import type { EcfKey, StoredBytes } from '../sending/outgoing.js';

/** The content of an acknowledgement (ARECF), and whether it is valid. */
export interface AcknowledgementValidation {
  /** Estado; null if it cannot be read. */
  readonly receiptStatus: 0 | 1 | null;
  /** CodigoMotivoNoRecibido. */
  readonly motive: 1 | 2 | 3 | 4 | null;
  readonly acknowledgedAt: Date | null;
  /** Why it is invalid; null for a valid one. */
  readonly fault: string | null;
  /** Null if no certificate verifies the signature. */
  readonly signer: SignerFacts | null;
}

/** An acknowledgement to be stored. */
export interface NewAcknowledgement extends AcknowledgementValidation {
  readonly key: EcfKey;
  readonly buyerRnc: string;
  readonly receivedAt: Date;
  readonly xml: StoredBytes;
  readonly bytes: Uint8Array;
}

export interface StoredAcknowledgement extends Omit<NewAcknowledgement, 'bytes'> {
  readonly id: number;
  /** Host (origin) of the receiver that answered. */
  readonly receiver: string | null;
}

/** The document that is to be acknowledged. */
export interface Sent {
  readonly key: EcfKey;
  readonly buyerRnc: string;
}

/** CodigoMotivoNoRecibido in words. Source: Formato Acuse de Recibo v1.0 p.5. */
const MOTIVES: Readonly<Record<number, string>> = {
  1: 'Error de especificación',
  2: 'Error de Firma Digital',
  3: 'Envío duplicado',
  4: 'RNC Comprador no corresponde',
};

const LONGEST_FAULT = 1_000;
const UNREADABLE: AcknowledgementValidation = {
  receiptStatus: null,
  motive: null,
  acknowledgedAt: null,
  fault: null,
  signer: null,
};
/** A genuine acknowledgement has about four kilobytes and eighty tags. A far larger one is not parsed. */
const MAX_ACKNOWLEDGEMENT_BYTES = 262_144;
const MAX_TAGS = 1_000;
const LESS_THAN = 0x3c;

/**
 * Validates an acknowledgement: the signature (as it is, then without the blanks between elements), the schema, and that it
 * names the document that was sent. An invalid one is read as far as possible. No content makes it throw.
 */
export function validateAcknowledgement(
  bytes: Uint8Array,
  sent: Sent,
  now: Date,
  trust: TrustCheck,
): AcknowledgementValidation {
  if (bytes.length > MAX_ACKNOWLEDGEMENT_BYTES)
    return { ...UNREADABLE, fault: `it is larger than ${MAX_ACKNOWLEDGEMENT_BYTES} bytes` };
  if (bytes.filter((byte) => byte === LESS_THAN).length > MAX_TAGS)
    return { ...UNREADABLE, fault: `it has more than ${MAX_TAGS} tags` };
  try {
    const received = parseReceived(bytes, MAX_ACKNOWLEDGEMENT_BYTES);
    const verification = verifyXml(received, now);
    // Without a valid signature the content is only quoted.
    const xml = verification.verified ?? received;
    if (xml.rootName !== 'ARECF')
      return { ...UNREADABLE, fault: `it is not an ARECF: its root is ${quoted(xml.rootName)}` };
    const detail = detailOf(readXml(xml));
    const said = {
      receiptStatus: oneOf([0, 1] as const, detail.Estado),
      motive: oneOf([1, 2, 3, 4] as const, detail.CodigoMotivoNoRecibido),
      // An impossible date leaves this empty; the acknowledgement still counts.
      acknowledgedAt: parseSignatureDateTime(detail.FechaHoraAcuseRecibo ?? ''),
    };
    const { doubt, signer } = validateSignature(verification, said.acknowledgedAt ?? now, trust, now);
    const faults = [
      ...(doubt === null ? [] : [`its signature is not accepted: ${doubt}`]),
      ...contradictions(detail, sent),
      ...inconsistencies(said),
      ...checkXml(received).faults.map(({ path, message }) => `${path}: ${message}`),
    ];
    return { ...said, signer, fault: faults.length === 0 ? null : storableText(faults.join('; '), LONGEST_FAULT) };
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    return { ...UNREADABLE, fault: storableText(`it cannot be read: ${words}`, LONGEST_FAULT) };
  }
}

/** Whether the buyer has the document: received now, or before (then the first answer was lost). */
export function confirmsReceipt({ receiptStatus, motive, fault }: AcknowledgementValidation): boolean {
  return fault === null && (receiptStatus === 0 || motive === 3);
}

function detailOf(tree: DocumentNode): Record<string, string | undefined> {
  const root = tree.ARECF as DocumentNode | undefined;
  const detail = root?.DetalleAcusedeRecibo;
  if (detail === null || typeof detail !== 'object' || Array.isArray(detail)) return {};
  return Object.fromEntries(Object.entries(detail).filter(([, value]) => typeof value === 'string')) as Record<
    string,
    string
  >;
}

function contradictions(detail: Record<string, string | undefined>, { key, buyerRnc }: Sent): string[] {
  const expected = { RNCEmisor: key.issuerRnc, RNCComprador: buyerRnc, eNCF: key.encf };
  return Object.entries(expected)
    .filter(([name, value]) => detail[name] !== value)
    .map(([name, value]) => `its ${name} is ${quoted(detail[name])}, ${value} was sent`);
}

function inconsistencies({
  receiptStatus,
  motive,
}: Pick<AcknowledgementValidation, 'receiptStatus' | 'motive'>): string[] {
  if (receiptStatus === 1 && motive === null) return ['it says that the document was not received, without a motive'];
  if (receiptStatus === 0 && motive !== null) return ['it says that the document was received, with a motive why not'];
  return receiptStatus === null ? ['its Estado is neither 0 nor 1'] : [];
}

function quoted(text: string | undefined): string {
  return text === undefined ? 'missing' : JSON.stringify(storableText(text, 40));
}

function oneOf<N extends number>(allowed: readonly N[], text: string | undefined): N | null {
  return allowed.find((value) => String(value) === text) ?? null;
}

/** Path of an acknowledgement that was returned to us: the file name is buyer RNC and eNCF, as the authority names ARECF. */
export function receivedAcknowledgementPath({ key, buyerRnc }: Sent, at: Date, sha256: string): string {
  const { env, issuerRnc, encf } = key;
  const month = toCalendarDate(at).slice(0, 7).replace('-', '/');
  return `${env}/arecf/${issuerRnc}/received/${month}/${buyerRnc}${encf}-${sha256}.xml`;
}

/** The record as the interface shows it. `known`: the buyer's receiver used the key before. */
export function publicAcknowledgement(stored: StoredAcknowledgement, known: boolean): ReceivedAcknowledgement {
  const { key, motive } = stored;
  return {
    id: stored.id,
    issuer_rnc: key.issuerRnc,
    buyer_rnc: stored.buyerRnc,
    encf: key.encf,
    env: key.env as Environment,
    receipt_status: stored.receiptStatus,
    rejection_code: motive,
    rejection_reason: motive === null ? null : (MOTIVES[motive] ?? null),
    acknowledged_at: stored.acknowledgedAt === null ? null : toIsoDominican(stored.acknowledgedAt),
    received_at: toIsoDominican(stored.receivedAt),
    valid: stored.fault === null,
    validation_error: stored.fault,
    xml_storage_path: stored.xml.path,
    xml_checksum: stored.xml.sha256,
    receiver: stored.receiver,
    signer: stored.signer === null ? null : shownSigner(stored.signer, known),
  };
}
