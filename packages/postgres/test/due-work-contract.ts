import { expect, it } from '@jest/globals';
import type { DueWorkStore } from '../src/due-work/due-work.js';

export interface DueWorkSubject<Item> {
  readonly store: DueWorkStore<Item>;
  /** Adds an item with this due time; resolves with its key. */
  add(dueAt: Date): Promise<string>;
  keyOf(item: Item): string;
}

const NOW = new Date('2026-03-01T12:00:00Z');
const after = (ms: number) => new Date(NOW.getTime() + ms);

/** The contract of every store of due work: claims are leases by due time, exclusive between instances. */
export function describeDueWorkStore<Item>(open: () => Promise<DueWorkSubject<Item>>): void {
  it('claims due items, earliest first, and no item that falls due later', async () => {
    const { store, add, keyOf } = await open();
    const late = await add(after(-1_000));
    const later = await add(after(-500));
    await add(after(1_000));
    const claimed = await store.claimDue({ now: NOW, until: after(10_000), limit: 10 });
    expect(claimed.map(keyOf)).toEqual([late, later]);
  });

  it('claims no more than the limit', async () => {
    const { store, add, keyOf } = await open();
    const keys = [await add(after(-3)), await add(after(-2)), await add(after(-1))];
    const claimed = await store.claimDue({ now: NOW, until: after(10_000), limit: 2 });
    expect(claimed.map(keyOf)).toEqual(keys.slice(0, 2));
  });

  it('passes a leased item over until its lease ends, then claims it again', async () => {
    const { store, add, keyOf } = await open();
    const key = await add(after(-1));
    await store.claimDue({ now: NOW, until: after(10_000), limit: 1 });
    expect(await store.claimDue({ now: after(9_999), until: after(20_000), limit: 1 })).toEqual([]);
    const again = await store.claimDue({ now: after(10_000), until: after(20_000), limit: 1 });
    expect(again.map(keyOf)).toEqual([key]);
  });

  it('gives an item to one of many instances that claim at the same moment', async () => {
    const { store, add, keyOf } = await open();
    const keys = await Promise.all(Array.from({ length: 12 }, (_, i) => add(after(-1_000 + i))));
    const claims = await Promise.all(
      Array.from({ length: 6 }, () => store.claimDue({ now: NOW, until: after(10_000), limit: 4 })),
    );
    const rest = await store.claimDue({ now: NOW, until: after(10_000), limit: 12 });
    expect([...claims.flat(), ...rest].map(keyOf).sort()).toEqual(keys.sort());
  });

  it('extends a lease if the store supports it', async () => {
    const { store, add } = await open();
    if (store.renew === undefined) return;
    await add(after(-1));
    const claimed = await store.claimDue({ now: NOW, until: after(10_000), limit: 1 });
    await store.renew(claimed, after(30_000));
    expect(await store.claimDue({ now: after(20_000), until: after(40_000), limit: 1 })).toEqual([]);
  });
}
