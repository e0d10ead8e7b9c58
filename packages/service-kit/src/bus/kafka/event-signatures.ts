import { sign, verify } from 'node:crypto';
import { topicOf } from '@ecf/contracts';
import type { KafkaMessage } from 'kafkajs';
import type { ServiceKeys } from '../../security/service-keys.js';
import { EventError } from '../events.js';
import { type KafkaRecord, textHeaders } from './kafka-messages.js';

/** The header of an event with the signature of its producer: the id of its key, a dot, and an Ed25519 signature in base64url. */
const SIGNATURE_HEADER = 'ecf_signature';
/** The signature covers these headers, the topic, the key and the body. */
const SIGNED_HEADERS = ['ce_id', 'ce_type', 'ce_source', 'ce_time', 'ce_subject'] as const;

/** An event that no producer of its topic has signed, or that was changed afterwards. */
export class ForeignEvent extends EventError {
  constructor(message: string) {
    super(message);
    this.name = 'ForeignEvent';
  }
}

/** A record with the signature of this service. `topic` is its name in the contract, without the deployment's prefix. */
export function signRecord(record: KafkaRecord, topic: string, keys: ServiceKeys): KafkaRecord {
  const signature = sign(null, signedBytes(topic, record.key, record.headers, record.value), keys.privateKey);
  const value = `${keys.keyId}.${signature.toString('base64url')}`;
  return { ...record, headers: { ...record.headers, [SIGNATURE_HEADER]: value } };
}

/**
 * Accepts a message that a producer of the topic has signed, for this topic and key.
 * @throws ForeignEvent
 */
export function requireSignature(
  topic: string,
  message: Pick<KafkaMessage, 'key' | 'value' | 'headers'>,
  { publicKeys }: ServiceKeys,
): void {
  const headers = textHeaders(message.headers);
  const [keyId = '', signature] = headers[SIGNATURE_HEADER]?.split('.') ?? [];
  if (signature === undefined) throw new ForeignEvent('the event is not signed');
  const signer = publicKeys.get(keyId);
  if (signer === undefined) throw new ForeignEvent('the event is signed with a key that is not in SERVICE_PUBLIC_KEYS');
  const { service } = signer;
  if (topicOf(topic)?.producers.includes(service) !== true || headers.ce_source !== service)
    throw new ForeignEvent(`${service} signed an event of ${headers.ce_source} for ${topic}`);
  const bytes = signedBytes(topic, message.key ?? '', headers, message.value);
  if (!verify(null, bytes, signer.key, Buffer.from(signature, 'base64url')))
    throw new ForeignEvent('the event was changed after it was signed, or was signed for another topic or key');
}

function signedBytes(
  topic: string,
  key: string | Buffer,
  headers: Readonly<Record<string, string | undefined>>,
  value: string | Buffer | null,
): Buffer {
  const head = [topic, key.toString(), ...SIGNED_HEADERS.map((name) => headers[name] ?? '')];
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), Buffer.from(value ?? '')]);
}
