import type { ActedBy } from '@ecf/contracts';
import { toIsoDominican } from '@ecf/domain';
import { anyOf, queryBuilder } from '@ecf/service-kit/postgres';
import type { Kysely } from 'kysely';
import type { AccountStore, Taxpayer } from '../core/ports.js';
import type { DB } from '../generated/tables.js';
import {
  type AccountChange,
  type AccountChangesOptions,
  type Act,
  createAccountChanges,
} from './account-changes.postgres.js';
import {
  accountPath,
  hasAccount,
  readParts,
  selectTaxpayers,
  taxpayerPath,
  toAccount,
  toTaxpayer,
} from './account-rows.postgres.js';
import { type ApiKeyMethods, apiKeysOf } from './api-keys.postgres.js';

/** Accounts, taxpayers and API keys in the gateway's database. */
export function createPostgresAccountStore(options: AccountChangesOptions): AccountStore {
  const change = createAccountChanges(options);
  return {
    ...accountsOf(options, change),
    ...taxpayersOf(options, change),
    ...apiKeysOf(options, change),
  };
}

type AccountMethods = 'createAccount' | 'listAccounts' | 'findAccount' | 'setAccountActive';

function accountsOf({ database }: AccountChangesOptions, change: AccountChange): Pick<AccountStore, AccountMethods> {
  const db = queryBuilder<DB>(database);
  return {
    createAccount: (account, by) =>
      change(async (db) => {
        const row = await db.insertInto('accounts').values(account).returningAll().executeTakeFirstOrThrow();
        const act = { action: 'account.create', target: accountPath(account.id), details: { name: account.name } };
        return { value: toAccount(row), act };
      }, by),
    async listAccounts({ limit, offset }) {
      const rows = await db
        .selectFrom('accounts')
        .selectAll()
        .orderBy('createdAt')
        .orderBy('id')
        .limit(limit)
        .offset(offset)
        .execute();
      return rows.map(toAccount);
    },
    async findAccount(id) {
      const row = await db.selectFrom('accounts').selectAll().where('id', '=', id).executeTakeFirst();
      return row === undefined ? null : toAccount(row);
    },
    setAccountActive: (id, active, by) =>
      change(async (db) => {
        const row = await db
          .updateTable('accounts')
          .set({ active })
          .where('id', '=', id)
          .returningAll()
          .executeTakeFirst();
        if (row === undefined) return { value: null };
        const taxpayers = await db
          .selectFrom('taxpayers')
          .select('rnc')
          .where('accountId', '=', id)
          .orderBy('rnc')
          .execute();
        const act = { action: 'account.update', target: accountPath(id), details: { active } };
        return { value: toAccount(row), act, publish: { accountId: id, rncs: taxpayers.map(({ rnc }) => rnc) } };
      }, by),
  };
}

function taxpayersOf(
  { database, clock }: AccountChangesOptions,
  change: AccountChange,
): Omit<AccountStore, AccountMethods | ApiKeyMethods> {
  const db = queryBuilder<DB>(database);

  /** Changes one taxpayer of the account, publishes its new state, and reads it back. */
  function changeTaxpayer(
    accountId: string,
    rnc: string,
    by: ActedBy,
    act: Act,
    write: (db: Kysely<DB>) => Promise<unknown>,
  ): Promise<Taxpayer | null> {
    return change<Taxpayer | null>(async (db) => {
      if ((await findTaxpayer(db, accountId, rnc)) === null) return { value: null };
      await write(db);
      return { value: await findTaxpayer(db, accountId, rnc), act, publish: { accountId, rncs: [rnc] } };
    }, by);
  }

  return {
    createTaxpayer: (accountId, { rnc, name }, by) =>
      change<Taxpayer | 'taken' | null>(async (db) => {
        if (!(await hasAccount(db, accountId))) return { value: null };
        const taken = await db.selectFrom('taxpayers').select('rnc').where('rnc', '=', rnc).executeTakeFirst();
        if (taken !== undefined) return { value: 'taken' };
        await db.insertInto('taxpayers').values({ rnc, name, accountId, revision: 0, previousRevision: 0 }).execute();
        const act = { action: 'taxpayer.create', target: taxpayerPath(accountId, rnc), details: { name } };
        return { value: await findTaxpayer(db, accountId, rnc), act, publish: { accountId, rncs: [rnc] } };
      }, by),
    async listTaxpayers(accountId, { limit, offset }, rncs = null) {
      const ofAccount = selectTaxpayers(db).where('accountId', '=', accountId);
      const rows = await (rncs === null ? ofAccount : ofAccount.where('rnc', '=', anyOf(rncs)))
        .orderBy('taxpayers.createdAt')
        .orderBy('rnc')
        .limit(limit)
        .offset(offset)
        .execute();
      if (rows.length === 0 && !(await hasAccount(db, accountId))) return null;
      return (await readParts(db, rows)).map(toTaxpayer);
    },
    async countTaxpayers(accountId, rncs) {
      const ofAccount = db
        .selectFrom('taxpayers')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('accountId', '=', accountId);
      const counted = rncs === null ? ofAccount : ofAccount.where('rnc', '=', anyOf(rncs));
      return (await counted.executeTakeFirstOrThrow()).count;
    },
    findTaxpayer: (accountId, rnc) => findTaxpayer(db, accountId, rnc),
    setTaxpayerActive(accountId, rnc, active, by) {
      const act = { action: 'taxpayer.update', target: taxpayerPath(accountId, rnc), details: { active } };
      return changeTaxpayer(accountId, rnc, by, act, (db) =>
        db.updateTable('taxpayers').set({ active }).where('rnc', '=', rnc).execute(),
      );
    },
    putCertificate(accountId, rnc, certificate, by) {
      const { subject, serialNumber: serial_number, fingerprint, notAfter } = certificate;
      const details = { subject, serial_number, fingerprint, not_after: toIsoDominican(notAfter) };
      const act = { action: 'certificate.put', target: `${taxpayerPath(accountId, rnc)}/certificate`, details };
      const row = { ...certificate, uploadedAt: clock() };
      return changeTaxpayer(accountId, rnc, by, act, (db) =>
        db
          .insertInto('certificates')
          .values({ rnc, ...row })
          .onConflict((conflict) => conflict.column('rnc').doUpdateSet(row))
          .execute(),
      );
    },
    putRanges(accountId, rnc, { ranges, environments, removed }, by) {
      const details = { ranges, environments, removed };
      const act = { action: 'ranges.put', target: `${taxpayerPath(accountId, rnc)}/ranges`, details };
      return changeTaxpayer(accountId, rnc, by, act, async (db) => {
        await db.deleteFrom('numberRanges').where('rnc', '=', rnc).where('env', '=', anyOf(environments)).execute();
        for (const { env, ecf_type: ecfType, from: firstEncf, to: lastEncf, expires } of ranges)
          await db.insertInto('numberRanges').values({ rnc, env, ecfType, firstEncf, lastEncf, expires }).execute();
      });
    },
  };
}

async function findTaxpayer(db: Kysely<DB>, accountId: string, rnc: string): Promise<Taxpayer | null> {
  const rows = await selectTaxpayers(db).where('accountId', '=', accountId).where('rnc', '=', rnc).execute();
  const [taxpayer] = await readParts(db, rows);
  return taxpayer === undefined ? null : toTaxpayer(taxpayer);
}
