import type { LineOrder } from './batch.js';

/** The number of a line, and the number that it refers to. */
export interface NumberedLine {
  readonly line: number;
  readonly issuerRnc: string | null;
  readonly encf: string | null;
  readonly refersTo: string | null;
}

/**
 * The lines that have to wait for others of the batch: a number that stands there twice, and a note on a document of the
 * batch, wherever that stands. References that form a circle are left out, so the check of each document refuses them.
 */
export function orderLines(lines: readonly NumberedLine[]): LineOrder[] {
  const first = new Map<string, number>();
  const latest = new Map<string, number>();
  const same = new Map<number, number>();
  const keyOf = (issuerRnc: string, encf: string) => `${issuerRnc}:${encf}`;
  for (const { line, issuerRnc, encf } of lines) {
    if (issuerRnc === null || encf === null) continue;
    const key = keyOf(issuerRnc, encf);
    const before = latest.get(key);
    if (before === undefined) first.set(key, line);
    else same.set(line, before);
    latest.set(key, line);
  }
  const references = new Map<number, number>();
  for (const { line, issuerRnc, refersTo } of lines) {
    const target = issuerRnc === null || refersTo === null ? undefined : first.get(keyOf(issuerRnc, refersTo));
    if (target !== undefined && target !== line) references.set(line, target);
  }
  for (const line of inCircles(same, references)) references.delete(line);
  return [...new Set([...same.keys(), ...references.keys()])].map((line) => ({
    line,
    sameLine: same.get(line) ?? null,
    referenceLine: references.get(line) ?? null,
  }));
}

/** Lines that could never begin, because they wait for each other. */
function inCircles(same: ReadonlyMap<number, number>, references: ReadonlyMap<number, number>): number[] {
  const waiting = new Map<number, Set<number>>();
  const followers = new Map<number, number[]>();
  for (const edges of [same, references])
    for (const [line, before] of edges) {
      waiting.set(line, (waiting.get(line) ?? new Set()).add(before));
      followers.set(before, [...(followers.get(before) ?? []), line]);
    }
  const free = [...followers.keys()].filter((line) => !waiting.has(line));
  for (let line = free.pop(); line !== undefined; line = free.pop())
    for (const follower of followers.get(line) ?? []) {
      const before = waiting.get(follower);
      before?.delete(line);
      if (before?.size !== 0) continue;
      waiting.delete(follower);
      free.push(follower);
    }
  return [...waiting.keys()];
}
