import { setTimeout as delay } from 'node:timers/promises';
import type { DeadLetter, FileDeadLetters } from '@ecf/service-kit/dead-letters';
import type { DeadLetterStore } from './store.js';

export interface Replayed {
  readonly deadLetter: DeadLetter;
  /** `sent`: the brokers have it; `waiting`: no process has taken it yet. */
  readonly outcome: 'sent' | 'handled' | 'failed' | 'waiting';
  readonly reason: string | null;
}

const LOOK_MS = 100;
const CUT = 'it was too large to be kept whole; it can only be dismissed';

/** Replays complete dead-letter messages, oldest first. For a standalone deployment it waits for their outcome. */
export async function replay(
  deadLetters: readonly DeadLetter[],
  store: DeadLetterStore,
  waitSeconds: number,
): Promise<Replayed[]> {
  const whole = deadLetters.filter(({ incomplete }) => incomplete !== true);
  const cut = deadLetters.filter(({ incomplete }) => incomplete === true);
  for (const deadLetter of whole) await store.deadLetters.replay(deadLetter);
  const unable = cut.map((deadLetter): Replayed => ({ deadLetter, outcome: 'failed', reason: CUT }));
  if (store.files === null)
    return [...whole.map((deadLetter): Replayed => ({ deadLetter, outcome: 'sent', reason: null })), ...unable];
  return [...(await outcomes(whole, store.files, waitSeconds)), ...unable];
}

async function outcomes(
  deadLetters: readonly DeadLetter[],
  files: FileDeadLetters,
  waitSeconds: number,
): Promise<Replayed[]> {
  const end = performance.now() + waitSeconds * 1_000;
  let requested = await idsOf(files.requested());
  while (deadLetters.some(({ id }) => requested.has(id)) && performance.now() < end) {
    await delay(LOOK_MS);
    requested = await idsOf(files.requested());
  }
  const dead = new Map((await files.list()).map((deadLetter) => [deadLetter.id, deadLetter.reason]));
  return deadLetters.map((deadLetter) => {
    if (requested.has(deadLetter.id))
      return {
        deadLetter,
        outcome: 'waiting',
        reason: 'no process has taken it yet; the next process that runs takes it',
      };
    const reason = dead.get(deadLetter.id);
    return { deadLetter, outcome: reason === undefined ? 'handled' : 'failed', reason: reason ?? null };
  });
}

async function idsOf(deadLetters: Promise<readonly DeadLetter[]>): Promise<Set<string>> {
  return new Set((await deadLetters).map(({ id }) => id));
}
