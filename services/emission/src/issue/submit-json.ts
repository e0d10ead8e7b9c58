import type { Environment } from '@ecf/domain';
import type { Caller } from '@ecf/taxpayer-replica';
import type { Certificates, UploadedCertificate } from '../credentials/certificates.js';
import type { Taxpayers } from '../credentials/taxpayers.js';
import { MAX_ROUNDS, overtaken } from '../errors.js';
import type { Ports } from '../ports.js';
import type { FollowUp } from '../sending/follow-up.js';
import { checkedAnswer, type SubmissionAnswer, submissionAnswer } from './answers.js';
import { type AwaitPorts, answerDeadline, awaitSend, awaitVerdict } from './await-verdict.js';
import { unsignedXml } from './invoice-json.js';
import { createIssueNumbered, type IssuedJson, type NumberedPorts } from './issue-numbered.js';
import { createIssueOpen, type OpenPorts } from './issue-open.js';
import type { GivenNumber, ReadInvoiceJson, ReadingWatch } from './read-invoice-json.js';

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
  /** Whether the document may be signed and wait while the authority is away. */
  readonly mayWait: boolean;
  /** Whether a warning refuses the document. */
  readonly refusesWarnings: boolean;
  /** The batch line (`keyOfLine`) that this document is; null if it did not come in a batch. */
  readonly batchLine: string | null;
  /** For a batch line, which remembers that it ended its process. */
  readonly watchReading: ReadingWatch | null;
  /** Aborted when the caller leaves: a document that is not begun then is not issued, and no verdict is waited for. */
  readonly signal?: AbortSignal | undefined;
}

export type IssueJson = (submission: JsonSubmission) => Promise<IssuedJson>;

/** Invoice JSON in; signed, committed and sent e-CF out. Does not wait for the verdict. */
export function createIssueJson(
  ports: NumberedPorts & OpenPorts & { readonly readInvoice: ReadInvoiceJson },
  taxpayers: Taxpayers,
  certificates: Certificates,
): IssueJson {
  const numbered = createIssueNumbered(ports, certificates);
  const open = createIssueOpen(ports, certificates, numbered);
  return async (submission) => {
    const { caller, env, data, certificate: upload, mayWait, refusesWarnings, batchLine, signal } = submission;
    const read = (given: GivenNumber | null) =>
      ports.readInvoice(data, env, ports.clock(), given, batchLine !== null, submission.watchReading, caller.accountId);
    const { isOpen, invoice, ownReference } = await read(null);
    const taxpayer = await taxpayers.require(caller, invoice.key.issuerRnc);
    const uploaded = upload === null ? null : await certificates.uploaded(upload, caller.accountId);
    const parties = {
      caller,
      taxpayer,
      uploaded,
      mayWait,
      refusesWarnings,
      batchLine,
      ownReference: submission.ownReference ?? ownReference,
      signal,
    };
    // The key of a batch line names the line, which is issued once in any case.
    const key = batchLine === null ? submission.idempotencyKey : null;
    if (!isOpen) return numbered.issue(parties, invoice, { drawn: null, idempotencyKey: key }, submission.dryRun);
    const offer = { read, invoice };
    return submission.dryRun ? open.check(parties, offer) : open.issue(parties, offer, submission.idempotencyKey);
  };
}

export type SubmitJson = (submission: JsonSubmission) => Promise<SubmissionAnswer>;

/** `POST /fe_Submit`: issues the invoice, waits a while for the verdict, and answers. */
export function createSubmitJson(
  ports: AwaitPorts & Pick<Ports, 'archive'>,
  issueJson: IssueJson,
  followUp: FollowUp,
): SubmitJson {
  return async (submission) => {
    const { signal } = submission;
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const issued = await issueJson(submission);
      if (issued.outcome === 'checked') {
        const { invoice, encf, warnings } = issued;
        return { ...checkedAnswer(encf, warnings), xml: unsignedXml(invoice, ports.clock()) };
      }
      const isNew = issued.outcome === 'issued';
      const sent = isNew ? issued.attempt : await awaitSend(ports, issued.attempt, signal);
      const attempt = await awaitVerdict(ports, followUp, sent, issued.tokens, answerDeadline(ports, sent), signal);
      // The number of a withdrawn attempt is free, so a request that states it starts again.
      if (isNew || attempt.state !== 'withdrawn' || issued.isBound)
        return submissionAnswer(ports, attempt, isNew ? issued.signed : null);
    }
    throw overtaken(`Another request withdrew the document at each of ${MAX_ROUNDS} tries.`);
  };
}
