import { FairQueue } from '@ecf/service-kit/http';
import { takeXmlPart } from './xml-part.js';

/** Work that is done where everybody is answered, one piece in each turn of the event loop. */
export interface Turns {
  /**
   * Does the work when its turn comes; senders share by cost. Rejects with what the work throws.
   * @param sender what limits count by
   * @param cost in bytes of what is worked on
   */
  take<R>(sender: string, cost: number, work: () => R): Promise<R>;
}

/**
 * Between two pieces everything else that waits in the process goes on, so that neither many pieces nor one sender with all
 * of them keep others waiting for longer than one piece takes. How many may wait is bounded by who holds their bodies.
 */
export function createTurns(): Turns {
  const waiting = new FairQueue<() => void>({ all: Number.POSITIVE_INFINITY, perSender: Number.POSITIVE_INFINITY });
  let going = false;

  function next(): void {
    const work = waiting.next();
    going = work !== undefined;
    if (work === undefined) return;
    setImmediate(next);
    work();
  }

  return {
    take(sender, cost, work) {
      return new Promise((resolve, reject) => {
        const done = () => {
          try {
            resolve(work());
          } catch (error) {
            reject(error);
          }
        };
        waiting.add(sender, done, cost);
        if (going) return;
        going = true;
        setImmediate(next);
      });
    },
  };
}

/** Finding the document in a body costs a hundredth of judging as many bytes. */
const PART_OF_JUDGING = 1 / 100;

/** {@link takeXmlPart} when its turn comes: a large body takes some hundredths of a second. Rejects with XmlPartError. */
export function takeXmlPartInTurn(
  turns: Turns,
  sender: string,
  body: Buffer,
  contentType: string | undefined,
): Promise<Buffer> {
  return turns.take(sender, 1 + body.length * PART_OF_JUDGING, () => takeXmlPart(body, contentType));
}
