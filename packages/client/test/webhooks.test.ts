import { createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { verifyWebhook } from '../src/index.js';

const SECRET = `whsec_${Buffer.from('0123456789abcdef01234567').toString('base64')}`;
const OTHER = `whsec_${Buffer.from('fedcba9876543210fedcba98').toString('base64')}`;
const NOW = Date.parse('2026-06-15T14:00:00Z');
const BODY = JSON.stringify({ id: '1-a', type: 'invoice.accepted', data: { buyer_name: 'Peña & Ñandú' }, more: 1 });

/** Headers as a sender of Standard Webhooks makes them. */
function headersOf(body: string, { secrets = [SECRET], at = NOW / 1_000, id = '1-a' } = {}) {
  const sign = (secret: string) =>
    createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
      .update(`${id}.${at}.${body}`)
      .digest('base64');
  return {
    'webhook-id': id,
    'webhook-timestamp': String(at),
    'webhook-signature': secrets.map((secret) => `v1,${sign(secret)}`).join(' '),
  };
}
const invalid = expect.objectContaining({ name: 'GatewayError', status: 400, code: 'invalid_webhook' });

describe('verifyWebhook', () => {
  it('returns the event of a genuine call, from text or bytes, headers of Fetch or Node.', async () => {
    const headers = headersOf(BODY);
    const event = JSON.parse(BODY);
    expect(await verifyWebhook(BODY, headers, SECRET, { now: NOW })).toEqual(event);
    expect(await verifyWebhook(Buffer.from(BODY), new Headers(headers), SECRET, { now: NOW })).toEqual(event);
  });

  it('accepts the signature of the library of the standard.', async () => {
    const { Webhook } = await import('standardwebhooks');
    const headers = {
      ...headersOf(BODY),
      'webhook-signature': new Webhook(SECRET).sign('1-a', new Date(NOW), BODY),
    };
    expect(await verifyWebhook(BODY, headers, SECRET, { now: NOW })).toEqual(JSON.parse(BODY));
  });

  it('accepts any of several signatures, and any of several secrets, while a secret is exchanged.', async () => {
    const both = headersOf(BODY, { secrets: [OTHER, SECRET] });
    expect(await verifyWebhook(BODY, both, SECRET, { now: NOW })).toMatchObject({ id: '1-a' });
    expect(await verifyWebhook(BODY, headersOf(BODY), [OTHER, SECRET], { now: NOW })).toMatchObject({ id: '1-a' });
  });

  it('refuses a changed body, another id or time, another secret, and signatures of another kind.', async () => {
    const headers = headersOf(BODY);
    const refused: [string, Record<string, string>, string][] = [
      [BODY.replace('1-a', '1-b'), headers, SECRET],
      [BODY, { ...headers, 'webhook-id': '1-b' }, SECRET],
      [BODY, { ...headers, 'webhook-timestamp': String(NOW / 1_000 + 1) }, SECRET],
      [BODY, headers, OTHER],
      [BODY, { ...headers, 'webhook-signature': headers['webhook-signature'].replace('v1,', 'v1a,') }, SECRET],
      [BODY, { ...headers, 'webhook-signature': 'v1,%%% v1,' }, SECRET],
      [BODY, { ...headers, 'webhook-signature': '' }, SECRET],
    ];
    for (const [body, given, secret] of refused)
      await expect(verifyWebhook(body, given, secret, { now: NOW })).rejects.toEqual(invalid);
  });

  it('refuses a call that is older or newer than the tolerance, and one without a time.', async () => {
    for (const at of [NOW / 1_000 - 301, NOW / 1_000 + 301, Number.NaN])
      await expect(verifyWebhook(BODY, headersOf(BODY, { at }), SECRET, { now: NOW })).rejects.toEqual(invalid);
    const old = headersOf(BODY, { at: NOW / 1_000 - 301 });
    expect(await verifyWebhook(BODY, old, SECRET, { now: NOW, tolerance: 301 })).toMatchObject({ id: '1-a' });
  });

  it('refuses a call without one of the headers, and names it.', async () => {
    const { 'webhook-signature': _, ...headers } = headersOf(BODY);
    await expect(verifyWebhook(BODY, headers, SECRET, { now: NOW })).rejects.toThrow('webhook-signature is missing');
  });

  it('says that the secret itself is unusable.', async () => {
    for (const secret of ['', 'whsec_', 'whsec_***'])
      await expect(verifyWebhook(BODY, headersOf(BODY), secret, { now: NOW })).rejects.toThrow(TypeError);
  });
});
