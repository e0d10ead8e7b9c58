import { LRUCache } from 'lru-cache';
import type { AnswerNote, DocumentStore, Observer } from '../ports.js';
import type { NumberHolder } from './received-document.js';

/** How long after an answer began what became of it is waited for. The instance that gave it says so within milliseconds. */
const ANSWER_MS = 5_000;
/** Milliseconds between looks for that note: first and longest. */
const FIRST_LOOK_MS = 10;
const LONGEST_LOOK_MS = 160;
/** A note that could not be made is tried again. */
const NOTE_TRIES = 8;
const NOTE_PAUSE_MS = 250;
/** Answers remembered here, so that a repeat that follows at once is judged by them. */
const REMEMBERED = 10_000;

export interface AnswersPorts {
  readonly documents: Pick<DocumentStore, 'holder' | 'noteAnswers'>;
  readonly observer: Observer;
  readonly clock: () => Date;
  readonly sleep: (ms: number) => Promise<void>;
}

/**
 * Knows which acknowledgements left completely. Identical bytes that come again get the first acknowledgement as long as
 * it did not: the sender cannot have it. Afterwards they are a repeat.
 */
export class Answers {
  #moment = 0;
  /** Document id → the moment its answer left here. */
  readonly #left = new LRUCache<number, number>({ max: REMEMBERED });
  readonly #underWay = new Map<number, number>();
  #waiting = new Map<number, AnswerNote>();
  #noting: Promise<void> | null = null;

  constructor(private readonly ports: AnswersPorts) {}

  /** Moments order what happens in this instance finer than a clock does; taken when a request begins. */
  arrive(): number {
    return ++this.#moment;
  }

  /** An answer with the acknowledgement of this document is about to be written. */
  begin(id: number): void {
    this.#underWay.set(id, (this.#underWay.get(id) ?? 0) + 1);
  }

  /** That answer ended: it left completely at `at`, or (null) the connection was lost before. */
  end(id: number, at: Date | null): void {
    const others = (this.#underWay.get(id) ?? 1) - 1;
    if (others > 0) this.#underWay.set(id, others);
    else this.#underWay.delete(id);
    if (this.#left.has(id)) return;
    if (at !== null) {
      this.#left.set(id, ++this.#moment);
      this.#noteSoon({ id, leftAt: at, dueAt: null });
    } else if (others === 0) {
      this.#noteSoon({ id, leftAt: null, dueAt: this.ports.clock() });
    }
  }

  /**
   * Whether the sender of a request can have the acknowledgement already: an answer left before the request arrived.
   * Where another instance may be answering, what it notes is waited for.
   */
  async leftBefore(document: NumberHolder, request: { moment: number; arrivedAt: Date }): Promise<boolean> {
    let present = document;
    let [due, waited] = [dueOf(document), 0];
    for (let pause = FIRST_LOOK_MS; ; pause = Math.min(2 * pause, LONGEST_LOOK_MS)) {
      const here = this.#left.get(document.id);
      if (here !== undefined) return here < request.moment;
      if (this.#underWay.has(document.id)) return false;
      if (present.answeredAt !== null) return present.answeredAt <= request.arrivedAt;
      // The clock may be set back meanwhile: no wait is longer than its pauses say.
      if (this.ports.clock().getTime() >= due || waited >= ANSWER_MS) return false;
      await this.ports.sleep(pause);
      waited += pause;
      present = (await this.ports.documents.holder(document.key)) ?? present;
      if (dueOf(present) !== due) [due, waited] = [dueOf(present), 0];
    }
  }

  /** The acknowledgement is given once more: other instances wait again for what becomes of it. */
  async giveAgain(id: number): Promise<void> {
    const dueAt = new Date(this.ports.clock().getTime() + ANSWER_MS);
    await this.ports.documents.noteAnswers([{ id, leftAt: null, dueAt }]);
  }

  /** Resolves when everything that left is noted. */
  async settled(): Promise<void> {
    await this.#noting;
  }

  #noteSoon(note: AnswerNote): void {
    this.#waiting.set(note.id, note);
    this.#noting ??= this.#note();
  }

  /** One statement notes all that ended while the one before was under way. */
  async #note(): Promise<void> {
    for (let failures = 0; this.#waiting.size > 0; ) {
      const notes = this.#waiting;
      this.#waiting = new Map();
      try {
        await this.ports.documents.noteAnswers([...notes.values()]);
        failures = 0;
      } catch (error) {
        this.ports.observer.failed('noting that answers left', error);
        failures += 1;
        // Given up, a repeat gets the same acknowledgement once more: harmless.
        if (failures === NOTE_TRIES) continue;
        this.#waiting = new Map([...notes, ...this.#waiting]);
        await this.ports.sleep(NOTE_PAUSE_MS);
      }
    }
    this.#noting = null;
  }
}

/** Until when what became of an answer is waited for, by the clocks of all instances. */
function dueOf({ answerDueAt, acknowledgedAt }: NumberHolder): number {
  return answerDueAt?.getTime() ?? acknowledgedAt.getTime() + ANSWER_MS;
}
