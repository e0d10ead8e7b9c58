import type { AuthorityClient, RawAnswer } from '@ecf/authority-client';
import type { FollowUpOperations } from '@ecf/contracts';
import type { Environment } from '@ecf/domain';
import type { Pace } from './pace.js';
import type { Random } from './schedule.js';
import type { ClaimedPoll, PublishedSubmission, StatusFacts, Submission, SubmissionKey } from './submission.js';

/** An answer of the authority to the question for a result. */
export interface Learned {
  readonly facts: StatusFacts;
  /** When it was asked. */
  readonly askedAt: Date;
  readonly raw: RawAnswer;
}

/** How a claimed poll goes on where it is not decided. */
export interface NextPoll {
  readonly claim: string;
  readonly dueAt: Date;
  readonly tries: number;
  readonly failures: number;
  readonly alarmed: boolean;
}

/** How much is waiting in an environment. */
export interface Backlog {
  readonly env: Environment;
  readonly waiting: number;
  readonly due: number;
  readonly claimed: number;
  /** Undecided for longer than 72 hours. */
  readonly overdue: number;
  readonly oldestSubmittedAt: Date | null;
}

/** When an environment has work for the background. */
export interface PacedWork extends Pace {
  /** When the next poll falls due; null when none waits. */
  readonly dueAt: Date | null;
}

/** The submissions of a document, from an event or (`eventId` null) from an answer of emission. */
export interface PublishedChange {
  readonly eventId: string | null;
  readonly submissions: readonly PublishedSubmission[];
}

/** Submissions, the polls of those that are undecided, and the pace of each environment. */
export interface SubmissionStore {
  /**
   * Keeps the submissions that emission published, once per event. They do not replace an answer of the authority by an older
   * state; a decided submission loses its poll. Resolves with whether a poll was added.
   */
  apply(changes: readonly PublishedChange[], dueAt: (submission: PublishedSubmission) => Date): Promise<boolean>;
  /**
   * Compares with what emission awaits: what is not asked for here is, from now on. A decision from before `settled.before`
   * that emission has not heard is asked for and told once more, when `settled.dueAt` says, unless its event may still be in the
   * outbox. Resolves with whether a poll was added.
   */
  compare(
    told: readonly PublishedSubmission[],
    dueAt: (told: PublishedSubmission) => Date,
    settled: { readonly before: Date; readonly dueAt: (submittedAt: Date) => Date },
  ): Promise<boolean>;
  /** Whether everything was learnt that was submitted before this service listened. */
  caughtUp(): Promise<boolean>;
  noteCaughtUp(): Promise<void>;
  find(key: SubmissionKey): Promise<Submission | null>;
  /** For each environment. */
  dueWork(): Promise<PacedWork[]>;
  /**
   * Gives due polls of an environment into the care of the caller until `until`, at most `limit` and no more than the rate
   * allows; other instances pass them over.
   */
  claimDue(request: { env: Environment; now: Date; until: Date; limit: number; rate: number }): Promise<ClaimedPoll[]>;
  /** Takes a question out of the rate for a caller who waits; false when the environment is paused or far ahead of it. */
  askAhead(request: { env: Environment; now: Date; rate: number }): Promise<boolean>;
  /** Nobody asks this environment before then. */
  pause(env: Environment, until: Date): Promise<void>;
  /**
   * Stores an answer, and publishes it if it changes what is known, in one transaction. `next` puts the poll back, unless its
   * claim was lost meanwhile. Resolves with the present submission, and whether the answer changed it.
   */
  record(known: Submission, learned: Learned | null, next: NextPoll | null): Promise<Recorded>;
  backlog(now: Date): Promise<Backlog[]>;
}

export interface Recorded {
  readonly submission: Submission;
  readonly changed: boolean;
}

export type Authority = Pick<AuthorityClient, 'queryResult'>;

/** What people who operate the service are told. */
export interface Observer {
  /** A question and how it ended: the status, or why there was none. */
  asked(env: Environment, outcome: string): void;
  /** The poller learned a decision after so many answered questions. */
  decided(poll: ClaimedPoll, facts: StatusFacts): void;
  /** The event of a change was committed. */
  changed(submission: Submission): void;
  overdue(poll: ClaimedPoll): void;
  paused(env: Environment, until: Date): void;
  /** An answer to a question about `submission` named another document; it was not taken. */
  answeredAnother(submission: Submission, detail: string): void;
  failed(what: string, error: unknown, submission?: SubmissionKey): void;
}

export interface PollerSettings {
  /** Milliseconds from a submission to the first question. */
  readonly firstQueryMs: number;
  /** Questions a second to one environment, all instances together. */
  readonly ratePerSecond: number;
  /** Milliseconds from one comparison with emission to the next, give or take a quarter. */
  readonly compareEveryMs: number;
  /** Milliseconds after which a claimed poll is believed to be abandoned. */
  readonly leaseMs: number;
  /** Milliseconds that `GET /invoice-status` waits for the authority. */
  readonly answerBudgetMs: number;
  /** An answer of the authority younger than this is given again without asking. */
  readonly freshMs: number;
}

/** Steps between which a process may end; tests end it there. */
export type Checkpoint = 'claimed' | 'asked' | 'recorded';

export interface Ports {
  readonly submissions: SubmissionStore;
  readonly authority: Authority;
  /** Emission: which documents are ours, and the tokens to ask with. */
  readonly emission: FollowUpOperations;
  readonly observer: Observer;
  readonly clock: () => Date;
  readonly random: Random;
  readonly settings: PollerSettings;
  /** Called between steps; does nothing outside tests. */
  readonly checkpoint: (step: Checkpoint) => Promise<void> | void;
}
