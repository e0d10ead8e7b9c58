/** Repeats `look` until its result passes `holds`, and resolves with it; after `withinMs` it throws with the last result. */
export async function until<T>(look: () => Promise<T>, holds: (seen: T) => boolean, withinMs = 60_000): Promise<T> {
  for (const end = Date.now() + withinMs; ; ) {
    const seen = await look();
    if (holds(seen)) return seen;
    if (Date.now() > end) throw new Error(`not within ${withinMs / 1_000} s: ${JSON.stringify(seen)}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
