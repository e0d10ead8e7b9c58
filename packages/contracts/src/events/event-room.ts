import { type AuthorityMessage, storableText } from '@ecf/domain';

/** Bytes of JSON that an event may take: brokers take messages of 1 MiB by default, headers and batch included. */
export const MAX_EVENT_BYTES = 900_000;

/** Most submissions of a document in an event: the latest ones. */
export const MAX_EVENT_ATTEMPTS = 200;

/** Bytes of JSON that the messages of one verdict may take in an event. */
export const MAX_VERDICT_MESSAGE_BYTES = 100_000;

/** The same for those of all submissions together. */
export const MAX_EVENT_MESSAGE_BYTES = 200_000;

/** No UTF-16 unit takes more in JSON (`\u001f`). */
const MOST_BYTES_OF_A_UNIT = 6;

/** A shorter rest of a text is dropped. */
const LEAST_UNITS = 20;

interface FittedMessages {
  readonly messages: AuthorityMessage[];
  /** Messages, or the end of one, are omitted. */
  readonly cut: boolean;
  /** Bytes of JSON. */
  readonly bytes: number;
}

/** The messages of a verdict from the first one on, up to `room` bytes of JSON. */
export function fitMessages(messages: readonly AuthorityMessage[], room: number): FittedMessages {
  const kept: AuthorityMessage[] = [];
  let bytes = 2;
  for (const message of messages) {
    const left = room - bytes - 1;
    const part = fits(message, left) ? message : beginningOf(message, left);
    if (part !== null) {
      kept.push(part);
      bytes += jsonBytes(part) + 1;
    }
    if (part !== message) return { messages: kept, cut: true, bytes };
  }
  return { messages: kept, cut: false, bytes };
}

/** A text with more units than bytes available is not measured: it may be very long. */
function fits(message: AuthorityMessage, room: number): boolean {
  return message.codigo.length + message.valor.length < room && jsonBytes(message) <= room;
}

/** A message with as much of its text as surely fits; null if almost nothing fits. */
function beginningOf({ codigo, valor }: AuthorityMessage, room: number): AuthorityMessage | null {
  if (codigo.length >= room) return null;
  const units = Math.floor((room - jsonBytes({ codigo, valor: '' })) / MOST_BYTES_OF_A_UNIT);
  return units < LEAST_UNITS ? null : { codigo, valor: storableText(valor, units) };
}

function jsonBytes(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value)).length;
}
