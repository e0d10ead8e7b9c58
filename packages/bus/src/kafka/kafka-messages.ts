import type { IHeaders, KafkaMessage } from 'kafkajs';
import type { BusEvent } from '../bus.js';
import { EventError } from '../events.js';

/** A message for a topic, as the producer takes it. */
export interface KafkaRecord {
  readonly topic: string;
  readonly key: string;
  readonly value: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A message that is not an event: without body or an attribute, not JSON, or with an id that is not a UUID. */
export class UnreadableMessage extends EventError {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'UnreadableMessage';
  }
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const ATTRIBUTES = ['id', 'type', 'source', 'time', 'subject'] as const;

/** An event as a message: CloudEvents' binary content mode, attributes as headers `ce_…`, the data alone as JSON body. */
export function toRecord(event: BusEvent, topic: string): KafkaRecord {
  const headers: Record<string, string> = { ce_specversion: '1.0', 'content-type': 'application/json' };
  for (const name of ATTRIBUTES) headers[`ce_${name}`] = event[name];
  if (event.traceparent !== undefined) headers.traceparent = event.traceparent;
  return { topic, key: event.key, value: JSON.stringify(event.data), headers };
}

/** The event of a message of a topic; throws {@link UnreadableMessage}. Its data is not checked yet. */
export function readEvent(topic: string, message: Pick<KafkaMessage, 'key' | 'value' | 'headers'>): BusEvent {
  const headers = textHeaders(message.headers);
  const version = headers.ce_specversion;
  if (version !== '1.0') throw new UnreadableMessage(`the header ce_specversion is ${version ?? 'missing'}, not 1.0`);
  const [id, type, source, time, subject] = ATTRIBUTES.map((name) => {
    const value = headers[`ce_${name}`];
    if (value === undefined || value === '') throw new UnreadableMessage(`the header ce_${name} is missing`);
    return value;
  }) as [string, string, string, string, string];
  // Inboxes and dead letters have ids of this form.
  if (!UUID.test(id)) throw new UnreadableMessage('the header ce_id is not a UUID');
  const { traceparent } = headers;
  const event = { id, type, source, time, subject, topic, key: message.key?.toString('utf8') ?? '' };
  return { ...event, ...(traceparent === undefined ? {} : { traceparent }), data: bodyOf(message.value) };
}

/** Describes a message that is not an event, so that it can be kept with the reason. Its position is its id. */
export function describeUnreadable(
  topic: string,
  partition: number,
  message: Pick<KafkaMessage, 'key' | 'value' | 'headers' | 'offset'>,
): BusEvent {
  const headers = textHeaders(message.headers);
  return {
    id: `${topic}-${partition}-${message.offset}`,
    type: headers.ce_type ?? 'unknown',
    source: headers.ce_source ?? 'unknown',
    time: headers.ce_time ?? '',
    subject: headers.ce_subject ?? '',
    topic,
    key: message.key?.toString('utf8') ?? '',
    data: message.value?.toString('utf8') ?? null,
  };
}

/** Headers as text; of a header that is given several times the last counts. */
export function textHeaders(headers: IHeaders | undefined): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers ?? {})) {
    const last = Array.isArray(value) ? value.at(-1) : value;
    if (last !== undefined) texts[name] = last.toString();
  }
  return texts;
}

/** About what a record takes on the wire. */
export function recordBytes({ key, value, headers }: KafkaRecord): number {
  let bytes = Buffer.byteLength(key) + Buffer.byteLength(value) + 64;
  for (const [name, text] of Object.entries(headers)) bytes += name.length + Buffer.byteLength(text) + 8;
  return bytes;
}

function bodyOf(value: Buffer | null): unknown {
  if (value === null) throw new UnreadableMessage('the message has no body');
  try {
    return JSON.parse(value.toString('utf8'));
  } catch (error) {
    throw new UnreadableMessage('the body is not JSON', { cause: error });
  }
}
