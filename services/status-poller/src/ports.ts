import type { Environment } from '@ecf/domain';
import type { Pace } from './schedule.js';
import type {
  ClaimedPoll,
  PublishedSubmission,
  QueriedResult,
  StatusFacts,
  Submission,
  SubmissionKey,
} from './submission.js';

/** The next state of a claimed poll that is undecided. */
export interface NextPoll {
  readonly claim: string;
  readonly dueAt: Date;
  readonly tries: number;
  readonly failures: number;
  readonly alarmed: boolean;
}

/** Undecided submissions of an environment. */
export interface Backlog {
  readonly env: Environment;
  readonly waiting: number;
  readonly due: number;
  readonly claimed: number;
  /** Undecided for longer than 72 hours. */
  readonly overdue: number;
  readonly oldestSubmittedAt: Date | null;
}

/** The next background work of an environment. */
export interface PacedWork extends Pace {
  /** When the next poll falls due; null when none waits. */
  readonly dueAt: Date | null;
}

/** The submissions of a document, from an event or (`eventId` null) from an answer of emission. */
export interface PublishedChange {
  readonly eventId: string | null;
  readonly submissions: readonly PublishedSubmission[];
}

/** Submissions, the polls of undecided submissions, and the pace of each environment. */
export interface SubmissionStore {
  /**
   * Keeps the submissions that emission published, once per event. They do not replace an answer of the authority by an older
   * state; a decided submission loses its poll. Resolves with whether a poll was added.
   */
  apply(changes: readonly PublishedChange[]): Promise<boolean>;
  /**
   * Adds polls for submissions that emission awaits and that have none. A decision from before `settled.before` that emission
   * lacks is queried and published again at `settled.dueAt`, unless its event may still be in the outbox. Resolves with whether
   * a poll was added.
   */
  compare(
    published: readonly PublishedSubmission[],
    settled: { readonly before: Date; readonly dueAt: (submittedAt: Date) => Date },
  ): Promise<boolean>;
  find(key: SubmissionKey): Promise<Submission | null>;
  /** When the background queries the result next; null if it does not. */
  nextQueryAt(key: SubmissionKey): Promise<Date | null>;
  /** One entry for each environment. */
  dueWork(now: Date, rate: number): Promise<PacedWork[]>;
  /**
   * Claims due polls of an environment until `until`, at most `limit` and no more than the rate allows. Other instances skip
   * them.
   */
  claimDue(request: { env: Environment; now: Date; until: Date; limit: number; rate: number }): Promise<ClaimedPoll[]>;
  /** Reserves a query for a waiting caller. False if the environment is paused, or too far ahead of its rate. */
  reserveQuery(request: { env: Environment; now: Date; rate: number }): Promise<boolean>;
  /** Stops all queries to this environment until then. */
  pause(env: Environment, until: Date): Promise<void>;
  /**
   * Stores an answer, and publishes it if it changes what is known, in one transaction. `next` puts the poll back, unless its
   * claim was lost meanwhile. Resolves with the present submission, and whether the answer changed it.
   */
  record(known: Submission, result: QueriedResult | null, next: NextPoll | null): Promise<Recorded>;
  backlog(now: Date): Promise<Backlog[]>;
}

export interface Recorded {
  readonly submission: Submission;
  readonly changed: boolean;
}

/** Metrics and log lines for operators. */
export interface Observer {
  /** A query and its outcome: the status, or the reason why there was none. */
  queried(env: Environment, outcome: string): void;
  /** A query of the background brought a decision, after the tries of the poll. */
  decided(poll: ClaimedPoll, facts: StatusFacts): void;
  /** The event of a change was committed. */
  changed(submission: Submission): void;
  overdue(poll: ClaimedPoll): void;
  paused(env: Environment, until: Date): void;
  /** The answer to a query about `submission` named another document, and was ignored. */
  mismatchedAnswer(submission: Submission, detail: string): void;
  failed(what: string, error: unknown, submission?: SubmissionKey): void;
}

/** Called between the steps of a query; does nothing outside tests, which end a process there. */
export type ReachCheckpoint = (step: 'claimed' | 'queried' | 'recorded') => Promise<void> | void;
