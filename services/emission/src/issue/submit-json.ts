import type { DocumentReader } from '@ecf/archive';
import { MAX_ROUNDS, overtaken } from '../errors.js';
import type { KnownDocuments } from '../restored/known-documents.js';
import type { Waits } from './await-verdict.js';
import { unsignedXml } from './invoice-json.js';
import type { IssueJson } from './issue-json.js';
import type { JsonSubmission } from './json-submission.js';
import { checkedResponse, type SubmissionResponse, submissionResponse } from './responses.js';

export type SubmitJson = (submission: JsonSubmission) => Promise<SubmissionResponse>;

/** `POST /fe_Submit`: issues the invoice, waits a while for the verdict, and answers. */
export function createSubmitJson(
  issueJson: IssueJson,
  waits: Waits,
  archive: DocumentReader,
  known: Pick<KnownDocuments, 'requireUnused'>,
  clock: () => Date,
): SubmitJson {
  return async (submission) => {
    const { signal } = submission;
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const issued = await issueJson(submission);
      if (issued.outcome === 'checked') {
        const { invoice, encf, warnings } = issued;
        return { ...checkedResponse(encf, warnings), xml: unsignedXml(invoice, clock()) };
      }
      const isNew = issued.outcome === 'issued';
      const sent = isNew ? issued.attempt : await waits.send(issued.attempt, signal);
      const attempt = await waits.verdict(sent, issued.tokens, signal);
      if (issued.isStated) known.requireUnused(attempt);
      // The number of a withdrawn attempt is free, so a request that states it starts again.
      if (isNew || attempt.state !== 'withdrawn' || issued.isBound)
        return submissionResponse(archive, attempt, isNew ? issued.files : []);
    }
    throw overtaken(`Another request withdrew the document at each of ${MAX_ROUNDS} tries.`);
  };
}
