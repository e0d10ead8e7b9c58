/** Of each full memory, where its oldest entry is: a new search would pass over the gaps of all that went before. */
const oldest = new WeakMap<object, Iterator<unknown>>();

/**
 * Sets an entry of a memory that holds `most` of them, as its latest; where it is full, the one goes that was set longest ago.
 */
export function keepLatest<K, V>(memory: Map<K, V>, key: K, value: V, most: number): void {
  memory.delete(key);
  memory.set(key, value);
  if (memory.size <= most) return;
  let next = oldest.get(memory)?.next();
  if (next === undefined || next.done === true) {
    const keys = memory.keys();
    oldest.set(memory, keys);
    next = keys.next();
  }
  memory.delete(next.value as K);
}
