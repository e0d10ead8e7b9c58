import type { ActedBy } from '@ecf/contracts';
import { toIsoDominican } from '@ecf/domain';
import type { AccountStore, Taxpayer } from '../core/ports.js';
import {
  type AccountChange,
  type AccountChangesOptions,
  type Act,
  createAccountChanges,
  type Tx,
} from './account-changes.js';
import { accountPath, hasAccount, readTaxpayers, taxpayerPath, toAccount, toTaxpayer } from './account-rows.js';
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
    createAccount: (account, by) =>
      change(
        async (tx) => ({
          value: toAccount(await tx.account.create({ data: account })),
          act: { action: 'account.create', target: accountPath(account.id), details: { name: account.name } },
        }),
        by,
      ),
    async listAccounts({ limit, offset }) {
      return (
        await prisma.account.findMany({ orderBy: [{ createdAt: 'asc' }, { id: 'asc' }], take: limit, skip: offset })
      ).map(toAccount);
    },
    async findAccount(id) {
      const row = await prisma.account.findUnique({ where: { id } });
      return row === null ? null : toAccount(row);
    },
    setAccountActive: (id, active, by) =>
      change(async (tx) => {
        if (!(await hasAccount(tx, id))) return { value: null };
        const row = await tx.account.update({ where: { id }, data: { active } });
        const taxpayers = await tx.taxpayer.findMany({
          where: { accountId: id },
          select: { rnc: true },
          orderBy: { rnc: 'asc' },
        });
        const act = { action: 'account.update', target: accountPath(id), details: { active } };
        return { value: toAccount(row), act, publish: { accountId: id, rncs: taxpayers.map(({ rnc }) => rnc) } };
      }, by),
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
    by: ActedBy,
    act: Act,
    write: (tx: Tx) => Promise<unknown>,
  ): Promise<Taxpayer | null> {
    return change<Taxpayer | null>(async (tx) => {
      if ((await tx.taxpayer.count({ where: { rnc, accountId } })) === 0) return { value: null };
      await write(tx);
      return { value: await taxpayerOf(tx, accountId, rnc), act, publish: { accountId, rncs: [rnc] } };
    }, by);
  }

  return {
    createTaxpayer: (accountId, { rnc, name }, by) =>
      change<Taxpayer | 'taken' | null>(async (tx) => {
        if (!(await hasAccount(tx, accountId))) return { value: null };
        if ((await tx.taxpayer.count({ where: { rnc } })) > 0) return { value: 'taken' };
        await tx.taxpayer.create({ data: { rnc, name, accountId, revision: 0, previousRevision: 0 } });
        const act = { action: 'taxpayer.create', target: taxpayerPath(accountId, rnc), details: { name } };
        return { value: await taxpayerOf(tx, accountId, rnc), act, publish: { accountId, rncs: [rnc] } };
      }, by),
    async listTaxpayers(accountId, { limit, offset }, rncs = null) {
      const orderBy = [{ createdAt: 'asc' as const }, { rnc: 'asc' as const }];
      const rows = await readTaxpayers(prisma, only(accountId, rncs), { orderBy, take: limit, skip: offset });
      return rows.length > 0 || (await hasAccount(prisma, accountId)) ? rows.map(toTaxpayer) : null;
    },
    countTaxpayers: (accountId, rncs) => prisma.taxpayer.count({ where: only(accountId, rncs) }),
    findTaxpayer: (accountId, rnc) => taxpayerOf(prisma, accountId, rnc),
    setTaxpayerActive(accountId, rnc, active, by) {
      const act = { action: 'taxpayer.update', target: taxpayerPath(accountId, rnc), details: { active } };
      return changeTaxpayer(accountId, rnc, by, act, (tx) => tx.taxpayer.update({ where: { rnc }, data: { active } }));
    },
    putCertificate(accountId, rnc, certificate, by) {
      const { subject, serialNumber: serial_number, fingerprint, notAfter } = certificate;
      const details = { subject, serial_number, fingerprint, not_after: toIsoDominican(notAfter) };
      const act = { action: 'certificate.put', target: `${taxpayerPath(accountId, rnc)}/certificate`, details };
      return changeTaxpayer(accountId, rnc, by, act, (tx) => {
        const data = { ...certificate, sealed: new Uint8Array(certificate.sealed), uploadedAt: clock() };
        return tx.certificate.upsert({ where: { rnc }, create: { rnc, ...data }, update: data });
      });
    },
    putRanges(accountId, rnc, { ranges, environments, removed }, by) {
      const details = { ranges, environments, removed };
      const act = { action: 'ranges.put', target: `${taxpayerPath(accountId, rnc)}/ranges`, details };
      return changeTaxpayer(accountId, rnc, by, act, async (tx) => {
        await tx.numberRange.deleteMany({ where: { rnc, env: { in: [...environments] } } });
        const rows = ranges.map((range) => ({
          rnc,
          env: range.env,
          ecfType: range.ecf_type,
          firstEncf: range.from,
          lastEncf: range.to,
          expires: range.expires === null ? null : new Date(range.expires),
        }));
        await tx.numberRange.createMany({ data: rows });
      });
    },
  };
}

/** Taxpayers of the account: these, or all. */
function only(accountId: string, rncs: readonly string[] | null) {
  return rncs === null ? { accountId } : { accountId, rnc: { in: [...rncs] } };
}

async function taxpayerOf(client: Tx, accountId: string, rnc: string): Promise<Taxpayer | null> {
  const [row] = await readTaxpayers(client, { rnc, accountId });
  return row === undefined ? null : toTaxpayer(row);
}
