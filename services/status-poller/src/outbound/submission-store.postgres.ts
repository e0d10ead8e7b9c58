import { randomUUID } from 'node:crypto';
import type { Environment } from '@ecf/domain';
import type { BusEvent } from '@ecf/service-kit/bus';
import { appendToOutbox, onceEach } from '@ecf/service-kit/outbox';
import { createBatches, type Database, type Queries, type Transaction } from '@ecf/service-kit/postgres';
import { afterQuestions, mayAskAhead, type Pace, questionsAllowed } from '../core/pace.js';
import type { Learned, NextPoll, PacedWork, Recorded, SubmissionStore } from '../core/ports.js';
import { OVERDUE_MS } from '../core/schedule.js';
import {
  type ClaimedPoll,
  isFinal,
  type StatusFacts,
  type Submission,
  type SubmissionKey,
  type ToldSubmission,
  UNDECIDED,
} from '../core/submission.js';
import * as sql from './submission-sql.js';

/** The consumer group of this service; part of what the inbox remembers. */
export const STATUS_POLLER_GROUP = 'status-poller';

export interface SubmissionStoreOptions {
  readonly database: Database;
  /** The event that tells of a change. */
  readonly describe: (submission: Submission, revision: number, learned: Learned) => BusEvent;
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
  asked_at: Date | null;
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

interface Told {
  readonly told: readonly ToldSubmission[];
  readonly dueAt: (told: ToldSubmission) => Date;
  readonly eventId: string | null;
}

interface Answered {
  readonly key: SubmissionKey;
  readonly learned: Learned | null;
  readonly next: NextPoll | null;
}

/** One at a time: what comes meanwhile shares the next transaction. */
const BATCH = { maxItems: 100, maxUnderWay: 1 };

/**
 * Submissions in PostgreSQL. What is told or answered at the same time shares a transaction. Locks are taken in one order:
 * submissions before their polls, the pace before polls, each by their keys.
 */
export function createSubmissionStore({ database, describe }: SubmissionStoreOptions): SubmissionStore {
  const telling = createBatches<Told, boolean>({
    ...BATCH,
    keyOf: ({ told }) => told.map(({ env, issuerRnc, encf }) => `${env}:${issuerRnc}:${encf}`)[0],
    work: (items) => database.transaction((tx) => applyAll(tx, items)),
  });
  const answering = createBatches<Answered, Recorded>({
    ...BATCH,
    keyOf: ({ key }) => keyOf(key),
    work: (items) => database.transaction((tx) => recordAll(tx, items, describe)),
  });

  return {
    async caughtUp() {
      return (await database.query(sql.CAUGHT_UP, [STATUS_POLLER_GROUP])).rowCount > 0;
    },
    async noteCaughtUp() {
      await database.query(sql.NOTE_CAUGHT_UP, [STATUS_POLLER_GROUP]);
    },
    apply: async (told, dueAt, eventId) => told.length > 0 && telling.run({ told, dueAt, eventId }),
    async compare(told, dueAt, settled) {
      const polled = told.filter((one) => one.polled);
      const { rows } = await database.query<{ env: Environment; track_id: string }>(sql.UNPOLLED, keysOf(polled));
      const unpolled = new Set(rows.map((row) => keyOf({ env: row.env, trackId: row.track_id })));
      const missing = polled.filter((one) => unpolled.has(keyOf(one)));
      if (missing.length === 0) return false;
      const [added = false] = await database.transaction(async (tx) => {
        const reopened = await reopen(tx, missing, settled.before);
        const dueOf = (one: ToldSubmission) => {
          const submittedAt = reopened.get(keyOf(one));
          return submittedAt === undefined ? dueAt(one) : settled.dueAt(submittedAt);
        };
        return applyAll(tx, [{ told: missing, dueAt: dueOf, eventId: null }]);
      });
      return added;
    },
    find: async (key) => (await find(database, [key])).get(keyOf(key)) ?? null,
    async dueWork(): Promise<PacedWork[]> {
      const { rows } = await database.query<PaceRow & { due_at: Date | null }>(sql.DUE_WORK);
      return rows.map((row) => ({ ...paceOf(row), dueAt: row.due_at }));
    },
    claimDue: ({ env, now, until, limit, rate }) =>
      database.transaction(async (tx) => {
        const pace = await lockPace(tx, env);
        const allowed = questionsAllowed(pace, now, rate, limit);
        if (allowed === 0) return [];
        const { rows } = await tx.query<ClaimedRow>(sql.CLAIM, [env, now, allowed, randomUUID(), until]);
        if (rows.length > 0) await tx.query(sql.SET_PACE, [env, afterQuestions(pace, now, rate, rows.length)]);
        return rows.map(fromClaimedRow);
      }),
    askAhead: ({ env, now, rate }) =>
      database.transaction(async (tx) => {
        const pace = await lockPace(tx, env);
        if (!mayAskAhead(pace, now)) return false;
        await tx.query(sql.SET_PACE, [env, afterQuestions(pace, now, rate, 1)]);
        return true;
      }),
    async pause(env, until) {
      await database.query(sql.PAUSE, [env, until]);
    },
    record: (key, learned, next) => answering.run({ key, learned, next }),
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

async function find(queries: Queries, keys: readonly SubmissionKey[]): Promise<Map<string, Submission>> {
  if (keys.length === 0) return new Map();
  const { rows } = await queries.query<SubmissionRow>(sql.FIND, keysOf(keys));
  return new Map(rows.map(fromRow).map((submission) => [keyOf(submission), submission]));
}

/** When those were submitted whose decision is open again, by key. */
async function reopen(tx: Queries, told: readonly ToldSubmission[], settledBefore: Date): Promise<Map<string, Date>> {
  const params = [JSON.stringify(told.map(toRow)), settledBefore];
  const { rows } = await tx.query<{ env: Environment; track_id: string; submitted_at: Date }>(sql.REOPEN, params);
  return new Map(rows.map((row) => [keyOf({ env: row.env, trackId: row.track_id }), row.submitted_at]));
}

/** In one transaction; says of each item whether a poll was added. */
async function applyAll(tx: Transaction, items: readonly Told[]): Promise<boolean[]> {
  const ids = items.flatMap(({ eventId }) => eventId ?? []);
  const fresh = ids.length === 0 ? new Set() : await onceEach(tx, STATUS_POLLER_GROUP, ids);
  const news = items.filter(({ eventId }) => eventId === null || fresh.has(eventId));
  const told = news.flatMap((item) => item.told.map((one) => ({ one, dueAt: item.dueAt(one) })));
  if (told.length === 0) return items.map(() => false);
  const { rows } = await tx.query<{ env: Environment; track_id: string; final: boolean }>(sql.KEEP, [
    JSON.stringify(told.map(({ one }) => toRow(one))),
  ]);
  const kept = new Map(rows.map((row) => [keyOf({ env: row.env, trackId: row.track_id }), row]));
  const polled = told.filter(({ one }) => one.polled && kept.get(keyOf(one))?.final === false);
  const over = told.filter((each) => kept.has(keyOf(each.one)) && !polled.includes(each));
  if (over.length > 0) await tx.query(sql.REMOVE_POLLS, keysOf(over.map(({ one }) => one)));
  if (polled.length === 0) return items.map(() => false);
  const added = await tx.query<{ env: Environment; track_id: string }>(sql.ADD_POLLS, [
    ...keysOf(polled.map(({ one }) => one)),
    polled.map(({ dueAt }) => dueAt),
  ]);
  const keys = new Set(added.rows.map((row) => keyOf({ env: row.env, trackId: row.track_id })));
  return items.map((item) => item.told.some((one) => keys.has(keyOf(one))));
}

/** In one transaction; results in the order of the items. */
async function recordAll(
  tx: Transaction,
  items: readonly Answered[],
  describe: SubmissionStoreOptions['describe'],
): Promise<Recorded[]> {
  const answers = items.flatMap(({ key, learned }) => (learned === null ? [] : [{ key, learned }]));
  const changed = await learn(tx, answers);
  const events = answers.flatMap(({ key, learned }) => {
    const row = changed.get(keyOf(key));
    return row === undefined ? [] : [describe(fromRow(row), row.revision, learned)];
  });
  await appendToOutbox(tx, events);
  const unchanged = answers.filter(({ key }) => !changed.has(keyOf(key)));
  if (unchanged.length > 0) await tx.query(sql.NOTE_ASKED, [answerRows(unchanged)]);
  const present = await find(
    tx,
    items.map(({ key }) => key).filter((key) => !changed.has(keyOf(key))),
  );
  const recorded = items.map(({ key }): Recorded => {
    const row = changed.get(keyOf(key));
    const submission = row === undefined ? present.get(keyOf(key)) : fromRow(row);
    if (submission === undefined) throw new Error(`the submission ${key.trackId} in ${key.env} is gone`);
    return { submission, changed: row !== undefined };
  });
  const over = recorded.filter(({ submission }) => submission.final);
  if (over.length > 0) await tx.query(sql.REMOVE_POLLS, keysOf(over.map(({ submission }) => submission)));
  const back = items.flatMap(({ key, next }, index) =>
    next === null || recorded[index]?.submission.final ? [] : [{ key, next }],
  );
  if (back.length > 0) await tx.query(sql.PUT_BACK, [JSON.stringify(back.map(backRow))]);
  return recorded;
}

/** What is changed by the answers, by key. */
async function learn(
  tx: Queries,
  answers: readonly { key: SubmissionKey; learned: Learned }[],
): Promise<Map<string, SubmissionRow>> {
  if (answers.length === 0) return new Map();
  const { rows } = await tx.query<SubmissionRow>(sql.LEARN, [answerRows(answers), UNDECIDED]);
  return new Map(rows.map((row) => [keyOf({ env: row.env, trackId: row.track_id }), row]));
}

function answerRows(answers: readonly { key: SubmissionKey; learned: Learned }[]): string {
  return JSON.stringify(
    answers.map(({ key, learned: { facts, askedAt } }) => ({
      env: key.env,
      track_id: key.trackId,
      facts,
      final: isFinal(facts),
      asked_at: askedAt,
    })),
  );
}

function backRow({ key, next }: { key: SubmissionKey; next: NextPoll }): Record<string, unknown> {
  const { claim, dueAt, tries, failures, alarmed } = next;
  return { env: key.env, track_id: key.trackId, claim, due_at: dueAt, tries, failures, alarmed };
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

function toRow(told: ToldSubmission): Record<string, unknown> {
  return {
    env: told.env,
    track_id: told.trackId,
    issuer_rnc: told.issuerRnc,
    encf: told.encf,
    account_id: told.accountId,
    submitted_at: told.submittedAt,
    invoice_revision: told.revision,
    facts: told.facts,
    final: told.final,
    traceparent: told.traceparent,
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
    askedAt: row.asked_at,
    traceparent: row.traceparent,
  };
}

function fromClaimedRow(row: ClaimedRow): ClaimedPoll {
  const { claim, tries, failures, alarmed } = row;
  return { claim, tries, failures, alarmed, ...fromRow(row) };
}
