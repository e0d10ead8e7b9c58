import type { AuthorityVerdict } from '@ecf/authority-client';
import type { InvoiceStatusChanged } from '@ecf/contracts';
import { EMISSION_STATES } from '@ecf/domain';
import type { Attempt } from '../attempt/attempt.js';
import { afterResult } from '../attempt/authority-answers.js';
import type { EmissionStore } from '../attempt/ports.js';
import { exchange, type Recorder } from '../attempt/recorder.js';
import { applyTransition } from '../attempt/transitions.js';
import type { PublishedDocuments } from '../published/published-documents.js';

/**
 * Applies a result that the status poller published, as if it had been queried here. Results for another trackId, for
 * a decided document, or older than the last applied one are ignored. A final result always counts.
 */
export async function applyStatus(
  {
    emissions,
    recorder,
    published,
  }: {
    readonly emissions: Pick<EmissionStore, 'find'>;
    readonly recorder: Recorder;
    readonly published: Pick<PublishedDocuments, 'findSubmission'>;
  },
  result: InvoiceStatusChanged,
): Promise<void> {
  const present = await emissions.find({ env: result.env, issuerRnc: result.issuer_rnc, encf: result.encf });
  // Under another trackId than that of the present document, it may be one of an earlier certification run.
  const isPresent = present?.trackId === result.track_id || result.env === 'eCF';
  const found = isPresent ? present : await published.findSubmission(result.env, result.track_id);
  if (found === null || found.encf !== result.encf || found.issuerRnc !== result.issuer_rnc) return;
  const verdict: AuthorityVerdict = {
    status: result.status,
    code: result.code,
    messages: result.messages,
    sequenceUsed: result.sequence_used,
    trackId: result.track_id,
    dateReceived: result.date_received,
    rnc: result.issuer_rnc,
    encf: result.encf,
  };
  const { http_status: status, content_type: contentType, body } = result.answer;
  const answer = { outcome: 'verdict', verdict, raw: { status, contentType, body, truncated: false } } as const;
  await recorder.record(
    found,
    (present) => {
      if (present.trackId !== result.track_id || EMISSION_STATES[present.state].decided) return null;
      if (!result.final && result.revision <= present.statusRevision) return null;
      const statusRevision = Math.max(result.revision, present.statusRevision);
      if (result.unanswered)
        return applyTransition(present, null, {
          statusRevision,
          verdict: { ...present.verdict, messages: result.messages },
        });
      if (isKnown(present, verdict)) return applyTransition(present, null, { statusRevision });
      const after = afterResult(present, answer, recorder.timing());
      return after === null ? null : { ...after, statusRevision };
    },
    result.unanswered ? [] : [exchange('queryResult', new Date(result.asked_at), answer)],
  );
}

/** Whether the document already has the state of the answer. */
function isKnown({ state, verdict }: Attempt, result: AuthorityVerdict): boolean {
  const there = result.status === 'EnProceso' ? 'processing' : result.status === 'No encontrado' ? 'not-found' : null;
  return (
    state === there &&
    verdict.code === result.code &&
    verdict.dateReceived === result.dateReceived &&
    JSON.stringify(verdict.messages) === JSON.stringify(result.messages)
  );
}
