import { randomUUID } from 'node:crypto';
import { type ActSource, makeEvent } from '@ecf/bus/events';
import { documentKey, TOPICS } from '@ecf/contracts';

/** Acts in this service, for the audit log. */
export const ACTS: ActSource = { topic: TOPICS.audit.name, source: 'approvals' };

/** An `approval.changed` event; `data` is checked by the topic's schema. */
export function approvalEvent(
  data: { env: string; issuer_rnc: string; encf: string; run?: number | undefined },
  at: Date,
) {
  const subject = `${data.issuer_rnc}:${data.encf}`;
  const draft = { topic: TOPICS.approvals.name, type: 'approval.changed', source: 'approvals', subject };
  return makeEvent({ ...draft, key: documentKey(data), data }, { id: randomUUID(), time: at });
}
