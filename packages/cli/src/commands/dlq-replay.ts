import { setTimeout as delay } from 'node:timers/promises';
import type { DeadLetter, FileDeadLetters } from '@ecf/service-kit/dead-letters';
import type { LetterBox } from './dlq-letter-box.js';

export interface Replayed {
  readonly letter: DeadLetter;
  /** `sent`: on its way over the brokers; `waiting`: no process has taken it up yet. */
  readonly outcome: 'sent' | 'handled' | 'failed' | 'waiting';
  readonly reason: string | null;
}

const LOOK_MS = 100;
const CUT = 'it was too large to be kept whole; it can only be dismissed';

/** Sends complete messages to their groups again, oldest first. On a standalone deployment it waits for the results. */
export async function replay(letters: readonly DeadLetter[], box: LetterBox, waitSeconds: number): Promise<Replayed[]> {
  const whole = letters.filter(({ incomplete }) => incomplete !== true);
  const cut = letters.filter(({ incomplete }) => incomplete === true);
  for (const letter of whole) await box.letters.replay(letter);
  const unable = cut.map((letter): Replayed => ({ letter, outcome: 'failed', reason: CUT }));
  if (box.files === null)
    return [...whole.map((letter): Replayed => ({ letter, outcome: 'sent', reason: null })), ...unable];
  return [...(await outcomes(whole, box.files, waitSeconds)), ...unable];
}

async function outcomes(
  letters: readonly DeadLetter[],
  files: FileDeadLetters,
  waitSeconds: number,
): Promise<Replayed[]> {
  const end = performance.now() + waitSeconds * 1_000;
  let asked = await idsOf(files.requested());
  while (letters.some(({ id }) => asked.has(id)) && performance.now() < end) {
    await delay(LOOK_MS);
    asked = await idsOf(files.requested());
  }
  const dead = new Map((await files.list()).map((letter) => [letter.id, letter.reason]));
  return letters.map((letter) => {
    if (asked.has(letter.id))
      return { letter, outcome: 'waiting', reason: 'no process has taken it up yet; it is taken up when one runs' };
    const reason = dead.get(letter.id);
    return { letter, outcome: reason === undefined ? 'handled' : 'failed', reason: reason ?? null };
  });
}

async function idsOf(letters: Promise<readonly DeadLetter[]>): Promise<Set<string>> {
  return new Set((await letters).map(({ id }) => id));
}
