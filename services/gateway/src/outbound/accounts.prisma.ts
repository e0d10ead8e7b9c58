import type { AccountStore, Taxpayer } from '../core/ports.js';
import { type AccountChange, type AccountChangesOptions, createAccountChanges, type Tx } from './account-changes.js';
import { hasAccount, readTaxpayers, toAccount, toTaxpayer } from './account-rows.js';
import { type ApiKeyMethods, apiKeysOf } from './api-keys.prisma.js';

/** Accounts, taxpayers and API keys in the gateway's database. */
export function createPrismaAccountStore(options: AccountChangesOptions): AccountStore {
  const change = createAccountChanges(options);
  return {
    ...accountsOf(options, change),
    ...taxpayersOf(options, change),
    ...apiKeysOf(options, change),
  };
}

type AccountMethods = 'createAccount' | 'listAccounts' | 'findAccount' | 'setAccountActive';

function accountsOf({ prisma }: AccountChangesOptions, change: AccountChange): Pick<AccountStore, AccountMethods> {
  return {
    createAccount: (account) =>
      change(async (tx) => ({ value: toAccount(await tx.account.create({ data: account })) })),
    async listAccounts({ limit, offset }) {
      return (
        await prisma.account.findMany({ orderBy: [{ createdAt: 'asc' }, { id: 'asc' }], take: limit, skip: offset })
      ).map(toAccount);
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
  change: AccountChange,
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

async function taxpayerOf(client: Tx, accountId: string, rnc: string): Promise<Taxpayer | null> {
  const [row] = await readTaxpayers(client, { rnc, accountId });
  return row === undefined ? null : toTaxpayer(row);
}
