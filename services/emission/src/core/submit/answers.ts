import type { AuthorityMessage, Fault, InvoiceStatus } from '@ecf/domain';
import type { Attempt } from '../attempt/attempt.js';
import type { Ports } from '../ports.js';
import { publicStatus, sequenceUsed } from '../published/invoice-event.js';

/** What all three submission endpoints say about a document. */
interface DocumentAnswer {
  status: InvoiceStatus | 'Validado';
  messages: readonly AuthorityMessage[];
  encf: string;
  qr_url: string | null;
  security_code: string | null;
  /** `YYYY-MM-DD HH:MM:SS`, Dominican time. */
  signature_datetime: string | null;
  sequence_used: boolean | null;
  warnings: readonly Fault[];
}

/** Answer of `/fe_Submit`; `trackId` on the route of full documents, `rfce_xml` on the summary's. */
export interface SubmissionAnswer extends DocumentAnswer {
  xml: string;
  trackId?: string | null;
  rfce_xml?: string;
}

/** Answer of `/submit_ecf`. */
export interface EcfAnswer extends DocumentAnswer {
  trackId: string | null;
}

/** Answer of `/submit_fc`. */
export type RfceAnswer = DocumentAnswer;

/** Of a stored attempt, as it stands now. */
export function documentAnswer(attempt: Attempt): DocumentAnswer {
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

/** Of a dry run: nothing was signed, so nothing that a signature gives is there. */
export function checkedAnswer(encf: string, warnings: readonly Fault[]): DocumentAnswer {
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

/** With the stored documents; `documents` where they are at hand already. */
export async function submissionAnswer(
  ports: Pick<Ports, 'archive'>,
  attempt: Attempt,
  documents: { xml: string; rfceXml: string | null } | null,
): Promise<SubmissionAnswer> {
  const xml = documents?.xml ?? (await read(ports, attempt.xml));
  const rfce = attempt.rfce === null ? null : (documents?.rfceXml ?? (await read(ports, attempt.rfce)));
  // Not spread: that would come first, and take longer than all else of the answer.
  const answer: SubmissionAnswer = Object.assign(documentAnswer(attempt), { xml });
  if (attempt.route === 'ecf') answer.trackId = attempt.trackId;
  if (rfce !== null) answer.rfce_xml = rfce;
  return answer;
}

async function read({ archive }: Pick<Ports, 'archive'>, file: Attempt['xml']): Promise<string> {
  return (await archive.get(file.path, file.sha256)).toString('utf8');
}
