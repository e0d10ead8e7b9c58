import { type Database, queryBuilder } from '@ecf/postgres';
import type { Kysely } from 'kysely';
import { accountPath } from '../audit/targets.js';
import type { DB } from '../generated/tables.js';
import type { AccountChange } from './changes.postgres.js';
import type { AccountStore } from './ports.js';

/** Accounts in the gateway's database. */
export function createPostgresAccounts(database: Database, change: AccountChange): AccountStore {
  const db = queryBuilder<DB>(database);
  return {
    create: (account, by) =>
      change(async (db) => {
        const made = await db.insertInto('accounts').values(account).returning(COLUMNS).executeTakeFirstOrThrow();
        const act = { action: 'account.create', target: accountPath(account.id), details: { name: account.name } };
        return { value: made, act };
      }, by),
    list: ({ limit, offset }) =>
      db
        .selectFrom('accounts')
        .select(COLUMNS)
        .orderBy('createdAt')
        .orderBy('id')
        .limit(limit)
        .offset(offset)
        .execute(),
    find: async (id) =>
      (await db.selectFrom('accounts').select(COLUMNS).where('id', '=', id).executeTakeFirst()) ?? null,
    setActive: (id, active, by) =>
      change(async (db) => {
        const account = await db
          .updateTable('accounts')
          .set({ active })
          .where('id', '=', id)
          .returning(COLUMNS)
          .executeTakeFirst();
        if (account === undefined) return { value: null };
        const taxpayers = await db
          .selectFrom('taxpayers')
          .select('rnc')
          .where('accountId', '=', id)
          .orderBy('rnc')
          .execute();
        const act = { action: 'account.update', target: accountPath(id), details: { active } };
        return { value: account, act, publish: { accountId: id, rncs: taxpayers.map(({ rnc }) => rnc) } };
      }, by),
  };
}

const COLUMNS = ['id', 'name', 'active', 'createdAt'] as const;

export async function hasAccount(db: Kysely<DB>, id: string): Promise<boolean> {
  return (await db.selectFrom('accounts').select('id').where('id', '=', id).executeTakeFirst()) !== undefined;
}
