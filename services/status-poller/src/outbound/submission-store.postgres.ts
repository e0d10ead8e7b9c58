import { randomUUID } from 'node:crypto';
import type { Environment } from '@ecf/domain';
import { appendToOutbox, type BusEvent, type Database, once, type Queries } from '@ecf/service-kit';
import { afterQuestions, mayAskAhead, type Pace, questionsAllowed } from '../core/pace.js';
import type { DueWork, Learned, Recorded, SubmissionStore } from '../core/ports.js';
import { OVERDUE_MS } from '../core/schedule.js';
import {
  type ClaimedPoll,
  isFinal,
  type StatusFacts,
  type Submission,
  type SubmissionKey,
  type ToldSubmission,
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

/** Submissions in PostgreSQL. Locks are taken in one order: the submission before its poll, the pace before polls. */
export function createSubmissionStore({ database, describe }: SubmissionStoreOptions): SubmissionStore {
  async function find({ env, trackId }: SubmissionKey, queries: Queries = database): Promise<Submission | null> {
    const { rows } = await queries.query<SubmissionRow>(sql.FIND, [env, trackId]);
    return rows[0] === undefined ? null : fromRow(rows[0]);
  }

  return {
    apply: (told, dueAt, eventId) =>
      database.transaction(async (tx) => {
        if (eventId !== null && !(await once(tx, STATUS_POLLER_GROUP, eventId))) return false;
        if (told.length === 0) return false;
        const { rows } = await tx.query<{ env: string; track_id: string; final: boolean }>(sql.KEEP, [
          JSON.stringify(told.map(toRow)),
        ]);
        const kept = new Map(rows.map((row) => [row.track_id, row]));
        const polled = told.filter((one) => one.polled && kept.get(one.trackId)?.final === false);
        const over = told.filter((one) => kept.has(one.trackId) && !polled.includes(one));
        if (over.length > 0) await tx.query(sql.REMOVE_POLLS, keysOf(over));
        if (polled.length === 0) return false;
        const { rowCount } = await tx.query(sql.ADD_POLLS, [...keysOf(polled), polled.map(dueAt)]);
        return rowCount > 0;
      }),
    find: (key) => find(key),
    async dueWork(): Promise<DueWork[]> {
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
    record: (key, learned, next) =>
      database.transaction(async (tx): Promise<Recorded> => {
        const row = learned === null ? undefined : await learn(tx, key, learned);
        if (row !== undefined && learned !== null) {
          await appendToOutbox(tx, [describe(fromRow(row), row.revision, learned)]);
        } else if (learned !== null) {
          await tx.query(sql.NOTE_ASKED, [key.env, key.trackId, learned.askedAt]);
        }
        const submission = row === undefined ? await find(key, tx) : fromRow(row);
        if (submission === null) throw new Error(`the submission ${key.trackId} in ${key.env} is gone`);
        if (submission.final) await tx.query(sql.REMOVE_POLLS, keysOf([key]));
        else if (next !== null) {
          const { claim, dueAt, tries, failures, alarmed } = next;
          await tx.query(sql.PUT_BACK, [key.env, key.trackId, claim, dueAt, tries, failures, alarmed]);
        }
        return { submission, changed: row !== undefined };
      }),
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

async function learn(tx: Queries, { env, trackId }: SubmissionKey, { facts, askedAt }: Learned) {
  const { rows } = await tx.query<SubmissionRow>(sql.LEARN, [
    env,
    trackId,
    JSON.stringify(facts),
    isFinal(facts),
    askedAt,
  ]);
  return rows[0];
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
  };
}

function fromClaimedRow(row: ClaimedRow): ClaimedPoll {
  const { claim, tries, failures, alarmed } = row;
  return { ...fromRow(row), claim, tries, failures, alarmed };
}
