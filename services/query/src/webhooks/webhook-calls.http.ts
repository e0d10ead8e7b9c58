import { isIP } from 'node:net';
import { createTransport, isPublicAddress } from '@ecf/authority-client';
import { Webhook } from 'standardwebhooks';
import type { WebhookCalls } from './ports.js';

const TIMEOUTS = { connectMs: 5_000, responseMs: 10_000, totalMs: 15_000 };
/** A longer answer is a failure. */
const MAX_ANSWER_BYTES = 65_536;

export interface WebhookCallOptions {
  /** Private and loopback addresses, and http, are allowed. */
  readonly allowPrivate: boolean;
  readonly clock: () => Date;
  /** Milliseconds; for tests. */
  readonly timeouts?: typeof TIMEOUTS;
}

/** Calls receivers by the guarded transport of buyers' receivers, without redirects. */
export function createWebhookCalls(options: WebhookCallOptions): WebhookCalls & { close(): void } {
  const { allowPrivate, clock, timeouts = TIMEOUTS } = options;
  const transport = createTransport({
    userAgent: 'ecf-gateway',
    timeouts,
    tls: {},
    // Many accounts may have one host; calls that hang must not keep the others from it. The slots bound the calls.
    maxSockets: Number.POSITIVE_INFINITY,
    guard: allowPrivate ? { addressGuard: () => true } : {},
  });
  function allows(address: string): boolean {
    const url = new URL(address);
    const host = url.hostname.replace(/^\[|\]$/g, '');
    return allowPrivate || (url.protocol === 'https:' && (isIP(host) === 0 || isPublicAddress(host)));
  }
  return {
    allows,
    async call({ url, secrets }, event) {
      const begin = performance.now();
      const ended = (status: number | null, error: string | null) => ({
        status,
        durationMs: Math.round(performance.now() - begin),
        error,
      });
      if (!allows(url)) return ended(null, 'the address may not be called');
      if (secrets.length === 0) return ended(null, 'no key of MASTER_KEY opens the secret');
      const body = JSON.stringify(event);
      const now = clock();
      const answer = await transport.send({
        method: 'POST',
        url: new URL(url),
        headers: {
          'content-type': 'application/json',
          'webhook-id': event.id,
          'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
          'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(event.id, now, body)).join(' '),
        },
        body: Buffer.from(body, 'utf8'),
        maxAnswerBytes: MAX_ANSWER_BYTES,
      });
      return answer.kind === 'received' ? ended(answer.status, null) : ended(null, answer.detail);
    },
    close: () => transport.close(),
  };
}
