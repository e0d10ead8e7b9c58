import type { AuthorityVerdict } from '@ecf/authority-client';
import type { InvoiceStatusChanged } from '@ecf/contracts';
import { EMISSION_STATES } from '@ecf/domain';
import type { Attempt } from '../attempt/attempt.js';
import { afterResult } from '../attempt/authority-answers.js';
import { exchange, moment, recordTransition } from '../attempt/record-transition.js';
import { applyTransition } from '../attempt/transitions.js';
import type { Ports } from '../ports.js';

/**
 * The status poller learned a result: it moves the document as if it had been asked for here. An answer about another
 * trackId than the present one, about a decided document, or told before, changes nothing; nor does one that is older than
 * what was told. A decision counts in any case: none is older than what is open.
 */
export async function applyStatus(
  ports: Pick<Ports, 'emissions' | 'observer' | 'sleep' | 'clock' | 'random' | 'settings'>,
  told: InvoiceStatusChanged,
): Promise<void> {
  const found = await ports.emissions.find({ env: told.env, issuerRnc: told.issuer_rnc, encf: told.encf });
  if (found === null) return;
  const verdict: AuthorityVerdict = {
    status: told.status,
    code: told.code,
    messages: told.messages,
    sequenceUsed: told.sequence_used,
    trackId: told.track_id,
    dateReceived: told.date_received,
    rnc: told.issuer_rnc,
    encf: told.encf,
  };
  const { http_status: status, content_type: contentType, body } = told.answer;
  const answer = { outcome: 'verdict', verdict, raw: { status, contentType, body, truncated: false } } as const;
  await recordTransition(
    ports,
    found,
    (present) => {
      if (present.trackId !== told.track_id || EMISSION_STATES[present.state].decided) return null;
      if (!told.final && told.revision <= present.statusRevision) return null;
      const statusRevision = Math.max(told.revision, present.statusRevision);
      if (isKnown(present, verdict)) return applyTransition(present, null, { statusRevision });
      const after = afterResult(present, answer, moment(ports));
      return after === null ? null : { ...after, statusRevision };
    },
    [exchange('queryResult', new Date(told.asked_at), answer)],
  );
}

/** Whether the document stands where the answer leaves it already. */
function isKnown({ state, verdict }: Attempt, told: AuthorityVerdict): boolean {
  const there = told.status === 'EnProceso' ? 'processing' : told.status === 'No encontrado' ? 'not-found' : null;
  return (
    state === there &&
    verdict.code === told.code &&
    verdict.dateReceived === told.dateReceived &&
    JSON.stringify(verdict.messages) === JSON.stringify(told.messages)
  );
}
