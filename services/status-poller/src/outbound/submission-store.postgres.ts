import { randomUUID } from 'node:crypto';
import type { Environment } from '@ecf/domain';
import type { BusEvent } from '@ecf/service-kit/bus';
import { onceEach, outboxColumns } from '@ecf/service-kit/outbox';
import {
  createSharedCalls,
  type Database,
  type DueTimes,
  limitDueTimes,
  type Queries,
  type Transaction,
} from '@ecf/service-kit/postgres';
import { afterQueries, latestReadyAt, mayQueryAhead, type Pace, queriesAllowed } from '../core/pace.js';
import type { Learned, PacedWork, Recorded, SubmissionStore } from '../core/ports.js';
import { CEILING_MS, OVERDUE_MS } from '../core/schedule.js';
import {
  type ClaimedPoll,
  isFinal,
  type PublishedSubmission,
  type StatusFacts,
  type Submission,
  type SubmissionKey,
  UNDECIDED,
} from '../core/submission.js';
import * as sql from './submission-sql.js';

/** Tries to record an answer that another one overtakes each time. The authority is queried again later then. */
const MAX_ROUNDS = 10;

/** The consumer group of this service; the inbox stores it with each event id. */
export const STATUS_POLLER_GROUP = 'status-poller';

const DUE_TIMES: readonly DueTimes[] = [
  { table: 'poll', column: 'due_at', longestMs: CEILING_MS },
  { table: 'pace', column: 'paused_until', longestMs: CEILING_MS },
];

export interface SubmissionStoreOptions {
  readonly database: Database;
  /** Makes the event of a change. */
  readonly describe: (submission: Submission, learned: Learned) => BusEvent;
}

interface SubmissionRow {
  env: Environment;
  track_id: string;
  issuer_rnc: string;
  encf: string;
  account_id: string;
  submitted_at: Date;
  revision: number;
  facts: StatusFacts;
  final: boolean;
  queried_at: Date | null;
  traceparent: string | null;
}

interface ClaimedRow extends SubmissionRow {
  claim: string;
  tries: number;
  failures: number;
  alarmed: boolean;
}

interface PaceRow {
  env: Environment;
  ready_at: number;
  paused_until: Date | null;
}

/**
 * Submissions in PostgreSQL. Locks are taken in one order: submissions before their polls, the pace before polls, each by
 * their keys.
 */
export function createSubmissionStore(options: SubmissionStoreOptions): SubmissionStore {
  const { database } = options;
  const learn = createLearning(options);
  return {
    async caughtUp() {
      return (await database.query(sql.CAUGHT_UP, [STATUS_POLLER_GROUP])).rowCount > 0;
    },
    async noteCaughtUp() {
      await database.query(sql.NOTE_CAUGHT_UP, [STATUS_POLLER_GROUP]);
    },
    async apply(changes, dueAt) {
      const all = changes.filter(({ submissions }) => submissions.length > 0);
      if (all.length === 0) return false;
      return database.transaction(async (tx) => {
        const ids = all.flatMap(({ eventId }) => eventId ?? []);
        const fresh = await onceEach(tx, STATUS_POLLER_GROUP, ids);
        const news = all.filter(({ eventId }) => eventId === null || fresh.has(eventId));
        return keep(tx, latest(news.flatMap(({ submissions }) => submissions)), dueAt);
      });
    },
    async compare(published, dueAt, settled) {
      const polled = published.filter((one) => one.polled);
      const { rows } = await database.query<{ env: Environment; track_id: string }>(sql.UNPOLLED, keysOf(polled));
      const unpolled = new Set(rows.map((row) => keyOf({ env: row.env, trackId: row.track_id })));
      const missing = polled.filter((one) => unpolled.has(keyOf(one)));
      if (missing.length === 0) return false;
      return database.transaction(async (tx) => {
        const reopened = await reopen(tx, missing, settled.before);
        const dueOf = (one: PublishedSubmission) => {
          const submittedAt = reopened.get(keyOf(one));
          return submittedAt === undefined ? dueAt(one) : settled.dueAt(submittedAt);
        };
        return keep(tx, missing, dueOf);
      });
    },
    find: (key) => find(database, key),
    async nextQueryAt({ env, trackId }) {
      const { rows } = await database.query<{ due_at: Date }>(sql.NEXT_QUERY, [env, trackId]);
      return rows[0]?.due_at ?? null;
    },
    async dueWork(): Promise<PacedWork[]> {
      const { rows } = await database.query<PaceRow & { due_at: Date | null }>(sql.DUE_WORK);
      return rows.map((row) => ({ ...paceOf(row), dueAt: row.due_at }));
    },
    claimDue: ({ env, now, until, limit, rate }) =>
      database.transaction(async (tx) => {
        const pace = await lockPace(tx, env);
        const allowed = queriesAllowed(pace, now, rate, limit);
        if (allowed === 0) return [];
        const { rows } = await tx.query<ClaimedRow>(sql.CLAIM, [env, now, allowed, randomUUID(), until]);
        if (rows.length > 0) await tx.query(sql.SET_PACE, [env, afterQueries(pace, now, rate, rows.length)]);
        return rows.map(fromClaimedRow);
      }),
    reserveQuery: ({ env, now, rate }) =>
      database.transaction(async (tx) => {
        const pace = await lockPace(tx, env);
        if (!mayQueryAhead(pace, now)) return false;
        await tx.query(sql.SET_PACE, [env, afterQueries(pace, now, rate, 1)]);
        return true;
      }),
    async pause(env, until) {
      await database.query(sql.PAUSE, [env, until]);
    },
    async record(known, learned, next) {
      const { submission, changed } =
        learned === null
          ? { submission: await present(database, known), changed: false }
          : await learn({ known, learned });
      if (submission.final) {
        if (!changed) await database.query(sql.REMOVE_POLLS, keysOf([known]));
      } else if (next !== null) {
        const { claim, dueAt, tries, failures, alarmed } = next;
        await database.query(sql.PUT_BACK, [known.env, known.trackId, claim, dueAt, tries, failures, alarmed]);
      }
      return { submission, changed };
    },
    async limitDueTimes(now, rate) {
      await limitDueTimes(database, DUE_TIMES);
      await database.query(sql.LIMIT_PACE, [latestReadyAt(now, rate)]);
    },
    async backlog(now) {
      const { rows } = await database.query<{
        env: Environment;
        total: number;
        due: number;
        claimed: number;
        overdue: number;
        oldest: Date | null;
      }>(sql.BACKLOG, [now, new Date(now.getTime() - OVERDUE_MS)]);
      return rows.map(({ env, total, due, claimed, overdue, oldest }) => ({
        env,
        waiting: total - due - claimed,
        due,
        claimed,
        overdue,
        oldestSubmittedAt: oldest,
      }));
    },
  };
}

async function lockPace(tx: Queries, env: Environment): Promise<Pace> {
  const { rows } = await tx.query<PaceRow>(sql.LOCK_PACE, [env]);
  if (rows[0] === undefined) throw new Error(`the environment ${env} has no pace`);
  return paceOf(rows[0]);
}

interface Answer {
  readonly known: Submission;
  readonly learned: Learned;
}

/**
 * Stores answers; those that come while a statement runs share the next one. If another answer changed the submission
 * meanwhile, the answer is compared with the new state.
 */
function createLearning({ database, describe }: SubmissionStoreOptions): (answer: Answer) => Promise<Recorded> {
  /** The submission with the answer; null if it was not stored. */
  const answers = createSharedCalls<Answer, Submission | null>({
    maxItems: 64,
    maxInFlight: 1,
    keyOf: ({ known }) => keyOf(known),
    async work(items) {
      const events = items.map(({ known, learned }) => describe(answered(known, learned), learned));
      const { rows } = await database.query<SubmissionRow>(sql.LEARN, [
        JSON.stringify(items.map(toAnswerRow)),
        UNDECIDED,
        ...keysOf(items.map(({ known }) => known)),
        ...outboxColumns(events),
      ]);
      database.signalOutbox();
      const stored = new Map(rows.map(fromRow).map((submission) => [keyOf(submission), submission]));
      return items.map(({ known }) => stored.get(keyOf(known)) ?? null);
    },
  });

  return async ({ known, learned }) => {
    for (let before = known, round = 1; ; round += 1) {
      const submission = await answers.run({ known: before, learned });
      if (submission !== null) return { submission, changed: true };
      const stored = await present(database, before);
      if (stored.revision === before.revision || round === MAX_ROUNDS) {
        await database.query(sql.NOTE_QUERIED, [before.env, before.trackId, learned.queriedAt]);
        return { submission: stored, changed: false };
      }
      before = stored;
    }
  };
}

function answered(known: Submission, { facts, queriedAt }: Learned): Submission {
  return { ...known, facts, final: isFinal(facts), queriedAt, revision: known.revision + 1 };
}

function toAnswerRow({ known, learned: { facts, queriedAt } }: Answer): Record<string, unknown> {
  const { env, trackId, revision } = known;
  return { env, track_id: trackId, revision, facts, final: isFinal(facts), queried_at: queriedAt };
}

/** The stored state of a submission that is known to exist. */
async function present(queries: Queries, key: SubmissionKey): Promise<Submission> {
  const stored = await find(queries, key);
  if (stored === null) throw new Error(`the submission ${key.trackId} in ${key.env} does not exist`);
  return stored;
}

async function find(queries: Queries, key: SubmissionKey): Promise<Submission | null> {
  const { rows } = await queries.query<SubmissionRow>(sql.FIND, [key.env, key.trackId]);
  return rows[0] === undefined ? null : fromRow(rows[0]);
}

/** Reopens decisions that emission lacks; returns the submission times by key. */
async function reopen(
  tx: Queries,
  published: readonly PublishedSubmission[],
  settledBefore: Date,
): Promise<Map<string, Date>> {
  const params = [JSON.stringify(published.map(toRow)), settledBefore];
  const { rows } = await tx.query<{ env: Environment; track_id: string; submitted_at: Date }>(sql.REOPEN, params);
  return new Map(rows.map((row) => [keyOf({ env: row.env, trackId: row.track_id }), row.submitted_at]));
}

/** One state of each submission: the decision, else the highest revision. */
function latest(published: readonly PublishedSubmission[]): PublishedSubmission[] {
  const found = new Map<string, PublishedSubmission>();
  for (const one of published) {
    const other = found.get(keyOf(one));
    if (other === undefined || (one.final === other.final ? one.revision >= other.revision : one.final))
      found.set(keyOf(one), one);
  }
  return [...found.values()];
}

/** Keeps submissions and the polls of those that are to be queried. True if a poll was added. */
async function keep(
  tx: Transaction,
  published: readonly PublishedSubmission[],
  dueAt: (submission: PublishedSubmission) => Date,
): Promise<boolean> {
  if (published.length === 0) return false;
  const { rows } = await tx.query<{ env: Environment; track_id: string; final: boolean }>(sql.KEEP, [
    JSON.stringify(published.map(toRow)),
  ]);
  const kept = new Map(rows.map((row) => [keyOf({ env: row.env, trackId: row.track_id }), row]));
  const polled = published.filter((one) => one.polled && kept.get(keyOf(one))?.final === false);
  const over = published.filter((one) => kept.has(keyOf(one)) && !polled.includes(one));
  if (over.length > 0) await tx.query(sql.REMOVE_POLLS, keysOf(over));
  if (polled.length === 0) return false;
  return (await tx.query(sql.ADD_POLLS, [...keysOf(polled), polled.map(dueAt)])).rowCount > 0;
}

function keyOf({ env, trackId }: SubmissionKey): string {
  return `${env}:${trackId}`;
}

function keysOf(keys: readonly SubmissionKey[]): [string[], string[]] {
  return [keys.map(({ env }) => env), keys.map(({ trackId }) => trackId)];
}

function paceOf(row: PaceRow): Pace {
  return { env: row.env, readyAt: row.ready_at, pausedUntil: row.paused_until };
}

function toRow(submission: PublishedSubmission): Record<string, unknown> {
  return {
    env: submission.env,
    track_id: submission.trackId,
    issuer_rnc: submission.issuerRnc,
    encf: submission.encf,
    account_id: submission.accountId,
    submitted_at: submission.submittedAt,
    invoice_revision: submission.revision,
    facts: submission.facts,
    final: submission.final,
    traceparent: submission.traceparent,
  };
}

function fromRow(row: SubmissionRow): Submission {
  return {
    env: row.env,
    trackId: row.track_id,
    issuerRnc: row.issuer_rnc,
    encf: row.encf,
    accountId: row.account_id,
    submittedAt: row.submitted_at,
    facts: row.facts,
    final: row.final,
    queriedAt: row.queried_at,
    traceparent: row.traceparent,
    revision: row.revision,
  };
}

function fromClaimedRow(row: ClaimedRow): ClaimedPoll {
  const { claim, tries, failures, alarmed } = row;
  return { claim, tries, failures, alarmed, ...fromRow(row) };
}
