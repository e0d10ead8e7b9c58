import type { LineOrder } from './batch.js';

/** The number of a line, and the number that it refers to. */
export interface NumberedLine {
  readonly line: number;
  readonly issuerRnc: string | null;
  readonly encf: string | null;
  readonly refersTo: string | null;
}

/**
 * The lines that have to wait for other lines of the batch: one whose number is on an earlier line, and a note on a
 * document that is on any line. If a number is on several lines, a reference to it means the last of them, which ends
 * last. References that form a circle are left out, so the check of each document refuses them.
 */
export function orderLines(lines: readonly NumberedLine[]): LineOrder[] {
  const latest = new Map<string, number>();
  const same = new Map<number, number>();
  const keyOf = (issuerRnc: string, encf: string) => `${issuerRnc}:${encf}`;
  for (const { line, issuerRnc, encf } of lines) {
    if (issuerRnc === null || encf === null) continue;
    const key = keyOf(issuerRnc, encf);
    const before = latest.get(key);
    if (before !== undefined) same.set(line, before);
    latest.set(key, line);
  }
  const references = new Map<number, number>();
  for (const { line, issuerRnc, refersTo } of lines) {
    const target = issuerRnc === null || refersTo === null ? undefined : latest.get(keyOf(issuerRnc, refersTo));
    if (target !== undefined && target !== line) references.set(line, target);
  }
  for (const line of inCircles(same, references)) references.delete(line);
  return [...new Set([...same.keys(), ...references.keys()])].map((line) => ({
    line,
    sameLine: same.get(line) ?? null,
    referenceLine: references.get(line) ?? null,
  }));
}

type Wait = readonly [line: number, before: number];

/** Lines that could never begin, because they wait for each other. */
function inCircles(...waits: ReadonlyMap<number, number>[]): Set<number> {
  const blocked = peel(waits.flatMap((before) => [...before]));
  // A line that only waits for a circle is not in it.
  const circles = peel(blocked.map(([line, before]): Wait => [before, line]));
  return new Set(circles.map(([line]) => line));
}

/** Removes the lines that do not wait, then the lines that waited only for removed ones, and so on. Circles remain. */
function peel(waits: readonly Wait[]): Wait[] {
  const open = new Map<number, number>();
  const followers = new Map<number, number[]>();
  for (const [line, before] of waits) {
    open.set(line, (open.get(line) ?? 0) + 1);
    const others = followers.get(before);
    if (others === undefined) followers.set(before, [line]);
    else others.push(line);
  }
  const ended = [...followers.keys()].filter((line) => !open.has(line));
  for (const line of ended)
    for (const follower of followers.get(line) ?? []) {
      const left = (open.get(follower) ?? 0) - 1;
      open.set(follower, left);
      if (left === 0) ended.push(follower);
    }
  const isOpen = (line: number) => (open.get(line) ?? 0) > 0;
  return waits.filter(([line, before]) => isOpen(line) && isOpen(before));
}
