import { Worker } from 'node:worker_threads';
import { FairQueue } from '@ecf/service-kit/http';
import type { RefusalWords, ThreadAnswer, ThreadQuestion } from './judge-answers.js';
import { isQuicklyJudged } from './judging-cost.js';
import { createTurns, type Turns } from './turns.js';

/** Threads for documents of up to 512 KiB, and for larger ones. */
export interface JudgeThreadCounts {
  readonly medium: number;
  readonly large: number;
}

export interface JudgeThreadsOptions<J> {
  /** The compiled module of the threads; it calls `answerJudgements`. */
  readonly thread: URL;
  readonly workerData: unknown;
  /** Judges where the document arrived. */
  readonly judge: (bytes: Uint8Array, now: Date) => J;
  /** The error of a refusal that a thread gave, or of a document that no thread has the memory for. */
  readonly refuse: (refusal: RefusalWords, cause?: unknown) => Error;
  /** The error of a document that was not judged for a reason that is not its own: it may come again. */
  readonly unavailable: (reason: RefusalWords, cause?: unknown) => Error;
  readonly threads: JudgeThreadCounts;
  readonly timeoutMs: number;
  /** Whose turn it is to judge where documents arrive; by default among these documents alone. */
  readonly turns?: Turns;
}

/** Judges documents by themselves, within bounds on time and memory. */
export interface JudgeThreads<J> {
  /** @param sender what limits count by: the costly documents of one wait for no more than a share of the places */
  judge(bytes: Uint8Array, now: Date, sender: string): Promise<J>;
  /** Ends the threads; what they are at, what waits for them and what comes later is put off. */
  stop(): Promise<void>;
}

/** A genuine document of this size takes a quarter of a second, one of ten megabytes many seconds. */
const MOST_MEDIUM_BYTES = 512 * 1024;
/**
 * Costly documents that wait for a thread of either kind, of all senders and of one; more are sent away for a moment. Of really large ones
 * fewer wait: their bodies are held.
 */
const PLACES = { all: 512, perSender: 64 };
/** A thread that has nothing to do is ended: its memory only ever grows. */
const IDLE_MS = 30_000;
/** Megabytes of JavaScript memory of a thread; the largest real document needs a third. */
const THREAD_MEGABYTES = 1_024;

interface Case<J> {
  readonly bytes: Uint8Array;
  readonly now: Date;
  resolve(judgement: J): void;
  reject(error: Error): void;
}

/**
 * Judges small plain documents in turn where they arrive and all others in threads of their own, those of medium size in others
 * than large ones, so that nothing that anybody sends keeps others waiting: senders share each by the size of what they send. A thread that takes too long is ended, its document
 * put off: on another day it may be judged in time. One that takes too much memory ends, its document refused: it would take
 * as much on any day.
 */
export function createJudgeThreads<J>(options: JudgeThreadsOptions<J>): JudgeThreads<J> {
  const turns = options.turns ?? createTurns();
  const medium = createLane(options, options.threads.medium);
  const large = createLane(options, options.threads.large);
  return {
    async judge(bytes, now, sender) {
      if (isQuicklyJudged(bytes)) return turns.take(sender, bytes.length, () => options.judge(bytes, now));
      return (bytes.length <= MOST_MEDIUM_BYTES ? medium : large).judge(bytes, now, sender);
    },
    async stop() {
      await Promise.all([medium.stop(), large.stop()]);
    },
  };
}

/** Threads that take one document after the other from a queue of their own. */
function createLane<J>(options: JudgeThreadsOptions<J>, mostThreads: number): JudgeThreads<J> {
  const waiting = new FairQueue<Case<J>>(PLACES);
  const threads = new Set<JudgeThread<J>>();
  let stopped = false;

  function assign(): void {
    while (waiting.size > 0) {
      const free = [...threads].find((thread) => !thread.busy) ?? start();
      if (free === null) return;
      free.take(waiting.next() as Case<J>);
    }
  }

  function start(): JudgeThread<J> | null {
    if (stopped || threads.size >= mostThreads) return null;
    const thread: JudgeThread<J> = new JudgeThread(options, assign, () => threads.delete(thread));
    threads.add(thread);
    return thread;
  }

  return {
    judge(bytes, now, sender) {
      if (stopped) return Promise.reject(options.unavailable(THREAD_LOST));
      return new Promise((resolve, reject) => {
        waiting.add(sender, { bytes, now, resolve, reject }, bytes.length)?.reject(options.unavailable(TOO_MANY));
        assign();
      });
    },
    async stop() {
      // A thread that ends makes room for another.
      stopped = true;
      for (let left = waiting.next(); left !== undefined; left = waiting.next())
        left.reject(options.unavailable(THREAD_LOST));
      await Promise.all([...threads].map((thread) => thread.end()));
    },
  };
}

/** One thread and the document it is at. */
class JudgeThread<J> {
  readonly #worker: Worker;
  #present: Case<J> | null = null;
  #timer: NodeJS.Timeout | undefined;
  #ready = false;
  #ended = false;

  constructor(
    private readonly options: Pick<
      JudgeThreadsOptions<J>,
      'thread' | 'workerData' | 'refuse' | 'unavailable' | 'timeoutMs'
    >,
    private readonly onFree: () => void,
    private readonly onEnd: () => void,
  ) {
    const resourceLimits = { maxOldGenerationSizeMb: THREAD_MEGABYTES };
    this.#worker = new Worker(options.thread, { workerData: options.workerData, resourceLimits });
    this.#worker.once('message', () => {
      this.#ready = true;
      this.#ask();
      this.#worker.on('message', (answer: ThreadAnswer<J>) => this.#answered(answer));
    });
    // Out of memory comes as an error too: nothing about a document may take the service down.
    this.#worker.on('error', (cause) => {
      this.#ended = true;
      const costly = (cause as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY';
      this.#fail(costly ? this.options.refuse(TOO_COSTLY, cause) : this.options.unavailable(THREAD_LOST, cause));
    });
    this.#worker.on('exit', () => this.#gone());
  }

  get busy(): boolean {
    return this.#ended || this.#present !== null;
  }

  take(next: Case<J>): void {
    clearTimeout(this.#timer);
    this.#present = next;
    this.#worker.ref();
    if (this.#ready) this.#ask();
  }

  async end(): Promise<void> {
    this.#ended = true;
    await this.#worker.terminate();
  }

  /** The document's time begins when the thread can look at it. */
  #ask(): void {
    if (this.#present === null) return;
    this.#timer = setTimeout(() => {
      void this.end();
      this.#fail(this.options.unavailable(TOO_LONG));
    }, this.options.timeoutMs);
    const question: ThreadQuestion = { bytes: this.#present.bytes, now: this.#present.now };
    this.#worker.postMessage(question);
  }

  #answered(answer: ThreadAnswer<J>): void {
    clearTimeout(this.#timer);
    const present = this.#present;
    this.#present = null;
    if ('judgement' in answer) present?.resolve(answer.judgement);
    else present?.reject(this.options.refuse(answer.refused));
    this.#worker.unref();
    this.#timer = setTimeout(() => void this.end(), IDLE_MS);
    this.#timer.unref();
    this.onFree();
  }

  #fail(error: Error): void {
    clearTimeout(this.#timer);
    this.#present?.reject(error);
    this.#present = null;
  }

  #gone(): void {
    this.#fail(this.options.unavailable(THREAD_LOST));
    this.onEnd();
    this.onFree();
  }
}

const TOO_COSTLY: RefusalWords = {
  message: 'The document takes more memory to read than any real one.',
  kind: 'document.too_costly',
};
const TOO_LONG: RefusalWords = {
  message: 'The document could not be judged in time; send it again shortly.',
  kind: 'judging.timeout',
};
const TOO_MANY: RefusalWords = {
  message: 'Too many large documents wait; send this one again shortly.',
  kind: 'judging.busy',
};
const THREAD_LOST: RefusalWords = {
  message: 'The document could not be judged; send it again shortly.',
  kind: 'judging.failed',
};
