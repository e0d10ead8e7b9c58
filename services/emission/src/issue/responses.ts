import type { DocumentReader, PendingDocument } from '@ecf/archive';
import type { ContingencyBody } from '@ecf/contracts';
import { type AuthorityMessage, CONTINGENCY_LEGEND, type Fault, type InvoiceStatus, toIsoDominican } from '@ecf/domain';
import type { Attempt } from '../attempt/attempt.js';
import { publicStatus, sequenceUsed } from '../published/invoice-event.js';

/** Fields that all three submission endpoints return. */
export interface DocumentResponse {
  status: InvoiceStatus | 'Validado';
  messages: readonly AuthorityMessage[];
  /** Null only for the dry run of a document without number. */
  encf: string | null;
  qr_url: string | null;
  security_code: string | null;
  /** `YYYY-MM-DD HH:MM:SS`, Dominican time. */
  signature_datetime: string | null;
  sequence_used: boolean | null;
  warnings: readonly Fault[];
}

/** Answer of `/fe_Submit`; `trackId` on the route of full documents, `rfce_xml` on the summary's. */
export interface SubmissionResponse extends DocumentResponse {
  xml: string;
  trackId?: string | null;
  rfce_xml?: string;
  contingency?: ContingencyBody;
}

/** Answer of `/submit_ecf`. */
export interface EcfResponse extends DocumentResponse {
  trackId: string | null;
}

/** Answer of `/submit_fc`. */
export type RfceResponse = DocumentResponse;

/** The answer about a stored attempt, by its present state. */
export function documentResponse(attempt: Attempt): DocumentResponse {
  const { facts } = attempt;
  return {
    status: publicStatus(attempt.state),
    messages: attempt.verdict.messages,
    encf: attempt.encf,
    qr_url: facts.qrUrl,
    security_code: facts.securityCode,
    signature_datetime: facts.signatureDateTime,
    sequence_used: sequenceUsed(attempt.state),
    warnings: facts.warnings,
  };
}

/** The answer to a dry run. The document was not signed, so the fields of a signature are null. */
export function checkedResponse(encf: string | null, warnings: readonly Fault[]): DocumentResponse {
  return {
    status: 'Validado',
    messages: [],
    encf,
    qr_url: null,
    security_code: null,
    signature_datetime: null,
    sequence_used: null,
    warnings,
  };
}

/** The answer with the stored documents; `files` are the documents that are still in memory. */
export async function submissionResponse(
  archive: DocumentReader,
  attempt: Attempt,
  files: readonly PendingDocument[],
): Promise<SubmissionResponse> {
  const read = async ({ path, sha256 }: Attempt['xml']) => {
    const bytes = files.find((file) => file.path === path)?.bytes ?? (await archive.get(path, sha256));
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
  };
  // Object.assign, because a spread takes longer than the rest of the answer.
  const answer: SubmissionResponse = Object.assign(documentResponse(attempt), { xml: await read(attempt.xml) });
  if (attempt.route === 'ecf') answer.trackId = attempt.trackId;
  if (attempt.rfce !== null) answer.rfce_xml = await read(attempt.rfce);
  const { contingencySince, deadline } = attempt;
  if (contingencySince)
    answer.contingency = {
      since: toIsoDominican(contingencySince),
      legend: CONTINGENCY_LEGEND,
      deadline: deadline ? toIsoDominican(deadline) : null,
    };
  return answer;
}
