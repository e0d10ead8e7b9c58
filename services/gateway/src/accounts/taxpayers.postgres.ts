import type { ActedBy } from '@ecf/contracts';
import { toIsoDominican } from '@ecf/domain';
import { anyOf, type Database, queryBuilder } from '@ecf/postgres';
import type { Kysely } from 'kysely';
import { taxpayerPath } from '../audit/targets.js';
import type { DB } from '../generated/tables.js';
import { hasAccount } from './accounts.postgres.js';
import { logoFacts } from './bodies.js';
import type { AccountChange, Act } from './changes.postgres.js';
import type { Taxpayer, TaxpayerStore } from './ports.js';
import { readParts, selectTaxpayers, type WholeTaxpayer } from './taxpayer-rows.postgres.js';

/** The taxpayers of accounts in the gateway's database. */
export function createPostgresTaxpayers(database: Database, change: AccountChange, clock: () => Date): TaxpayerStore {
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
    create: (accountId, { rnc, name }, by) =>
      change<Taxpayer | 'taken' | null>(async (db) => {
        if (!(await hasAccount(db, accountId))) return { value: null };
        const taken = await db.selectFrom('taxpayers').select('rnc').where('rnc', '=', rnc).executeTakeFirst();
        if (taken !== undefined) return { value: 'taken' };
        await db.insertInto('taxpayers').values({ rnc, name, accountId, revision: 0, previousRevision: 0 }).execute();
        const act = { action: 'taxpayer.create', target: taxpayerPath(accountId, rnc), details: { name } };
        return { value: await findTaxpayer(db, accountId, rnc), act, publish: { accountId, rncs: [rnc] } };
      }, by),
    async list(accountId, { limit, offset }, rncs = null) {
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
    async count(accountId, rncs) {
      const ofAccount = db
        .selectFrom('taxpayers')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('accountId', '=', accountId);
      const counted = rncs === null ? ofAccount : ofAccount.where('rnc', '=', anyOf(rncs));
      return (await counted.executeTakeFirstOrThrow()).count;
    },
    find: (accountId, rnc) => findTaxpayer(db, accountId, rnc),
    setActive(accountId, rnc, active, by) {
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
    putLogo(accountId, rnc, { bytes, ...facts }, by) {
      const target = `${taxpayerPath(accountId, rnc)}/logo`;
      return changeTaxpayer(accountId, rnc, by, { action: 'logo.put', target, details: logoFacts(facts) }, (db) =>
        db
          .insertInto('logos')
          .values({ rnc, bytes, ...facts })
          .onConflict((conflict) => conflict.column('rnc').doUpdateSet({ bytes, ...facts }))
          .execute(),
      );
    },
    deleteLogo(accountId, rnc, by) {
      const target = `${taxpayerPath(accountId, rnc)}/logo`;
      return change<'none' | 'deleted' | null>(async (db) => {
        const taxpayer = await findTaxpayer(db, accountId, rnc);
        if (taxpayer === null || taxpayer.logo === null) return { value: taxpayer && 'none' };
        await db.deleteFrom('logos').where('rnc', '=', rnc).execute();
        const act = { action: 'logo.delete', target, details: logoFacts(taxpayer.logo) };
        return { value: 'deleted', act, publish: { accountId, rncs: [rnc] } };
      }, by);
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

function toTaxpayer({ rnc, name, active, createdAt, certificate, logo, ranges }: WholeTaxpayer): Taxpayer {
  return { rnc, name, active, createdAt, certificate, logo, ranges };
}
