import type { BusEvent } from '../bus.js';

/** An event that a group could not handle, with the reason of its last failure. */
export interface DeadLetter {
  /** Event id and group: the same event can fail in two groups. */
  readonly id: string;
  readonly group: string;
  readonly reason: string;
  readonly attempts: number;
  readonly time: string;
  /** It was too large for the brokers and is kept with its body or headers cut: it cannot be replayed. */
  readonly incomplete?: boolean;
  readonly event: BusEvent;
}

/** Keeps events that failed for good, under `<topic>.dlq`, until they are replayed or dismissed. */
export interface DeadLetters {
  /** Resolves once it is safe; the same id again replaces the former. */
  add(letter: DeadLetter): Promise<void>;
  /** Oldest first. */
  list(topic?: string): Promise<DeadLetter[]>;
  remove(id: string): Promise<void>;
}

/** Dead letters that can be handed to their group once more. */
export interface ReplayableDeadLetters extends DeadLetters {
  /** Takes the letter out and has its event handed to the group that failed, and to no other. */
  replay(letter: DeadLetter): Promise<void>;
}

/** What a bus of this process needs to know of letters whose replay was asked for by another process. */
export interface ReplayRequests {
  requested(): Promise<DeadLetter[]>;
  /** The event was handled, or became a letter again. */
  settled(id: string): Promise<void>;
}

/** The name under which letters of a topic are kept. */
export function deadLetterTopic(topic: string): string {
  return `${topic}.dlq`;
}

/** Dead letters in memory, for tests. */
export function createMemoryDeadLetters(): DeadLetters {
  const letters = new Map<string, DeadLetter>();
  return {
    async add(letter) {
      letters.set(letter.id, letter);
    },
    async list(topic) {
      return [...letters.values()].filter((letter) => topic === undefined || letter.event.topic === topic);
    },
    async remove(id) {
      letters.delete(id);
    },
  };
}
