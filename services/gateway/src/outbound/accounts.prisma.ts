import { type Database, insertIntoOutbox, isDatabaseUnavailable, type Queries } from '@ecf/service-kit';
import type { AccountStore, Taxpayer } from '../core/ports.js';
import { Prisma, type PrismaClient } from '../generated/prisma/client.js';
import { toAccount, toApiKey, toTaxpayer, WITH_PARTS } from './account-rows.js';
import { type TaxpayerWithState, taxpayerChanged, toState, WITH_STATE } from './taxpayer-events.js';

type Tx = Prisma.TransactionClient;

export interface AccountStoreOptions {
  prisma: PrismaClient;
  /** The same database, whose outbox relay is woken after each commit. */
  database: Database;
  clock: () => Date;
  /** Told the access revision of each commit. */
  onCommit: (revision: number) => void;
  /** Told when it is not known whether a change was committed. */
  onDoubt: () => void;
}

const OLDEST_FIRST = [{ createdAt: 'asc' as const }, { id: 'asc' as const }];
const BATCH = 200;

/** What one change does beyond its rows: who is told of it. */
interface Change<T> {
  value: T;
  /** RNCs whose state is told, each with a revision of its own. */
  tell?: readonly string[];
  accountId?: string;
}

/** Accounts in the gateway's database. */
export function createPrismaAccountStore(options: AccountStoreOptions): AccountStore {
  const { prisma, database } = options;

  /**
   * Runs a change. The row of the access revision is locked first: changes happen one after another, so revisions are
   * committed in their order, and the events of a taxpayer are appended in that order too.
   */
  async function change<T>(work: (tx: Tx) => Promise<Change<T>>): Promise<T> {
    let latest = 0;
    let partitions = new Set<number>();
    try {
      const value = await prisma.$transaction(
        async (tx) => {
          latest = await raise(tx, 1);
          const result = await work(tx);
          const { tell: rncs = [], accountId } = result;
          if (rncs.length > 0 && accountId !== undefined) {
            latest = await raise(tx, rncs.length);
            partitions = await tell(tx, accountId, rncs, latest);
          }
          return result.value;
        },
        { timeout: 30_000, maxWait: 5_000 },
      );
      options.onCommit(latest);
      database.signalOutbox(partitions);
      return value;
    } catch (error) {
      if (isDatabaseUnavailable(error) || !(error instanceof Prisma.PrismaClientKnownRequestError)) options.onDoubt();
      throw error;
    }
  }

  async function raise(tx: Tx, by: number): Promise<number> {
    const row = await tx.accessRevision.update({ where: { id: 1 }, data: { revision: { increment: by } } });
    return Number(row.revision);
  }

  /** Gives each taxpayer one of the revisions up to `last`, chained to the account's former one, and appends the events. */
  async function tell(tx: Tx, accountId: string, rncs: readonly string[], last: number): Promise<Set<number>> {
    const { taxpayersRevision } = await tx.account.findUniqueOrThrow({ where: { id: accountId } });
    const first = last - rncs.length + 1;
    await tx.$executeRaw`
      UPDATE taxpayers SET revision = ${first}::bigint + told.n - 1,
        previous_revision = CASE told.n WHEN 1 THEN ${taxpayersRevision}::bigint ELSE ${first}::bigint + told.n - 2 END
      FROM unnest(${rncs}::text[]) WITH ORDINALITY AS told(rnc, n) WHERE taxpayers.rnc = told.rnc`;
    await tx.account.update({ where: { id: accountId }, data: { taxpayersRevision: last } });
    return append(
      tx,
      await tx.taxpayer.findMany({
        where: { rnc: { in: [...rncs] } },
        include: WITH_STATE,
        orderBy: { revision: 'asc' },
      }),
    );
  }

  function append(tx: Tx, rows: readonly TaxpayerWithState[]): Promise<Set<number>> {
    const events = rows.map((row) => taxpayerChanged(row, options.clock()));
    return insertIntoOutbox(queriesOf(tx), events);
  }

  const taxpayerOf = (client: Tx, accountId: string, rnc: string) =>
    client.taxpayer.findFirst({ where: { rnc, accountId }, include: WITH_PARTS });
  const exists = async (accountId: string) => (await prisma.account.count({ where: { id: accountId } })) > 0;

  /** Changes one taxpayer of the account, tells its new state, and reads it back. */
  function changeTaxpayer(accountId: string, rnc: string, write: (tx: Tx) => Promise<unknown>) {
    return change(async (tx) => {
      if ((await taxpayerOf(tx, accountId, rnc)) === null) return { value: null };
      await write(tx);
      const row = await taxpayerOf(tx, accountId, rnc);
      return { value: row === null ? null : toTaxpayer(row), tell: [rnc], accountId };
    });
  }

  return {
    createAccount: (account) =>
      change(async (tx) => ({ value: toAccount(await tx.account.create({ data: account })) })),
    listAccounts: async ({ limit, offset }) =>
      (await prisma.account.findMany({ orderBy: OLDEST_FIRST, take: limit, skip: offset })).map(toAccount),
    async findAccount(id) {
      const row = await prisma.account.findUnique({ where: { id } });
      return row === null ? null : toAccount(row);
    },
    setAccountActive: (id, active) =>
      change(async (tx) => {
        if ((await tx.account.count({ where: { id } })) === 0) return { value: null };
        const row = await tx.account.update({ where: { id }, data: { active } });
        const taxpayers = await tx.taxpayer.findMany({
          where: { accountId: id },
          select: { rnc: true },
          orderBy: { rnc: 'asc' },
        });
        return { value: toAccount(row), tell: taxpayers.map((taxpayer) => taxpayer.rnc), accountId: id };
      }),

    async createTaxpayer(accountId, { rnc, name }) {
      return change<Taxpayer | 'taken' | null>(async (tx) => {
        if ((await tx.account.count({ where: { id: accountId } })) === 0) return { value: null };
        if ((await tx.taxpayer.count({ where: { rnc } })) > 0) return { value: 'taken' as const };
        const data = { rnc, name, accountId, revision: 0, previousRevision: 0 };
        const row = await tx.taxpayer.create({ data, include: WITH_PARTS });
        return { value: toTaxpayer(row), tell: [rnc], accountId };
      });
    },
    async listTaxpayers(accountId, { limit, offset }) {
      const orderBy = [{ createdAt: 'asc' as const }, { rnc: 'asc' as const }];
      const rows = await prisma.taxpayer.findMany({
        where: { accountId },
        include: WITH_PARTS,
        orderBy,
        take: limit,
        skip: offset,
      });
      return rows.length > 0 || (await exists(accountId)) ? rows.map(toTaxpayer) : null;
    },
    async findTaxpayer(accountId, rnc) {
      const row = await taxpayerOf(prisma, accountId, rnc);
      return row === null ? null : toTaxpayer(row);
    },
    setTaxpayerActive: (accountId, rnc, active) =>
      changeTaxpayer(accountId, rnc, (tx) => tx.taxpayer.update({ where: { rnc }, data: { active } })),
    putCertificate: (accountId, rnc, certificate) =>
      changeTaxpayer(accountId, rnc, (tx) => {
        const data = { ...certificate, sealed: new Uint8Array(certificate.sealed), uploadedAt: options.clock() };
        return tx.certificate.upsert({ where: { rnc }, create: { rnc, ...data }, update: data });
      }),
    putRanges: (accountId, rnc, ranges) =>
      changeTaxpayer(accountId, rnc, async (tx) => {
        await tx.numberRange.deleteMany({ where: { rnc } });
        await tx.numberRange.createMany({
          data: ranges.map((range) => ({
            rnc,
            env: range.env,
            ecfType: range.ecf_type,
            firstEncf: range.from,
            lastEncf: range.to,
            expires: range.expires === null ? null : new Date(range.expires),
          })),
        });
      }),

    createApiKey: (accountId, { hash, ...key }) =>
      change(async (tx) => {
        if ((await tx.account.count({ where: { id: accountId } })) === 0) return { value: null };
        const data = { ...key, accountId, hash: new Uint8Array(hash) };
        return { value: toApiKey(await tx.apiKey.create({ data, omit: { hash: true } })) };
      }),
    async listApiKeys(accountId, { limit, offset }) {
      const page = { orderBy: OLDEST_FIRST, take: limit, skip: offset };
      const rows = await prisma.apiKey.findMany({ where: { accountId }, omit: { hash: true }, ...page });
      return rows.length > 0 || (await exists(accountId)) ? rows.map(toApiKey) : null;
    },
    async findApiKey(accountId, keyId) {
      const row = await prisma.apiKey.findFirst({ where: { id: keyId, accountId }, omit: { hash: true } });
      return row === null ? null : toApiKey(row);
    },
    revokeApiKey: (accountId, keyId, at) =>
      change(async (tx) => {
        await tx.apiKey.updateMany({ where: { id: keyId, accountId, revokedAt: null }, data: { revokedAt: at } });
        const row = await tx.apiKey.findFirst({ where: { id: keyId, accountId }, omit: { hash: true } });
        return { value: row === null ? null : toApiKey(row) };
      }),

    async accountTaxpayers(accountId) {
      // One snapshot: a revision newer than the taxpayers it comes with would hide a change.
      const [account, rows] = await prisma.$transaction(
        [
          prisma.account.findUnique({ where: { id: accountId } }),
          prisma.taxpayer.findMany({ where: { accountId }, include: WITH_STATE, orderBy: { rnc: 'asc' } }),
        ],
        { isolationLevel: 'RepeatableRead' },
      );
      return account === null
        ? null
        : { account_id: accountId, revision: Number(account.taxpayersRevision), taxpayers: rows.map(toState) };
    },
    async taxpayerState(rnc) {
      const row = await prisma.taxpayer.findUnique({ where: { rnc }, include: WITH_STATE });
      return row === null ? null : toState(row);
    },
    async republishTaxpayers() {
      let told = 0;
      for (let after = ''; ; ) {
        const rncs = await prisma.taxpayer.findMany({
          where: { rnc: { gt: after } },
          select: { rnc: true },
          orderBy: { rnc: 'asc' },
          take: BATCH,
        });
        if (rncs.length === 0) return told;
        const page = rncs.map((row) => row.rnc);
        // Under the lock of every change, so that no older state is told after a newer one.
        const partitions = await change(async (tx) => {
          const rows = await tx.taxpayer.findMany({ where: { rnc: { in: page } }, include: WITH_STATE });
          return { value: await append(tx, rows) };
        });
        database.signalOutbox(partitions);
        told += page.length;
        after = page.at(-1) ?? '';
      }
    },
  };
}

function queriesOf(tx: Tx): Queries {
  return {
    async query(sql, params = []) {
      const rowCount = await tx.$executeRawUnsafe(typeof sql === 'string' ? sql : sql.text, ...params);
      return { rows: [], rowCount };
    },
  };
}
