import type { Database } from '@ecf/service-kit/postgres';
import { type AttemptRow, fromRow } from '../attempt/emission-rows.postgres.js';
import {
  ALARMED,
  EXCHANGES,
  FIND,
  FIND_SUBMISSION,
  FORGET_CHANGES,
  PAGE,
  PAGE_OF_AWAITED,
} from '../attempt/emission-sql.postgres.js';
import { columnsOf } from '../attempt/emission-statements.postgres.js';
import { submissionHistory } from '../attempt/submission-history.postgres.js';
import type { RecordedExchange } from '../ports.js';
import type { PublishedDocuments } from './published-documents.js';

const NOTED_FOR_SECONDS = 900;

interface ExchangeRow {
  attempt: number;
  operation: string;
  at: Date;
  outcome: string;
  http_status: number | null;
  content_type: string | null;
  body: string | null;
}

export function createPostgresPublishedDocuments(database: Database): PublishedDocuments {
  return {
    async find(env, numbers) {
      const { rows } = await database.query<AttemptRow>(FIND, columnsOf(numbers.map((number) => ({ env, ...number }))));
      return rows.map(fromRow);
    },
    async findSubmission(env, trackId) {
      const { rows } = await database.query<AttemptRow>(FIND_SUBMISSION, [env, trackId]);
      return rows[0] === undefined ? null : fromRow(rows[0]);
    },
    submissionHistory: (attempt) => submissionHistory(database, attempt),
    async page(after, limit) {
      const { rows } = await database.query<AttemptRow>(PAGE, [after, limit]);
      return rows.map(fromRow);
    },
    async awaited(after, limit) {
      const { rows } = await database.query<AttemptRow>(PAGE_OF_AWAITED, [after, limit]);
      return rows.map(fromRow);
    },
    async exchanges({ env, issuerRnc, encf, run }) {
      const { rows } = await database.query<ExchangeRow>(EXCHANGES, [env, issuerRnc, encf, run ?? null]);
      return rows.map(exchangeFrom);
    },
    async alarmed({ env, issuerRnc }, after, limit) {
      return (await database.query<AttemptRow>(ALARMED, [env, issuerRnc, after, limit])).rows.map(fromRow);
    },
    async forget() {
      await database.query(FORGET_CHANGES, [NOTED_FOR_SECONDS]);
    },
  };
}

function exchangeFrom(row: ExchangeRow): RecordedExchange & { attempt: number } {
  return {
    attempt: row.attempt,
    operation: row.operation,
    at: row.at,
    outcome: row.outcome,
    httpStatus: row.http_status,
    contentType: row.content_type,
    body: row.body,
  };
}
