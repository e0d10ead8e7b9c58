import type { NumberRange } from '@ecf/contracts';
import { type EcfType, type Environment, toIsoDominican } from '@ecf/domain';
import { appendToOutbox } from '@ecf/service-kit/outbox';
import type { Database, Transaction } from '@ecf/service-kit/postgres';
import { noticeEvent } from '../published/changed-events.js';
import * as sql from './notice-sql.postgres.js';
import {
  lowAt,
  type Notice,
  type NoticeStore,
  type NotifiedRange,
  type RangeStep,
  stepOfRange,
  type TaxpayerNotices,
} from './notices.js';

const WATCH_EVERY_MS = 5_000;

/** The published notices, in PostgreSQL. */
export function createPostgresNoticeStore(database: Database): NoticeStore {
  let watchedAt = Number.NEGATIVE_INFINITY;

  /** Reads all taxpayers and recent changes, so the claims of one look share it. */
  async function watch(now: Date): Promise<void> {
    if (Math.abs(now.getTime() - watchedAt) < WATCH_EVERY_MS) return;
    await database.query(sql.WATCH, [now]);
    watchedAt = now.getTime();
  }

  return {
    async claimDue({ now, until, limit }) {
      await watch(now);
      const { rows } = await database.query<WatchRow>(sql.CLAIM, [now, until, limit]);
      return rows.map((row) => ({ rnc: row.rnc, notifiedCertificate: row.notified_certificate, dueAt: row.until }));
    },
    async nearEnd(rnc, ranges) {
      if (ranges.length === 0) return [];
      const { rows } = await database.query<{ near: boolean }>(sql.NEAR_END, [
        rnc,
        ranges.map(({ env }) => env),
        ranges.map(({ ecf_type }) => ecf_type),
        ranges.map(({ from }) => sequenceOf(from)),
        ranges.map((range) => sequenceOf(range.to) - lowAt(range)),
        ranges.map(({ to }) => sequenceOf(to)),
      ]);
      return rows.map(({ near }) => near);
    },
    async backlog(today) {
      const certificates = await database.query<{ count: number }>(sql.CERTIFICATES_ENDING, []);
      const ranges = await database.query<{ env: Environment; count: number }>(sql.RANGES_ENDING, [today]);
      return { certificates: certificates.rows[0]?.count ?? 0, ranges: ranges.rows };
    },
    publish: (notices, now) => database.transaction((tx) => publish(tx, notices, now)),
    async done({ rnc, dueAt: lease }, dueAt) {
      await database.query(sql.DONE, [rnc, lease, dueAt]);
    },
  };
}

interface WatchRow {
  rnc: string;
  notified_certificate: string | null;
  until: Date;
}
interface NoticeRow {
  env: Environment;
  ecf_type: EcfType;
  first_encf: string;
  low_up_to: string | null;
  expires: string | null;
}

async function publish(tx: Transaction, notices: TaxpayerNotices, now: Date): Promise<void> {
  const { rnc, accountId, ranges, certificate } = notices;
  const watched = (await tx.query<{ notified_certificate: string | null }>(sql.LOCK, [rnc])).rows[0];
  const { rows } = await tx.query<NoticeRow>(sql.NOTICES, [rnc]);
  const before = new Map(rows.map((row) => [nameOf(row.env, row.ecf_type, row.first_encf), fromRow(row)]));
  const events: Notice[] = [];
  const changed: NoticeRow[] = [];
  for (const state of ranges) {
    const { range, left } = state;
    const present = before.get(nameOf(range.env, range.ecf_type, range.from)) ?? null;
    const step = stepOfRange(present, state);
    if (isChange(present, step)) changed.push(toRow(step.notified));
    const data = { issuer_rnc: rnc, account_id: accountId, range, published_at: toIsoDominican(now) };
    for (const type of step.publish)
      events.push({ type, data: { ...data, next: left?.next ?? null, remaining: left?.remaining ?? 0 } });
  }
  if (changed.length > 0) await tx.query(sql.SAVE, [rnc, JSON.stringify(changed)]);
  if (certificate !== null && watched?.notified_certificate !== certificate.fingerprint) {
    await tx.query(sql.SAVE_CERTIFICATE, [rnc, certificate.fingerprint]);
    events.push({ type: 'certificate.expiring', data: { issuer_rnc: rnc, account_id: accountId, certificate } });
  }
  await appendToOutbox(
    tx,
    events.map((notice) => noticeEvent(notice, now)),
  );
}

function isChange(before: NotifiedRange | null, { notified }: RangeStep): boolean {
  return (before?.lowUpTo ?? null) !== notified.lowUpTo || (before?.expires ?? null) !== notified.expires;
}

const nameOf = (env: string, type: string, from: string) => `${env}:${type}:${from}`;

function fromRow(row: NoticeRow): NotifiedRange {
  const { env, ecf_type: ecfType, first_encf: from, low_up_to: lowUpTo, expires } = row;
  return { env, ecfType, from, lowUpTo, expires };
}

function toRow({ env, ecfType, from, lowUpTo, expires }: NotifiedRange): NoticeRow {
  return { env, ecf_type: ecfType, first_encf: from, low_up_to: lowUpTo, expires };
}

function sequenceOf(encf: NumberRange['to']): number {
  return Number(encf.slice(3));
}
