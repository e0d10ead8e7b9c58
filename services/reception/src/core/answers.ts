import type { DocumentStore, Observer } from './ports.js';
import type { NumberHolder } from './received-document.js';

/** How long another instance may take to note that its answer left. */
const NOTING_MS = 40;
const NOTING_STEPS = 4;
/** Answers remembered here, so that a repeat that follows at once is judged by them. */
const REMEMBERED = 10_000;

/**
 * Knows which acknowledgements left completely. Identical bytes that come again get the first acknowledgement as long as
 * it did not: the sender cannot have it. Afterwards they are a repeat.
 */
export class Answers {
  #moment = 0;
  /** Document id → the moment its answer left here. */
  readonly #left = new Map<number, number>();
  readonly #underWay = new Map<number, number>();
  #waiting: { id: number; at: Date }[] = [];
  #noting: Promise<void> | null = null;

  constructor(
    private readonly ports: { documents: Pick<DocumentStore, 'holder' | 'markAnswered'>; observer: Observer } & {
      sleep: (ms: number) => Promise<void>;
    },
  ) {}

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
    if (at === null || this.#left.has(id)) return;
    if (this.#left.size >= REMEMBERED) this.#left.delete(this.#left.keys().next().value as number);
    this.#left.set(id, ++this.#moment);
    this.#waiting.push({ id, at });
    this.#noting ??= this.#note();
  }

  /**
   * Whether the sender of a request can have the acknowledgement already: an answer left before the request arrived.
   * Where another instance may be about to note that, its note is waited for.
   */
  async leftBefore(document: NumberHolder, request: { moment: number; arrivedAt: Date }): Promise<boolean> {
    let noted = document.answeredAt;
    for (let step = 0; ; step++) {
      const here = this.#left.get(document.id);
      if (here !== undefined) return here < request.moment;
      if (this.#underWay.has(document.id)) return false;
      if (noted !== null) return noted <= request.arrivedAt;
      if (step === NOTING_STEPS) return false;
      await this.ports.sleep(NOTING_MS / NOTING_STEPS);
      noted = (await this.ports.documents.holder(document.key))?.answeredAt ?? null;
    }
  }

  /** Resolves when everything that left is noted. */
  async settled(): Promise<void> {
    await this.#noting;
  }

  /** One statement notes all that left while the one before was under way. */
  async #note(): Promise<void> {
    while (this.#waiting.length > 0) {
      const answers = this.#waiting;
      this.#waiting = [];
      try {
        await this.ports.documents.markAnswered(answers);
      } catch (error) {
        // Unnoted, a repeat gets the same acknowledgement once more: harmless.
        this.ports.observer.failed('noting that answers left', error);
      }
    }
    this.#noting = null;
  }
}
