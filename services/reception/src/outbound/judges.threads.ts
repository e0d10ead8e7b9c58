import { Worker } from 'node:worker_threads';
import type { TrustedIssuers } from '@ecf/xml-signing';
import { ReceptionError } from '../core/errors.js';
import { type Judgement, judgeDocument } from '../core/judge-document.js';
import type { Judges } from '../core/ports.js';
import { trustCheck } from '../core/trust.js';
import type { ThreadAnswer, ThreadData, ThreadQuestion } from './judge-thread.js';

export interface JudgesOptions {
  readonly trustedIssuers: TrustedIssuers | null;
  readonly maxBytes: number;
  readonly threads: number;
  readonly timeoutMs: number;
}

/** Documents up to this size, a hundred lines, are judged where they arrive: no made-up one costs more than some 40 ms. */
const INLINE_BYTES = 128 * 1024;
/** Large documents that wait for a thread; more are sent away for a moment. */
const MOST_WAITING = 64;
/** A thread that has nothing to do is ended: its memory only ever grows. */
const IDLE_MS = 30_000;
/** Megabytes of JavaScript memory of a thread; the largest real document needs a third. */
const THREAD_MEGABYTES = 1_024;

// Threads run compiled code, also where this file is read from its source.
const THREAD = new URL(
  import.meta.url.endsWith('.ts') ? '../../dist/outbound/judge-thread.js' : './judge-thread.js',
  import.meta.url,
);

interface Case {
  readonly bytes: Uint8Array;
  readonly now: Date;
  resolve(judgement: Judgement): void;
  reject(error: Error): void;
}

/**
 * Judges small documents at once and large ones in threads of their own, so that nothing that anybody sends keeps others
 * waiting: a thread that takes too long or too much memory is ended and its document refused.
 */
export function createJudges(options: JudgesOptions): Judges & { stop(): Promise<void> } {
  const trust = trustCheck(options.trustedIssuers);
  const workerData: ThreadData = {
    trustedIssuers: options.trustedIssuers && [...options.trustedIssuers.values()].map(String).join('\n'),
    maxBytes: options.maxBytes,
  };
  const waiting: Case[] = [];
  const threads = new Set<JudgeThread>();

  function assign(): void {
    while (waiting.length > 0) {
      const free = [...threads].find((thread) => !thread.busy) ?? start();
      if (free === null) return;
      free.take(waiting.shift() as Case);
    }
  }

  function start(): JudgeThread | null {
    if (threads.size >= options.threads) return null;
    const thread: JudgeThread = new JudgeThread(workerData, options.timeoutMs, assign, () => threads.delete(thread));
    threads.add(thread);
    return thread;
  }

  return {
    async judge(bytes, now) {
      if (bytes.length <= INLINE_BYTES) return judgeDocument(bytes, { now, trust, maxBytes: options.maxBytes });
      if (waiting.length >= MOST_WAITING) {
        throw new ReceptionError('unavailable', 'Too many large documents wait; send this one again shortly.');
      }
      return new Promise((resolve, reject) => {
        waiting.push({ bytes, now, resolve, reject });
        assign();
      });
    },
    async stop() {
      await Promise.all([...threads].map((thread) => thread.end()));
    },
  };
}

/** One thread and the document it is at. */
class JudgeThread {
  readonly #worker: Worker;
  #present: Case | null = null;
  #timer: NodeJS.Timeout | undefined;
  #ready = false;
  #ended = false;

  constructor(
    workerData: ThreadData,
    private readonly timeoutMs: number,
    private readonly onFree: () => void,
    private readonly onEnd: () => void,
  ) {
    const resourceLimits = { maxOldGenerationSizeMb: THREAD_MEGABYTES };
    this.#worker = new Worker(THREAD, { workerData, resourceLimits });
    this.#worker.once('message', () => {
      this.#ready = true;
      this.#ask();
      this.#worker.on('message', (answer: ThreadAnswer) => this.#answered(answer));
    });
    // Out of memory comes as an error too: nothing about a document may take the service down.
    this.#worker.on('error', (cause) => {
      this.#ended = true;
      this.#fail(tooCostly(cause));
    });
    this.#worker.on('exit', () => this.#gone());
  }

  get busy(): boolean {
    return this.#ended || this.#present !== null;
  }

  take(next: Case): void {
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
      this.#fail(tooCostly());
    }, this.timeoutMs);
    const question: ThreadQuestion = { bytes: this.#present.bytes, now: this.#present.now };
    this.#worker.postMessage(question);
  }

  #answered(answer: ThreadAnswer): void {
    clearTimeout(this.#timer);
    const present = this.#present;
    this.#present = null;
    if ('judgement' in answer) present?.resolve(answer.judgement);
    else present?.reject(new ReceptionError('unreadable_document', answer.refused.message, answer.refused.kind));
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
    this.#fail(tooCostly());
    this.onEnd();
    this.onFree();
  }
}

function tooCostly(cause?: unknown): ReceptionError {
  const message = 'The document costs more time or memory to read than any real one.';
  return new ReceptionError(
    'unreadable_document',
    message,
    'document.too_costly',
    cause === undefined ? {} : { cause },
  );
}
