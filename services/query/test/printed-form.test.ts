import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { qrPng } from '@ecf/printed-form';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { encf, ISSUER, invoice, invoiceEvent, taxpayer, taxpayerEvent } from './support/events.js';
import { startWorld, type World } from './support/world.js';

const golden = (name: string) => readFileSync(new URL(`../../../examples/golden/${name}.xml`, import.meta.url));
let world: World;

/** Stores a golden as the document of a number. */
async function issued(sequence: number, name: string, change: Parameters<typeof invoice>[0] = {}): Promise<void> {
  const path = `TesteCF/ecf/${ISSUER}/issued/2026/06/${sequence}.xml`;
  const { checksum } = await world.archive.put(path, golden(name));
  await world.publish(invoiceEvent(invoice({ sequence, xml_storage_path: path, xml_checksum: checksum, ...change })));
}

const get = (sequence: number, form: string, headers: Record<string, string> = {}) =>
  world.get(`/invoices/${encf('31', sequence)}/${form}`, { 'rnc-issuing': ISSUER, ...headers });

beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

describe('GET /invoices/{encf}/pdf', () => {
  it('returns the same bytes for the same document, and 304 to a caller that has them', async () => {
    await issued(1, 'ecf-31');
    const [letter, again, ticket] = await Promise.all([
      get(1, 'pdf'),
      get(1, 'pdf?lang=es'),
      get(1, 'pdf?format=ticket'),
    ]);
    for (const { status, headers, text } of [letter, again, ticket]) {
      expect([status, headers.get('content-type'), text.slice(0, 5)]).toEqual([200, 'application/pdf', '%PDF-']);
    }
    const tag = letter.headers.get('etag') ?? '';
    expect(again.headers.get('etag')).toBe(tag);
    expect(ticket.headers.get('etag')).not.toBe(tag);
    expect((await get(1, 'pdf', { 'if-none-match': tag })).status).toBe(304);
  });

  it('has the logo that the state of the taxpayer names; it is read once, and 503 while the gateway is unreachable', async () => {
    await issued(8, 'ecf-31');
    const tag = async () => (await get(8, 'pdf')).headers.get('etag');
    const plain = await tag();
    const set = (logo_sha256: string | null) => world.publish(taxpayerEvent(taxpayer({ logo_sha256 })));
    const bytes = qrPng('https://example.com');
    const sha256 = createHash('sha256').update(bytes).digest('hex');

    await set(sha256);
    world.logos.set(ISSUER, 'unreachable');
    const refused = await get(8, 'pdf');
    expect(refused).toMatchObject({ status: 503, body: { code: 'service_unavailable' } });
    expect(refused.headers.get('retry-after')).not.toBeNull();

    world.logos.set(ISSUER, { type: 'png', bytes, sha256 });
    world.logoReads.length = 0;
    const branded = await tag();
    expect([await tag(), branded === plain]).toEqual([branded, false]);
    expect(world.logoReads).toEqual([ISSUER]);

    await set(null);
    expect(await tag()).toBe(plain);
    expect(world.logoReads).toEqual([ISSUER]);
  });

  it('keeps the legend of a document that was signed in contingency', async () => {
    await issued(2, 'ecf-31');
    await issued(3, 'ecf-31', {
      contingency: { since: '2026-06-20T09:00:00-04:00', deadline: null },
    });
    const [plain, contingent] = await Promise.all([get(2, 'pdf'), get(3, 'pdf')]);
    expect([plain.status, contingent.status]).toEqual([200, 200]);
    expect(contingent.headers.get('etag')).not.toBe(plain.headers.get('etag'));
  });

  it('refuses a rejected document and one that is a summary with not_printable', async () => {
    await issued(4, 'ecf-31', { state: 'rejected-reusable', code: '2' });
    await issued(5, 'rfce');
    for (const sequence of [4, 5])
      expect(await get(sequence, 'pdf')).toMatchObject({ status: 409, body: { code: 'not_printable' } });
  });

  it('refuses an unknown format or language, and a number that does not exist', async () => {
    await issued(6, 'ecf-31');
    for (const query of ['format=a4', 'lang=en']) expect((await get(6, `pdf?${query}`)).status).toBe(422);
    expect((await get(99, 'pdf')).status).toBe(404);
  });
});

describe('GET /invoices/{encf}/qr.svg and qr.png', () => {
  it('return the QR code of qr_url', async () => {
    await issued(7, 'ecf-31');
    const [svg, png] = await Promise.all([get(7, 'qr.svg'), get(7, 'qr.png')]);
    expect([svg.status, svg.headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
    expect(svg.text).toMatch(/^<svg /);
    expect([png.status, png.headers.get('content-type')]).toEqual([200, 'image/png']);
    expect(png.text).toContain('PNG');
    expect((await get(99, 'qr.svg')).status).toBe(404);
  });
});
