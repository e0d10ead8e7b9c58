import { ApiError, FairQueue } from '@ecf/service-kit/http';

/** Work that takes a connection, a key and a disk for a moment, a few pieces at once. */
export interface Gate {
  /**
   * Does the work when there is a place for it; senders share the places by cost. Rejects with what the work rejects with, or
   * with the ApiError to answer where too much waits.
   * @param sender what limits count by
   * @param bytes size of what is worked on
   */
  pass<R>(sender: string, bytes: number, work: () => Promise<R>): Promise<R>;
}

/** What waits for a place, of all senders and of one: some seconds' and one second's work. */
const PLACES = { all: 2_048, perSender: 256 };
/** What any piece costs, in bytes: signing, storing and recording are most of it. */
const LEAST_COST = 64 * 1024;

/**
 * A gate that lets `atOnce` pieces through at a time: who sends little is next, however much of another sender waits. To be
 * narrower than the pool of connections that the work uses, so that it waits here, where senders share, and not there.
 */
export function createGate(atOnce: number): Gate {
  const waiting = new FairQueue<Pass>(PLACES);
  let underWay = 0;

  function admit(): void {
    while (underWay < atOnce) {
      const pass = waiting.next();
      if (pass === undefined) return;
      underWay++;
      void pass.go().finally(() => {
        underWay--;
        admit();
      });
    }
  }

  return {
    pass(sender, bytes, work) {
      return new Promise((resolve, reject) => {
        const go = () => work().then(resolve, reject);
        const full = waiting.size >= PLACES.all;
        waiting.add(sender, { go, reject }, LEAST_COST + bytes)?.reject(full ? busy() : tooMany());
        admit();
      });
    },
  };
}

/** The places of a gate before a pool of that many connections: a quarter of them is left for everything else. */
export function gatePlaces(connections: number): number {
  return Math.max(1, Math.floor((connections * 3) / 4));
}

interface Pass {
  go(): Promise<void>;
  reject(error: Error): void;
}

function tooMany(): ApiError {
  return new ApiError(429, 'rate_limited', 'Too many documents of this sender wait; send this one again shortly.');
}

function busy(): ApiError {
  return new ApiError(503, 'service_unavailable', 'Too many documents wait; send this one again shortly.');
}
