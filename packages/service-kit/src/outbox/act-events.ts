import { randomUUID } from 'node:crypto';
import { type AuditAct, TOPICS } from '@ecf/contracts';
import type { BusEvent } from '../bus/bus.js';
import { makeEvent } from '../bus/events.js';

/** The event for the audit log of what an administrator did in a service; none without an act. */
export function actEvents(service: 'emission' | 'approvals', act: AuditAct | null): BusEvent[] {
  if (act === null) return [];
  // One key for all: acts are appended in the order of their commits.
  const draft = { topic: TOPICS.audit.name, type: 'act.recorded', source: service, key: service, data: act };
  return [makeEvent({ ...draft, subject: act.target }, { id: randomUUID(), time: new Date(act.at) })];
}
