import { GatewayError } from './errors.js';
import type { Event } from './types.js';

export interface WebhookOptions {
  /** Seconds that the call may be old, or early; 300 by default. */
  tolerance?: number;
  /** The present time in milliseconds; the clock by default. */
  now?: number;
}

/** The headers of a request: of the Fetch API, or of Node. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | string[] | undefined>>;

/**
 * The event that a webhook carries, once its signature (Standard Webhooks) and its age are checked. An event may arrive twice: store the
 * `id` of each one that you handled. A newer gateway may send types and fields that this version does not describe; they are passed on.
 *
 * @param body the body as it arrived, before anything parses it
 * @param secret the secret of the webhook, `whsec_...`; several while it is exchanged
 * @throws GatewayError `invalid_webhook` with status 400, the status to answer with
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string | readonly string[],
  { tolerance = 300, now = Date.now() }: WebhookOptions = {},
): Promise<Event> {
  const id = header(headers, 'webhook-id');
  const timestamp = header(headers, 'webhook-timestamp');
  const signatures = header(headers, 'webhook-signature').split(' ');
  if (!(Math.abs(now / 1_000 - Number(timestamp)) <= tolerance))
    throw invalid(`The header webhook-timestamp is more than ${tolerance} seconds away from the present time.`);
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${text}`);
  for (const one of [secret].flat()) {
    const bytes = decodeBase64(one.replace(/^whsec_/, ''));
    if (bytes === undefined || bytes.length === 0) throw new TypeError('The secret of a webhook is whsec_ and base64.');
    const key = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
    for (const signature of signatures) {
      const given = signature.startsWith('v1,') ? decodeBase64(signature.slice(3)) : undefined;
      if (given !== undefined && (await crypto.subtle.verify('HMAC', key, given, signed))) return JSON.parse(text);
    }
  }
  throw invalid('No signature of the header webhook-signature was made with this secret for this body.');
}

function header(headers: WebhookHeaders, name: string): string {
  const value = typeof headers.get === 'function' ? headers.get(name) : (headers as Record<string, unknown>)[name];
  if (typeof value !== 'string') throw invalid(`The header ${name} is missing.`);
  return value;
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function invalid(message: string): GatewayError {
  return new GatewayError({ status: 400, code: 'invalid_webhook', message });
}
