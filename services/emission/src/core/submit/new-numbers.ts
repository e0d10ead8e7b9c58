import type { DocumentKey } from '../attempt/attempt.js';

/** With so many documents under way processor time is what each waits for, and a shared or saved statement is worth a delay or a guess. */
export const CROWD = 16;

/** Tells numbers that are new, as far as one process can: a guess, which the commit confirms or not. */
export interface NewNumbers {
  /**
   * True in a crowd of a number beyond all that were issued here of its type: another instance may have issued it all the same.
   * Without a crowd nobody guesses: one look costs little, and finds a database that is away before anything is signed.
   */
  isAhead(key: DocumentKey): boolean;
  /** The number has an attempt. */
  issued(key: DocumentKey): void;
  /** Nothing is guessed until numbers were issued again. */
  forget(): void;
}

/** Issuers and types that are remembered; beyond that all begin anew, and their next number is looked up. */
const REMEMBERED = 10_000;

/**
 * Numbers come in order, or nearly: what is beyond the highest was not issued before, unless by another instance.
 *
 * @param underWay documents that are being issued now
 */
export function createNewNumbers(underWay: () => number): NewNumbers {
  const highest = new Map<string, string>();
  const kindOf = ({ env, issuerRnc, encf }: DocumentKey) => `${env}:${issuerRnc}:${encf.slice(0, 3)}`;
  return {
    isAhead(key) {
      if (underWay() < CROWD) return false;
      const last = highest.get(kindOf(key));
      // Of one length within a type, so they compare as text.
      return last !== undefined && key.encf > last;
    },
    issued(key) {
      const kind = kindOf(key);
      const last = highest.get(kind);
      if (last === undefined && highest.size >= REMEMBERED) highest.clear();
      if (last === undefined || key.encf > last) highest.set(kind, key.encf);
    },
    forget: () => highest.clear(),
  };
}
