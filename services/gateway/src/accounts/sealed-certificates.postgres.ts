import { type SealingKeys, taxpayerCertificate } from '@ecf/kit';
import { anyOf, type Database, type SealedValues, sealAnew } from '@ecf/postgres';
import type { AccountChange } from './changes.postgres.js';

/** The stored certificates, to be sealed anew. Each is published, so that the services and the topic have it as well. */
export function createSealedCertificates(
  database: Database,
  change: AccountChange,
  sealingKeys: SealingKeys,
): SealedValues {
  const older = 'substring(c.sealed from 1 for octet_length($1::bytea)) <> $1';
  return {
    async count(head) {
      const { rows } = await database.query<{ n: number }>(
        `SELECT count(*)::int AS n FROM certificates c WHERE ${older}`,
        [head],
      );
      return rows[0]?.n ?? 0;
    },
    async reseal(head, limit) {
      const { rows } = await database.query<{ account_id: string; rnc: string }>(
        `SELECT t.account_id, c.rnc FROM certificates c JOIN taxpayers t USING (rnc) WHERE ${older}
          ORDER BY t.account_id, c.rnc LIMIT $2`,
        [head, limit],
      );
      const accounts = new Map<string, string[]>();
      for (const { account_id, rnc } of rows) accounts.set(account_id, [...(accounts.get(account_id) ?? []), rnc]);
      for (const [accountId, rncs] of accounts) await sealAccount(change, sealingKeys, accountId, rncs);
      return rows.length;
    },
  };
}

/** Under the lock of every change, so that a certificate that was replaced meanwhile stays. */
async function sealAccount(
  change: AccountChange,
  sealingKeys: SealingKeys,
  accountId: string,
  rncs: readonly string[],
): Promise<void> {
  await change(async (db) => {
    const stored = await db
      .selectFrom('certificates')
      .select(['rnc', 'sealed'])
      .where('rnc', '=', anyOf(rncs))
      .orderBy('rnc')
      .execute();
    const older = stored.filter(({ sealed }) => !sealingKeys.isCurrent(sealed));
    for (const { rnc, sealed } of older) {
      const anew = sealAnew(sealingKeys, sealed, taxpayerCertificate({ account_id: accountId, rnc }));
      await db.updateTable('certificates').set({ sealed: anew }).where('rnc', '=', rnc).execute();
    }
    return { value: null, publish: { accountId, rncs: older.map(({ rnc }) => rnc) } };
  }, null);
}
