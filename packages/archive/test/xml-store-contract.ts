import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { XmlStore } from '../src/xml-store.js';

/** The path of a document; tests of one store use different numbers. */
export const name = (n: number) => `TesteCF/ecf/131000001/issued/2026/03/131000001E31000000000${n}-0123456789ab.xml`;
export const bytes = Buffer.from('<ECF>ñ</ECF>');
export const checksum = createHash('sha256').update(bytes).digest('hex');

/** The contract of every archive. It uses the numbers 1 to 5. */
export function archiveContract(store: () => XmlStore): void {
  describe('as every archive', () => {
    it('returns stored bytes, with their checksum', async () => {
      expect(await store().put(name(1), bytes)).toEqual({ checksum });
      expect(await store().get(name(1))).toEqual(bytes);
      expect(await store().get(name(1), checksum)).toEqual(bytes);
    });

    it('accepts the same bytes again, but never other bytes under the same path', async () => {
      expect(await store().put(name(1), bytes)).toEqual({ checksum });
      await expect(store().put(name(1), Buffer.from('other'))).rejects.toMatchObject({ code: 'exists' });
      expect(await store().get(name(1))).toEqual(bytes);
    });

    it('keeps one of several documents that are stored under one path at the same moment', async () => {
      const results = await Promise.allSettled(
        Array.from({ length: 20 }, (_, i) => store().put(name(2), Buffer.from(`version ${i % 2}`))),
      );
      const kept = (await store().get(name(2))).toString();
      for (const [i, result] of results.entries())
        expect(result.status).toBe(kept === `version ${i % 2}` ? 'fulfilled' : 'rejected');
    });

    it('stores many documents at the same time', async () => {
      const place = (i: number) => `TesteCF/ecf/13100${i % 7}/issued/2026/04/${i}.xml`;
      const numbers = Array.from({ length: 100 }, (_, i) => i);
      await Promise.all(numbers.map((i) => store().put(place(i), Buffer.from(String(i)))));
      for (const i of numbers) expect((await store().get(place(i))).toString()).toBe(String(i));
    });

    it('reports that it is ready, and lists the stored documents', async () => {
      await store().ready();
      await store().put(name(1), bytes);
      const listed = new Map<string, Date>();
      for await (const { path, storedAt } of store().list()) listed.set(path, storedAt);
      expect(listed.get(name(1))?.getTime()).toBeGreaterThan(1_600_000_000_000);
      expect([...listed.keys()].filter((path) => path.startsWith('.'))).toEqual([]);
      const documents = [...listed.keys()].filter(
        (path) => path.startsWith('TesteCF/ecf/13100') && path.includes('/04/'),
      );
      expect(documents).toHaveLength(100);
    });

    it('lists the documents of a prefix, also of one that has none', async () => {
      await store().put(name(1), bytes);
      const under = async (prefix: string) => {
        const paths: string[] = [];
        for await (const { path } of store().list(prefix)) paths.push(path);
        return paths;
      };
      expect(await under(name(1).slice(0, -17))).toEqual([name(1)]);
      const april = 'TesteCF/ecf/131002/issued/2026/04';
      expect((await under(`${april}/9`)).sort()).toEqual([`${april}/9.xml`, `${april}/93.xml`]);
      expect(await under('TesteCF/ecf/131002')).toHaveLength(14);
      expect(await under('TesteCF/ecf/131000001/issued/2031/01/131')).toEqual([]);
    });

    it('distinguishes a missing document from an altered one', async () => {
      await expect(store().get(name(4))).rejects.toMatchObject({ code: 'missing' });
      await store().put(name(5), Buffer.from('<ECF>n</ECF>'));
      await expect(store().get(name(5), checksum)).rejects.toMatchObject({ code: 'altered' });
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
      await expect(store().put(bad, bytes)).rejects.toMatchObject({ code: 'bad_path' });
      await expect(store().get(bad)).rejects.toMatchObject({ code: 'bad_path' });
    });
  });
}
