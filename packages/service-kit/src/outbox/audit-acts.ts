import { randomUUID } from 'node:crypto';
import type { AuditAct, ServiceName, TopicName } from '@ecf/contracts';
import type { BusEvent } from '../bus/bus.js';
import { makeEvent } from '../bus/events.js';

/** The topic of acts, and the service that publishes them. */
export interface ActSource {
  readonly topic: TopicName;
  readonly source: ServiceName;
}

/**
 * The event by which the gateway appends an act to the audit log; empty without an act. It appends one entry for each `id` (a
 * UUID). All acts of a service have one key, so they are appended in the order of their commits.
 */
export function actEvents(source: ActSource, act: AuditAct | null, id: string = randomUUID()): BusEvent[] {
  if (act === null) return [];
  const draft = { ...source, type: 'act.recorded', key: source.source, subject: act.target, data: act };
  return [makeEvent(draft, { id, time: new Date(act.at) })];
}
