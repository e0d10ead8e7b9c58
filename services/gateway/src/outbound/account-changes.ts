import type { ActedBy, AuditAct } from '@ecf/contracts';
import { toIsoDominican } from '@ecf/domain';
import { insertIntoOutbox } from '@ecf/service-kit/outbox';
import { type Database, isDatabaseUnavailable } from '@ecf/service-kit/postgres';
import { Prisma, type PrismaClient } from '../generated/prisma/client.js';
import { readTaxpayers, requireValidActor, type WholeTaxpayer } from './account-rows.js';
import { appendAudit } from './audit/audit-log.postgres.js';
import { queriesOf, type Tx } from './prisma-queries.js';
import { taxpayerChanged } from './taxpayer-events.js';

export type { Tx } from './prisma-queries.js';

export interface AccountChangesOptions {
  prisma: PrismaClient;
  /** The same database, whose outbox relay is woken after each commit. */
  database: Database;
  clock: () => Date;
  /** Receives the access revision of each commit. */
  onCommit: (revision: number) => void;
  /** Called when it is not known whether a change was committed. */
  onDoubt: () => void;
}

/** The description of a change, for the audit log. */
export type Act = Pick<AuditAct, 'action' | 'target' | 'details'>;

/** The result of a change, and the taxpayers to publish. */
export interface Change<T> {
  value: T;
  /** Absent if nothing changed. */
  act?: Act;
  /** Taxpayers of the account whose new state is published, each with its own revision. */
  publish?: { accountId: string; rncs: readonly string[] };
}

/** `by` is null if no person made the change; the audit log does not record it then. */
export type AccountChange = <T>(work: (tx: Tx) => Promise<Change<T>>, by: ActedBy | null) => Promise<T>;

/**
 * Runs a change with its events in one transaction. The row of the access revision is locked first, so changes happen one
 * after another. Revisions are committed in their order, and the events of a taxpayer are appended in that order too.
 */
export function createAccountChanges(options: AccountChangesOptions): AccountChange {
  async function run<T>(tx: Tx, work: (tx: Tx) => Promise<Change<T>>, by: ActedBy | null) {
    let revision = await raise(tx, 1);
    // A key or an administrator may have ended while the body of the request arrived.
    if (by !== null) await requireValidActor(tx, by, options.clock());
    const { value, act, publish } = await work(tx);
    let published: readonly WholeTaxpayer[] = [];
    if (publish !== undefined && publish.rncs.length > 0) {
      revision = await raise(tx, publish.rncs.length);
      published = await renumber(tx, publish.accountId, publish.rncs, revision);
    }
    const events = published.map((row) => taxpayerChanged(row, options.clock()));
    if (events.length > 0) await insertIntoOutbox(queriesOf(tx), events);
    if (by !== null && act !== undefined)
      await appendAudit(queriesOf(tx), [{ at: toIsoDominican(options.clock()), ...by, ...act }]);
    return { value, revision };
  }

  return async (work, by) => {
    try {
      const limits = { timeout: 30_000, maxWait: 5_000 };
      const { value, revision } = await options.prisma.$transaction((tx) => run(tx, work, by), limits);
      options.onCommit(revision);
      options.database.signalOutbox();
      return value;
    } catch (error) {
      const undone = error instanceof Prisma.PrismaClientKnownRequestError && !isDatabaseUnavailable(error);
      if (!undone) options.onDoubt();
      if (isDatabaseUnavailable(error)) await closeIdle(options.database);
      throw error;
    }
  };
}

/** Closes idle connections: those to a former primary would never reach the new one. */
async function closeIdle({ pool }: Database): Promise<void> {
  const idle = await Promise.allSettled(Array.from({ length: pool.idleCount }, () => pool.connect()));
  for (const client of idle) if (client.status === 'fulfilled') client.value.release(true);
}

async function raise(tx: Tx, by: number): Promise<number> {
  const row = await tx.accessRevision.update({ where: { id: 1 }, data: { revision: { increment: by } } });
  return Number(row.revision);
}

/** Gives each taxpayer one of the revisions up to `last`, chained to the account's previous one. */
async function renumber(tx: Tx, accountId: string, rncs: readonly string[], last: number): Promise<WholeTaxpayer[]> {
  const { taxpayersRevision } = await tx.account.findUniqueOrThrow({ where: { id: accountId } });
  const first = last - rncs.length + 1;
  await tx.$executeRaw`
    UPDATE taxpayers SET revision = ${first}::bigint + changed.n - 1,
      previous_revision = CASE changed.n WHEN 1 THEN ${taxpayersRevision}::bigint ELSE ${first}::bigint + changed.n - 2 END
    FROM unnest(${rncs}::text[]) WITH ORDINALITY AS changed(rnc, n) WHERE taxpayers.rnc = changed.rnc`;
  await tx.account.update({ where: { id: accountId }, data: { taxpayersRevision: last } });
  return readTaxpayers(tx, { rnc: { in: [...rncs] } });
}
