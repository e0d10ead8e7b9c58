/**
 * Sets an entry of a memory that holds `most` of them, as its latest; where it is full, the one goes that was set longest ago.
 */
export function keepLatest<K, V>(memory: Map<K, V>, key: K, value: V, most: number): void {
  memory.delete(key);
  memory.set(key, value);
  if (memory.size > most) memory.delete(memory.keys().next().value as K);
}
