import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openFileXmlStore } from '../src/xml-store.files.js';
import type { XmlStore } from '../src/xml-store.js';

let root: string;
let store: XmlStore;
beforeAll(async () => {
  root = mkdtempSync(path.join(os.tmpdir(), 'ecf-xml-'));
  store = await openFileXmlStore(root);
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const name = (n: number) => `TesteCF/ecf/131000001/issued/2026/03/131000001E31000000000${n}-0123456789ab.xml`;
const bytes = Buffer.from('<ECF>ñ</ECF>');
const checksum = createHash('sha256').update(bytes).digest('hex');

describe('an archive of files', () => {
  it('gives back what was put, with its checksum', async () => {
    expect(await store.put(name(1), bytes)).toEqual({ checksum });
    expect(await store.get(name(1))).toEqual(bytes);
    expect(await store.get(name(1), checksum)).toEqual(bytes);
    expect(readdirSync(path.join(root, '.incoming'))).toEqual([]);
  });

  it('takes the same bytes again and never others', async () => {
    expect(await store.put(name(1), bytes)).toEqual({ checksum });
    await expect(store.put(name(1), Buffer.from('other'))).rejects.toMatchObject({ code: 'exists' });
    expect(await store.get(name(1))).toEqual(bytes);
    expect(readdirSync(path.join(root, '.incoming'))).toEqual([]);
  });

  it('keeps one of several that come at the same moment', async () => {
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, (_, i) => store.put(name(2), Buffer.from(`version ${i % 2}`))),
    );
    const kept = (await store.get(name(2))).toString();
    for (const [i, result] of results.entries())
      expect(result.status).toBe(kept === `version ${i % 2}` ? 'fulfilled' : 'rejected');
  });

  it('stores many at once', async () => {
    await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        store.put(`TesteCF/ecf/13100${i % 7}/issued/2026/04/${i}.xml`, Buffer.from(String(i))),
      ),
    );
    for (let i = 0; i < 100; i += 1)
      expect((await store.get(`TesteCF/ecf/13100${i % 7}/issued/2026/04/${i}.xml`)).toString()).toBe(String(i));
  });

  it('tells what is missing from what was altered', async () => {
    await expect(store.get(name(9))).rejects.toMatchObject({ code: 'missing' });
    await store.put(name(3), bytes);
    writeFileSync(path.join(root, name(3)), '<ECF>n</ECF>');
    await expect(store.get(name(3), checksum)).rejects.toMatchObject({ code: 'altered' });
  });

  it.each([
    '',
    '/etc/passwd',
    '../outside.xml',
    'a/../../b.xml',
    'a//b.xml',
    '.incoming/x',
    'a/.b',
    'ñ.xml',
    'a\\b.xml',
    'a/b\u0000.xml',
    `${'x'.repeat(600)}.xml`,
  ])('refuses the path %j', async (bad) => {
    await expect(store.put(bad, bytes)).rejects.toMatchObject({ code: 'bad_path' });
    await expect(store.get(bad)).rejects.toMatchObject({ code: 'bad_path' });
  });

  it('clears away what a killed process left long ago, and nothing of today', async () => {
    const old = path.join(root, '.incoming', 'old');
    writeFileSync(old, 'x');
    utimesSync(old, new Date(0), new Date(0));
    writeFileSync(path.join(root, '.incoming', 'new'), 'x');
    await openFileXmlStore(root);
    expect(readdirSync(path.join(root, '.incoming'))).toEqual(['new']);
  });
});
