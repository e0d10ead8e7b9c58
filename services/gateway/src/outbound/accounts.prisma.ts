import type { AccountStore, Taxpayer } from '../core/ports.js';
import { type AccountChangesOptions, createAccountChanges, type Tx } from './account-changes.js';
import { readTaxpayers, toAccount, toApiKey, toTaxpayer } from './account-rows.js';

const OLDEST_FIRST = [{ createdAt: 'asc' as const }, { id: 'asc' as const }];

/** Accounts, taxpayers and API keys in the gateway's database. */
export function createPrismaAccountStore(options: AccountChangesOptions): AccountStore {
  const change = createAccountChanges(options);
  return {
    ...accountsOf(options, change),
    ...taxpayersOf(options, change),
    ...apiKeysOf(options, change),
  };
}

type Change = ReturnType<typeof createAccountChanges>;
type AccountMethods = 'createAccount' | 'listAccounts' | 'findAccount' | 'setAccountActive';
type ApiKeyMethods = 'createApiKey' | 'listApiKeys' | 'findApiKey' | 'revokeApiKey';

function accountsOf({ prisma }: AccountChangesOptions, change: Change): Pick<AccountStore, AccountMethods> {
  return {
    createAccount: (account) =>
      change(async (tx) => ({ value: toAccount(await tx.account.create({ data: account })) })),
    async listAccounts({ limit, offset }) {
      return (await prisma.account.findMany({ orderBy: OLDEST_FIRST, take: limit, skip: offset })).map(toAccount);
    },
    async findAccount(id) {
      const row = await prisma.account.findUnique({ where: { id } });
      return row === null ? null : toAccount(row);
    },
    setAccountActive: (id, active) =>
      change(async (tx) => {
        if (!(await hasAccount(tx, id))) return { value: null };
        const row = await tx.account.update({ where: { id }, data: { active } });
        const taxpayers = await tx.taxpayer.findMany({
          where: { accountId: id },
          select: { rnc: true },
          orderBy: { rnc: 'asc' },
        });
        return { value: toAccount(row), publish: { accountId: id, rncs: taxpayers.map(({ rnc }) => rnc) } };
      }),
  };
}

function taxpayersOf(
  { prisma, clock }: AccountChangesOptions,
  change: Change,
): Omit<AccountStore, AccountMethods | ApiKeyMethods> {
  /** Changes one taxpayer of the account, publishes its new state, and reads it back. */
  function changeTaxpayer(
    accountId: string,
    rnc: string,
    write: (tx: Tx) => Promise<unknown>,
  ): Promise<Taxpayer | null> {
    return change<Taxpayer | null>(async (tx) => {
      if ((await tx.taxpayer.count({ where: { rnc, accountId } })) === 0) return { value: null };
      await write(tx);
      return { value: await taxpayerOf(tx, accountId, rnc), publish: { accountId, rncs: [rnc] } };
    });
  }

  return {
    createTaxpayer: (accountId, { rnc, name }) =>
      change<Taxpayer | 'taken' | null>(async (tx) => {
        if (!(await hasAccount(tx, accountId))) return { value: null };
        if ((await tx.taxpayer.count({ where: { rnc } })) > 0) return { value: 'taken' };
        await tx.taxpayer.create({ data: { rnc, name, accountId, revision: 0, previousRevision: 0 } });
        return { value: await taxpayerOf(tx, accountId, rnc), publish: { accountId, rncs: [rnc] } };
      }),
    async listTaxpayers(accountId, { limit, offset }) {
      const orderBy = [{ createdAt: 'asc' as const }, { rnc: 'asc' as const }];
      const rows = await readTaxpayers(prisma, { accountId }, { orderBy, take: limit, skip: offset });
      return rows.length > 0 || (await hasAccount(prisma, accountId)) ? rows.map(toTaxpayer) : null;
    },
    findTaxpayer: (accountId, rnc) => taxpayerOf(prisma, accountId, rnc),
    setTaxpayerActive: (accountId, rnc, active) =>
      changeTaxpayer(accountId, rnc, (tx) => tx.taxpayer.update({ where: { rnc }, data: { active } })),
    putCertificate: (accountId, rnc, certificate) =>
      changeTaxpayer(accountId, rnc, (tx) => {
        const data = { ...certificate, sealed: new Uint8Array(certificate.sealed), uploadedAt: clock() };
        return tx.certificate.upsert({ where: { rnc }, create: { rnc, ...data }, update: data });
      }),
    putRanges: (accountId, rnc, ranges) =>
      changeTaxpayer(accountId, rnc, async (tx) => {
        await tx.numberRange.deleteMany({ where: { rnc } });
        const rows = ranges.map((range) => ({
          rnc,
          env: range.env,
          ecfType: range.ecf_type,
          firstEncf: range.from,
          lastEncf: range.to,
          expires: range.expires === null ? null : new Date(range.expires),
        }));
        await tx.numberRange.createMany({ data: rows });
      }),
  };
}

function apiKeysOf({ prisma }: AccountChangesOptions, change: Change): Pick<AccountStore, ApiKeyMethods> {
  return {
    createApiKey: (accountId, { hash, ...key }) =>
      change(async (tx) => {
        if (!(await hasAccount(tx, accountId))) return { value: null };
        return { value: toApiKey(await tx.apiKey.create({ data: { ...key, accountId, hash: new Uint8Array(hash) } })) };
      }),
    async listApiKeys(accountId, { limit, offset }) {
      const rows = await prisma.apiKey.findMany({
        where: { accountId },
        orderBy: OLDEST_FIRST,
        take: limit,
        skip: offset,
      });
      return rows.length > 0 || (await hasAccount(prisma, accountId)) ? rows.map(toApiKey) : null;
    },
    async findApiKey(accountId, keyId) {
      const row = await prisma.apiKey.findFirst({ where: { id: keyId, accountId } });
      return row === null ? null : toApiKey(row);
    },
    revokeApiKey: (accountId, keyId, at) =>
      change(async (tx) => {
        await tx.apiKey.updateMany({ where: { id: keyId, accountId, revokedAt: null }, data: { revokedAt: at } });
        const row = await tx.apiKey.findFirst({ where: { id: keyId, accountId } });
        return { value: row === null ? null : toApiKey(row) };
      }),
  };
}

async function hasAccount(client: Tx, id: string): Promise<boolean> {
  return (await client.account.count({ where: { id } })) > 0;
}

async function taxpayerOf(client: Tx, accountId: string, rnc: string): Promise<Taxpayer | null> {
  const [row] = await readTaxpayers(client, { rnc, accountId });
  return row === undefined ? null : toTaxpayer(row);
}
