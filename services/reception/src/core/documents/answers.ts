import { LRUCache } from 'lru-cache';
import type { AnswerNote, DocumentStore, Observer } from '../ports.js';
import type { NumberHolder } from './received-document.js';

/** How long a repeat waits for the outcome of an answer that began. The instance that gave it notes it within milliseconds. */
const ANSWER_MS = 5_000;
/** Milliseconds between two reads of that note: first and longest. */
const FIRST_LOOK_MS = 10;
const LONGEST_LOOK_MS = 160;
/** A record that could not be written is tried again. */
const NOTE_TRIES = 8;
const NOTE_PAUSE_MS = 250;
/** Answers kept in memory, for repeats that follow at once. */
const REMEMBERED = 10_000;

export interface AnswersPorts {
  readonly documents: Pick<DocumentStore, 'holder' | 'noteAnswers'>;
  readonly observer: Observer;
  readonly clock: () => Date;
  readonly sleep: (ms: number) => Promise<void>;
}

/**
 * Knows which acknowledgements left completely. Identical bytes that arrive again get the first acknowledgement until it
 * left, because the sender cannot have it. Afterwards they are a repeat.
 */
export function createAnswers(ports: AnswersPorts) {
  let moment = 0;
  /** Document id → the moment its answer left here. */
  const left = new LRUCache<number, number>({ max: REMEMBERED });
  const inFlight = new Map<number, number>();
  let waiting = new Map<number, AnswerNote>();
  let noting: Promise<void> | null = null;

  /** Takes a moment when a request begins. Moments order the events of this instance, which a clock cannot. */
  function arrive(): number {
    return ++moment;
  }

  /** An answer with the acknowledgement of this document is about to be written. */
  function begin(id: number): void {
    inFlight.set(id, (inFlight.get(id) ?? 0) + 1);
  }

  /** That answer ended: it left completely at `at`, or (null) the connection was lost before. */
  function end(id: number, at: Date | null): void {
    const others = (inFlight.get(id) ?? 1) - 1;
    if (others > 0) inFlight.set(id, others);
    else inFlight.delete(id);
    if (left.has(id)) return;
    if (at !== null) {
      left.set(id, ++moment);
      noteSoon({ id, leftAt: at, dueAt: null });
    } else if (others === 0) {
      noteSoon({ id, leftAt: null, dueAt: ports.clock() });
    }
  }

  /**
   * Whether the sender of a request can have the acknowledgement already: an answer left before the request arrived.
   * If another instance may be answering, this waits for its note.
   */
  async function leftBefore(document: NumberHolder, request: { moment: number; arrivedAt: Date }): Promise<boolean> {
    let present = document;
    let [due, waited] = [dueOf(document), 0];
    for (let pause = FIRST_LOOK_MS; ; pause = Math.min(2 * pause, LONGEST_LOOK_MS)) {
      const here = left.get(document.id);
      if (here !== undefined) return here < request.moment;
      if (inFlight.has(document.id)) return false;
      if (present.answeredAt !== null) return present.answeredAt <= request.arrivedAt;
      // The clock may be set back meanwhile: no wait is longer than its pauses say.
      if (ports.clock().getTime() >= due || waited >= ANSWER_MS) return false;
      await ports.sleep(pause);
      waited += pause;
      present = (await ports.documents.holder(document.key)) ?? present;
      if (dueOf(present) !== due) [due, waited] = [dueOf(present), 0];
    }
  }

  /** The acknowledgement is sent again, so other instances wait again for its result. */
  async function giveAgain(id: number): Promise<void> {
    const dueAt = new Date(ports.clock().getTime() + ANSWER_MS);
    await ports.documents.noteAnswers([{ id, leftAt: null, dueAt }]);
  }

  /** Resolves when all answers that left are noted. */
  async function settled(): Promise<void> {
    await noting;
  }

  function noteSoon(note: AnswerNote): void {
    waiting.set(note.id, note);
    noting ??= noteAll();
  }

  /** One statement records all answers that ended while the one before ran. */
  async function noteAll(): Promise<void> {
    for (let failures = 0; waiting.size > 0; ) {
      const notes = waiting;
      waiting = new Map();
      try {
        await ports.documents.noteAnswers([...notes.values()]);
        failures = 0;
      } catch (error) {
        ports.observer.failed('noting that answers left', error);
        failures += 1;
        // If it is given up, a repeat gets the same acknowledgement again, which is harmless.
        if (failures === NOTE_TRIES) continue;
        waiting = new Map([...notes, ...waiting]);
        await ports.sleep(NOTE_PAUSE_MS);
      }
    }
    noting = null;
  }

  return { arrive, begin, end, leftBefore, giveAgain, settled };
}

export type Answers = ReturnType<typeof createAnswers>;

/** The time until which a request waits for the result of an earlier answer, by the clocks of all instances. */
function dueOf({ answerDueAt, acknowledgedAt }: NumberHolder): number {
  return answerDueAt?.getTime() ?? acknowledgedAt.getTime() + ANSWER_MS;
}
