import { parentPort } from 'node:worker_threads';

export interface ThreadQuestion {
  readonly bytes: Uint8Array;
  readonly now: Date;
}

/** A refusal in words; errors lose their class between threads. */
export interface RefusalWords {
  readonly message: string;
  readonly kind: string;
}

export type ThreadAnswer<J> = { readonly judgement: J } | { readonly refused: RefusalWords };

/**
 * Has this thread judge one document after the other. `wordsOf` tells refusals from failures: a failure (null) ends the
 * thread, and its owner makes another.
 */
export function answerJudgements<J>(
  judge: (bytes: Uint8Array, now: Date) => J,
  wordsOf: (error: unknown) => RefusalWords | null,
): void {
  function answer({ bytes, now }: ThreadQuestion): ThreadAnswer<J> {
    try {
      return { judgement: judge(bytes, now) };
    } catch (error) {
      const refused = wordsOf(error);
      if (refused === null) throw error;
      return { refused };
    }
  }
  parentPort?.on('message', (question: ThreadQuestion) => {
    parentPort?.postMessage(answer(question));
  });
  // The first message, whatever it is, says that everything is loaded.
  parentPort?.postMessage(null);
}
