import { type Database, queryBuilder } from '@ecf/postgres';
import type { DB } from '../generated/tables.js';
import type { TaxpayerStates } from './ports.js';
import { toState } from './taxpayer-event.js';
import { readParts, selectTaxpayers } from './taxpayer-rows.postgres.js';

/** The taxpayers' states in the gateway's database. */
export function createPostgresTaxpayerStates(database: Database): TaxpayerStates {
  return {
    account: (accountId) =>
      // One snapshot: a revision newer than the taxpayers it comes with would hide a change.
      database.transaction(
        async (tx) => {
          const db = queryBuilder<DB>(tx);
          const account = await db
            .selectFrom('accounts')
            .select('taxpayersRevision')
            .where('id', '=', accountId)
            .executeTakeFirst();
          if (account === undefined) return null;
          const rows = await selectTaxpayers(db).where('accountId', '=', accountId).orderBy('revision').execute();
          const taxpayers = (await readParts(db, rows)).map(toState);
          return { account_id: accountId, revision: account.taxpayersRevision, taxpayers };
        },
        { isolation: 'repeatable read' },
      ),
    async taxpayer(rnc) {
      const db = queryBuilder<DB>(database);
      const rows = await selectTaxpayers(db).where('rnc', '=', rnc).execute();
      const [taxpayer] = await readParts(db, rows);
      return taxpayer === undefined ? null : toState(taxpayer);
    },
    logo: async (rnc) =>
      (await queryBuilder<DB>(database).selectFrom('logos').selectAll().where('rnc', '=', rnc).executeTakeFirst()) ??
      null,
  };
}
