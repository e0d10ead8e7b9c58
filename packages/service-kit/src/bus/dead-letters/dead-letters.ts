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
  /** Resolves after it is stored. The same id replaces the former. */
  add(deadLetter: DeadLetter): Promise<void>;
  /** Oldest first. */
  list(topic?: string): Promise<DeadLetter[]>;
  remove(id: string): Promise<void>;
}

/** Dead-letter messages that can be replayed. */
export interface ReplayableDeadLetters extends Omit<DeadLetters, 'add'> {
  /** Removes the dead-letter message and gives its event to the group that failed, and to no other. */
  replay(deadLetter: DeadLetter): Promise<void>;
}

/** Dead-letter messages whose replay another process requested. */
export interface ReplayRequests {
  requested(): Promise<DeadLetter[]>;
  /** Removes a request: its event was handled, or became a dead-letter message again. */
  settled(id: string): Promise<void>;
}

/** The topic, or folder, of the dead-letter messages of a topic. */
export function deadLetterTopic(topic: string): string {
  return `${topic}.dlq`;
}

/** Dead-letter messages in memory, for an in-process bus without a folder for them. */
export function createMemoryDeadLetters(): DeadLetters {
  const deadLetters = new Map<string, DeadLetter>();
  return {
    async add(deadLetter) {
      deadLetters.set(deadLetter.id, deadLetter);
    },
    async list(topic) {
      return [...deadLetters.values()].filter((deadLetter) => topic === undefined || deadLetter.event.topic === topic);
    },
    async remove(id) {
      deadLetters.delete(id);
    },
  };
}
