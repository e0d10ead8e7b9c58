/** The verdicts of the authority's services: one shape each, for every casing, type and format of the answer. */
import type { InvoiceStatus } from '@ecf/domain';

/** `codigo` is empty if the authority sent a bare text. Fillers (empty text, code 0) are dropped. */
export interface AuthorityMessage {
  codigo: string;
  valor: string;
}

/** Verdict on a document: result by trackId, consumer summary, its query. */
export interface AuthorityVerdict {
  status: InvoiceStatus;
  /** The authority's state code without leading zeros: `0` to `4`. */
  code: string;
  messages: AuthorityMessage[];
  /** Null if the authority does not say. Means something only for Rechazado. */
  sequenceUsed: boolean | null;
  trackId: string | null;
  /** ISO 8601 with offset -04:00; null if absent or unreadable. */
  dateReceived: string | null;
  rnc: string | null;
  encf: string | null;
}

/** Reception's answer to a full e-CF. It decides nothing about the content, only whether the file was taken. */
export interface SubmissionReceipt {
  /** True when a trackId was given. */
  received: boolean;
  trackId: string | null;
  error: string | null;
  message: string | null;
  /** `error` and `message` as one message; empty when both are. */
  messages: AuthorityMessage[];
}

/** Answer of the state query by document data. A conditional acceptance shows only for type 32 under 250,000. */
export interface DocumentState {
  status: InvoiceStatus;
  code: string;
  issuerRnc: string | null;
  encf: string | null;
  buyerRnc: string | null;
  foreignId: string | null;
  /** Decimal strings, digits as sent. */
  totalAmount: string | null;
  totalItbis: string | null;
  /** ISO 8601 with offset -04:00. */
  dateIssued: string | null;
  dateSigned: string | null;
  securityCode: string | null;
}

export interface TrackIdEntry {
  trackId: string;
  status: InvoiceStatus;
  dateReceived: string | null;
}

/** All submissions of an eNCF. `found` false is the authority's own "not found". */
export interface TrackIdList {
  found: boolean;
  trackIds: TrackIdEntry[];
}

/** Answer to a commercial approval (ACECF). Aceptado says that it was processed, not what the buyer decided. */
export interface ApprovalVerdict {
  status: 'Aceptado' | 'Rechazado';
  code: string;
  messages: AuthorityMessage[];
  /** The same approval had been taken before: a resend that counts as success. */
  alreadyAccepted: boolean;
  /** The authority requests another try: no decision. */
  transient: boolean;
}

/** Answer to a cancellation (ANECF). `Parcial`: all but the numbers that the messages list. */
export interface CancellationVerdict {
  status: 'Aceptado' | 'Parcial' | 'Rechazado';
  code: string;
  rnc: string | null;
  /** The answer's heading (`nombre`). */
  heading: string | null;
  messages: AuthorityMessage[];
}

/** One authorised taxpayer. Addresses are bases without a trailing slash; null if absent. */
export interface DirectoryEntry {
  rnc: string;
  name: string;
  receptionUrl: string | null;
  approvalUrl: string | null;
  authenticationUrl: string | null;
}

export interface ServiceStatus {
  /** The authority's name of the service, as sent. */
  service: string;
  available: boolean;
  /** The authority's word, as sent (`Produccion`, `PreCertificacion`). */
  environment: string;
}

export interface MaintenanceWindow {
  environment: string;
  /** As sent, `9:00 AM`. */
  startTime: string;
  endTime: string;
  /** `DD-MM-YYYY`. */
  days: string[];
}

export interface EnvironmentStatus {
  available: boolean;
}

/** The seed of a login, to be signed. */
export interface Seed {
  /** Opaque text. */
  value: string;
  /** xs:dateTime as sent; signed unchanged. */
  date: string;
}

export interface IssuedToken {
  token: string;
  /** How long it is valid, by the issuer's own two dates; null if it gave none that can be read. */
  lifetimeMs: number | null;
}

/**
 * A receiver's answer to a delivered e-CF: a document with the root ARECF, or another body of a success. Its content is not
 * checked.
 */
export interface DeliveryAnswer {
  /** The exact bytes. */
  acknowledgement: Uint8Array;
}

/** A receiver's answer to a delivered approval. */
export interface ApprovalDeliveryAnswer {
  accepted: boolean;
  messages: AuthorityMessage[];
}
