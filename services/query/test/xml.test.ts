import { createHash } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  ACCOUNT,
  encf,
  FOREIGN_ISSUER,
  ISSUER,
  invoice,
  invoiceEvent,
  OTHER_ACCOUNT,
  OTHER_ISSUER,
  received,
  receivedEvent,
  taxpayer,
  taxpayerEvent,
} from './support/events.js';
import { startWorld, type World } from './support/world.js';

const SECOND_PROVIDER = '130000001';
let world: World;

/** Stores bytes as their owner does; returns the file's fields of the event. */
async function stored(name: string): Promise<{ xml: string; path: string; sha256: string }> {
  const xml = `<?xml version="1.0"?><ECF>${name}</ECF>`;
  const file = `TesteCF/ecf/${ISSUER}/issued/2026/06/${name}.xml`;
  const { checksum } = await world.archive.put(file, Buffer.from(xml));
  return { xml, path: file, sha256: checksum };
}

async function issued(sequence: number, name: string, change: Parameters<typeof invoice>[0] = {}) {
  const file = await stored(name);
  await world.publish(
    invoiceEvent(invoice({ sequence, xml_storage_path: file.path, xml_checksum: file.sha256, ...change })),
  );
  return file;
}

async function took(sequence: number, name: string, change: Parameters<typeof received>[0] = {}) {
  const file = await stored(name);
  const event = received({ sequence, xml_storage_path: file.path, xml_checksum: file.sha256, ...change });
  await world.publish(receivedEvent(event));
  return { ...file, event };
}

const xmlOf = (pathAndQuery: string, headers: Record<string, string> = {}, account = ACCOUNT) =>
  world.get(pathAndQuery, headers, { account_id: account });

beforeAll(async () => {
  world = await startWorld();
  await world.publish(
    taxpayerEvent(taxpayer({ rnc: OTHER_ISSUER })),
    taxpayerEvent(taxpayer({ rnc: FOREIGN_ISSUER, account_id: OTHER_ACCOUNT })),
  );
});
afterAll(() => world.stop());

describe('GET /{encf}/xml', () => {
  it('returns the exact bytes of an issued document', async () => {
    const { xml } = await issued(1, 'one');
    for (const number of [encf('31', 1), encf('31', 1).toLowerCase()]) {
      const answer = await xmlOf(`/${number}/xml`);
      expect([answer.status, answer.text]).toEqual([200, xml]);
      expect(answer.headers.get('content-type')).toMatch(/^application\/xml/);
      expect(answer.headers.get('content-disposition')).toContain(`${ISSUER}${encf('31', 1)}.xml`);
    }
    expect((await xmlOf(`/${encf('31', 1)}/xml?issuer_rnc=${ISSUER}`)).text).toBe(xml);
    expect((await xmlOf(`/${encf('31', 1)}/xml`, { env: 'eCF' })).status).toBe(404);
  });

  it('returns the summary on request, if there is one', async () => {
    const summary = await stored('two-summary');
    const { xml } = await issued(2, 'two', {
      ecf_type: '32',
      route: 'rfce',
      rfce_storage_path: summary.path,
      rfce_checksum: summary.sha256,
    });
    expect((await xmlOf(`/${encf('32', 2)}/xml`)).text).toBe(xml);
    expect((await xmlOf(`/${encf('32', 2)}/xml?document=rfce`)).text).toBe(summary.xml);
    expect((await xmlOf(`/${encf('32', 2)}/xml?sha256=${summary.sha256}`)).text).toBe(summary.xml);
    expect((await xmlOf(`/${encf('31', 1)}/xml?document=rfce`)).body).toMatchObject({ code: 'not_found' });
  });

  it('answers 400 if two taxpayers of the account used one number, until one is named', async () => {
    const mine = await issued(3, 'three');
    const other = await issued(3, 'three-other', { issuer_rnc: OTHER_ISSUER });
    expect(await xmlOf(`/${encf('31', 3)}/xml`)).toMatchObject({ status: 400, body: { code: 'ambiguous_encf' } });
    expect((await xmlOf(`/${encf('31', 3)}/xml?issuer_rnc=${ISSUER}`)).text).toBe(mine.xml);
    expect((await xmlOf(`/${encf('31', 3)}/xml?issuer_rnc=${OTHER_ISSUER}`)).text).toBe(other.xml);
    expect((await xmlOf(`/${encf('31', 3)}/xml?sha256=${other.sha256.toUpperCase()}`)).text).toBe(other.xml);
  });

  it('returns a received document if none was issued, or if its provider is named', async () => {
    const { xml } = await took(4, 'four');
    expect((await xmlOf(`/${encf('31', 4)}/xml`)).text).toBe(xml);
    expect((await xmlOf(`/${encf('31', 4)}/xml?issuer_rnc=${FOREIGN_ISSUER}`)).text).toBe(xml);
    expect((await xmlOf(`/${encf('31', 4)}/xml?issuer_rnc=${ISSUER}`)).status).toBe(404);
    // A number used by an own taxpayer and by a provider means the own document, unless the provider is named.
    const own = await issued(4, 'four-own');
    expect((await xmlOf(`/${encf('31', 4)}/xml`)).text).toBe(own.xml);
    expect((await xmlOf(`/${encf('31', 4)}/xml?issuer_rnc=${FOREIGN_ISSUER}`)).text).toBe(xml);
  });

  it('answers 400 if several providers used one number, until one is named', async () => {
    const first = await took(5, 'five');
    await took(6, 'five-second', { encf: encf('31', 5), issuer_rnc: SECOND_PROVIDER });
    expect(await xmlOf(`/${encf('31', 5)}/xml`)).toMatchObject({ status: 400, body: { code: 'ambiguous_encf' } });
    expect((await xmlOf(`/${encf('31', 5)}/xml?issuer_rnc=${FOREIGN_ISSUER}`)).text).toBe(first.xml);
  });

  it('answers 400 if several buyers of the account received one number of a provider, until one is named', async () => {
    const first = await took(11, 'eleven');
    const second = await took(12, 'eleven-second', { encf: encf('31', 11), buyer_rnc: OTHER_ISSUER });
    const path = `/${encf('31', 11)}/xml?issuer_rnc=${FOREIGN_ISSUER}`;
    for (const each of [path, `/${encf('31', 11)}/xml`])
      expect(await xmlOf(each)).toMatchObject({ status: 400, body: { code: 'ambiguous_encf' } });
    expect((await xmlOf(path, { 'buyer-rnc': ISSUER })).text).toBe(first.xml);
    expect((await xmlOf(path, { 'buyer-rnc': OTHER_ISSUER })).text).toBe(second.xml);
    expect((await xmlOf(`${path}&sha256=${second.sha256}`)).text).toBe(second.xml);
    expect(await xmlOf(path, { 'buyer-rnc': SECOND_PROVIDER })).toMatchObject({
      status: 404,
      body: { code: 'taxpayer_not_found' },
    });
    expect(await xmlOf(path, { 'buyer-rnc': '12' })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['header', 'buyer-rnc'] }] },
    });
  });

  it('returns the issued copy if the account is issuer and buyer, and a competing document by its checksum', async () => {
    const own = await issued(7, 'seven');
    const copy = await stored('seven-received');
    const rival = await stored('seven-rival');
    await world.publish(
      receivedEvent(
        received({
          sequence: 7,
          issuer_rnc: ISSUER,
          buyer_rnc: OTHER_ISSUER,
          xml_storage_path: copy.path,
          xml_checksum: copy.sha256,
          conflicts: [
            {
              sha256: rival.sha256,
              date_received: '2026-06-15T10:00:00-04:00',
              certificate_subject: 'CN=Rival',
              xml_storage_path: rival.path,
            },
          ],
        }),
      ),
    );
    const path = `/${encf('31', 7)}/xml?issuer_rnc=${ISSUER}`;
    expect((await xmlOf(path)).text).toBe(own.xml);
    expect((await xmlOf(`${path}&sha256=${copy.sha256}`)).text).toBe(copy.xml);
    expect((await xmlOf(`${path}&sha256=${rival.sha256}`)).text).toBe(rival.xml);
    expect((await xmlOf(`${path}&sha256=${'0'.repeat(64)}`)).status).toBe(404);
  });

  it('answers 404 for a document of another account, whatever parameters the caller has', async () => {
    const { sha256 } = await issued(8, 'eight', { issuer_rnc: FOREIGN_ISSUER, account_id: OTHER_ACCOUNT });
    for (const query of ['', `?issuer_rnc=${FOREIGN_ISSUER}`, `?sha256=${sha256}`])
      expect((await xmlOf(`/${encf('31', 8)}/xml${query}`)).status).toBe(404);
    expect((await xmlOf(`/${encf('31', 8)}/xml`, {}, OTHER_ACCOUNT)).status).toBe(200);
  });

  it.each([
    ['/E31/xml', ['path', 'encf']],
    ['/favicon/xml', ['path', 'encf']],
    [`/${encf('31', 1)}/xml?issuer_rnc=..`, ['query', 'issuer_rnc']],
    [`/${encf('31', 1)}/xml?sha256=..`, ['query', 'sha256']],
    [`/${encf('31', 1)}/xml?document=anecf`, ['query', 'document']],
    [`/${encf('31', 1)}/xml?issuer_rnc=${ISSUER}&issuer_rnc=${OTHER_ISSUER}`, ['query', 'issuer_rnc']],
  ])('answers 422 for %s', async (address, loc) => {
    expect(await xmlOf(address)).toMatchObject({ status: 422, body: { detail: [{ loc }] } });
  });

  it('returns the bytes of a document that is not archived yet', async () => {
    const issuedFile = await issued(11, 'eleven');
    const receivedFile = await took(12, 'twelve');
    for (const { path: name, xml } of [issuedFile, receivedFile]) {
      await rm(path.join(world.folder, 'xml', name));
      world.pending.set(name, xml);
    }
    expect((await xmlOf(`/${encf('31', 11)}/xml`)).text).toBe(issuedFile.xml);
    expect((await xmlOf(`/${encf('31', 12)}/xml?issuer_rnc=${FOREIGN_ISSUER}`)).text).toBe(receivedFile.xml);
    expect(await world.metrics.render()).not.toMatch(/ecf_integrity_errors_total [1-9]/);
  });

  it('never returns altered or lost bytes, and reports an integrity error', async () => {
    const altered = await issued(9, 'nine');
    await writeFile(path.join(world.folder, 'xml', altered.path), `${altered.xml} `);
    const lost = await issued(10, 'ten');
    await rm(path.join(world.folder, 'xml', lost.path));
    for (const sequence of [9, 10]) {
      const answer = await xmlOf(`/${encf('31', sequence)}/xml`);
      expect([answer.status, answer.body.code]).toEqual([500, 'document_damaged']);
      expect(answer.text).not.toContain('<ECF>');
    }
    const metrics = await world.metrics.render();
    expect(metrics).toContain('ecf_integrity_errors_total 2');
    expect(metrics).toContain('ecf_damaged_documents{service="query"} 2');
    expect(createHash('sha256').update(altered.xml).digest('hex')).toBe(altered.sha256);
  });
});
