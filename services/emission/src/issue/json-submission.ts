import type { TaxpayerState } from '@ecf/contracts';
import type { Environment } from '@ecf/domain';
import type { Caller } from '@ecf/taxpayer-replica';
import type { SigningCertificate } from '@ecf/xml-signing';
import type { UploadedCertificate } from '../credentials/certificates.js';
import type { ReadingWatch } from './read-invoice-json.js';

export interface JsonSubmission {
  readonly caller: Caller;
  readonly env: Environment;
  /** The bytes of the part `data`. */
  readonly data: Uint8Array;
  /** Null to sign with the taxpayer's stored certificate. */
  readonly certificate: UploadedCertificate | null;
  readonly dryRun: boolean;
  /** The caller's own reference; a batch line states it beside its document instead. */
  readonly ownReference: string | null;
  /** Names one submission for 30 days; required for a document without eNCF. */
  readonly idempotencyKey: string | null;
  /** Whether the document may be signed and wait while the authority is unreachable. */
  readonly mayWait: boolean;
  /** Whether a warning refuses the document. */
  readonly refusesWarnings: boolean;
  /** The batch line (`keyOfLine`) that this document is; null if it did not come in a batch. */
  readonly batchLine: string | null;
  /** When its batch came; null if it did not come in a batch. */
  readonly batchAt: Date | null;
  /** For a batch line, which remembers that it ended its process. */
  readonly watchReading: ReadingWatch | null;
  /** Aborted when the caller leaves: a document that is not begun then is not issued, and no verdict is waited for. */
  readonly signal?: AbortSignal | undefined;
}

/** A submission whose issuer and certificate were found. */
export interface Order extends Omit<JsonSubmission, 'certificate'> {
  readonly taxpayer: TaxpayerState;
  /** The certificate that came with the request; null to sign with the stored one. */
  readonly uploaded: SigningCertificate | null;
}
