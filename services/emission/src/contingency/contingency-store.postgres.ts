import type { Environment } from '@ecf/domain';
import type { Database } from '@ecf/service-kit/postgres';
import type { DocumentKey } from '../attempt/attempt.js';
import type {
  Contingency,
  ContingencyBacklog,
  ContingencyStore,
  WaitingDocument,
  WaitingDocuments,
} from './contingency.js';
import * as sql from './contingency-sql.postgres.js';

/** The contingency queue in PostgreSQL. */
export function createPostgresContingencyStore(database: Database): ContingencyStore {
  return {
    async isAway({ env, route }) {
      return (await database.query(sql.IS_AWAY, [env, route])).rows.length > 0;
    },
    async begin({ env, route }, { now, rate, dueAt, isForAll }) {
      const values = [env, route, now, rate, dueAt, isForAll ? 1 : 0];
      const { rows } = await database.query<{ since: Date }>(sql.BEGIN, values);
      return rows[0]?.since ?? now;
    },
    async reached({ env, route }, now) {
      const noted = await database.query<ReturnRow>(sql.RETURNED, [env, route]);
      const { rows } = noted.rows.length > 0 ? noted : await database.query<ReturnRow>(sql.REACHED, [env, route, now]);
      return rows[0]?.returned_at ?? now;
    },
    async setDeadlines({ env, route }, deadline) {
      await database.query(sql.SET_DEADLINES, [env, route, deadline]);
    },
    async unreached({ env, route }) {
      await database.query(sql.UNREACHED, [env, route]);
    },
    async answered({ env, route }, now) {
      await database.query(sql.ANSWERED, [env, route, now]);
    },
    async probeNow({ env, route }, now) {
      await database.query(sql.PROBE_NOW, [env, route, now]);
    },
    async claimDue({ now, until, limit }) {
      return (await database.query<ContingencyRow>(sql.CLAIM, [now, until, limit])).rows.map(fromRow);
    },
    async release({ env, route }, limit, now) {
      return (await database.query<{ released: number }>(sql.RELEASE, [env, route, limit, now])).rows[0]?.released ?? 0;
    },
    async waiting({ env, route }, now) {
      const { rows } = await database.query<WaitingDocuments>(sql.WAITING, [env, route, now]);
      return rows[0] ?? { total: 0, released: 0, probing: 0 };
    },
    async save({ env, route, rate }, dueAt) {
      await database.query(sql.SAVE, [env, route, rate, dueAt]);
    },
    async rest({ env, route }, dueAt) {
      await database.query(sql.REST, [env, route, dueAt]);
    },
    async late({ env, route }, now, limit) {
      const { rows } = await database.query<DocumentKey>(sql.LATE, [env, route, now, limit]);
      return rows;
    },
    async backlog() {
      return (await database.query<ContingencyBacklog>(sql.BACKLOG)).rows;
    },
    async list({ accountId, taxpayers, env, after, limit }) {
      const { rows } = await database.query<WaitingRow>(sql.LIST, [accountId, env, taxpayers, after, limit]);
      const [first] = rows;
      return { total: first?.total ?? 0, documents: rows.filter(isDocument).map(fromWaitingRow) };
    },
  };
}

interface ReturnRow {
  returned_at: Date;
}

interface ContingencyRow {
  env: Environment;
  route: Contingency['route'];
  returned_at: Date | null;
  failures: number;
  rate: number;
}

function fromRow({ returned_at: returnedAt, ...row }: ContingencyRow): Contingency {
  return { ...row, returnedAt };
}

/** A row of the total alone has no document. */
interface WaitingRow {
  total: number;
  id: number | null;
  issuer_rnc: string;
  encf: string;
  signed_at: Date;
  deadline: Date | null;
}

function isDocument(row: WaitingRow): row is WaitingRow & { id: number } {
  return row.id !== null;
}

function fromWaitingRow({ id, issuer_rnc, encf, signed_at, deadline }: WaitingRow & { id: number }): WaitingDocument {
  return { id, issuerRnc: issuer_rnc, encf, signedAt: signed_at, deadline };
}
