import { randomUUID } from 'node:crypto';
import { type AuditAct, type ServiceName, type TopicName, topicOf } from '@ecf/contracts';
import { currentTraceparent } from '@ecf/kit';
import type { BusEvent } from './bus.js';

/** An event that its topic does not allow: unknown topic or type, or data that the schema refuses. */
export class EventError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'EventError';
  }
}

export interface EventDraft {
  topic: string;
  type: string;
  /** The service that publishes it. */
  source: string;
  subject: string;
  key: string;
  data: unknown;
}

/**
 * Creates an event for the outbox: checks its data by the topic's schema, which drops unknown keys, and attaches the trace
 * of the present work. If several share that work, `stamp` names the trace of the event; null for none.
 */
export function makeEvent(
  draft: EventDraft,
  stamp: { readonly id: string; readonly time: Date; readonly traceparent?: string | null },
): BusEvent {
  const traceparent = stamp.traceparent === undefined ? currentTraceparent() : (stamp.traceparent ?? undefined);
  return {
    id: stamp.id,
    type: draft.type,
    source: draft.source,
    time: stamp.time.toISOString(),
    subject: draft.subject,
    topic: draft.topic,
    key: draft.key,
    data: checkData(draft.topic, draft.type, draft.data),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}

/** Checked events by the received ones: in one process, several groups get the same object. */
const checkedEvents = new WeakMap<BusEvent, BusEvent>();

/** A received event with its data checked by the topic's schema; throws {@link EventError}. */
export function checkEvent(event: BusEvent): BusEvent {
  let checked = checkedEvents.get(event);
  if (checked === undefined) {
    checked = { ...event, data: checkData(event.topic, event.type, event.data) };
    checkedEvents.set(event, checked);
  }
  return checked;
}

function checkData(topicName: string, type: string, data: unknown): unknown {
  const schema = topicOf(topicName)?.events[type];
  if (schema === undefined) throw new EventError(`the topic ${topicName} has no event ${type}`);
  const result = schema.safeParse(data);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw new EventError(`${topicName} ${type}: ${issue?.path.join('.')} ${issue?.message}`, { cause: result.error });
}

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
