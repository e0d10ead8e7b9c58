import type { SealBinding, SealingKeys } from '@ecf/kit';
import { type Database, deleteExpired, type Retention, type SealedValues, sealedRows } from '@ecf/postgres';
import type { SpentSeeds, TokenKeys } from './ports.js';

const SPEND = {
  name: 'seed_spend',
  text: 'INSERT INTO spent_seeds (id, expires) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING',
};

/** A day longer than the seed is valid: a clock that is ahead by hours for a moment makes no spent seed valid again. */
const EXPIRED: Retention = { table: 'spent_seeds', column: 'expires', keptMs: 24 * 3_600_000 };

/** Seeds that bought a token, in PostgreSQL: the primary key decides between two instances. */
export function createSpentSeeds(database: Database): SpentSeeds {
  return {
    async spend(id, expires) {
      const { rowCount } = await database.query(SPEND, [id, expires]);
      return rowCount === 1;
    },
    async clean(now) {
      await deleteExpired(database, EXPIRED, now);
    },
  };
}

/** Held while keys are rotated, so that instances that find the key old at the same moment make one new key. */
const ROTATION_LOCK = 72_707_501;

const tokenKey = (kid: string): SealBinding => ({ purpose: 'token key', account: '', subject: kid });

interface KeyRow {
  kid: string;
  created_at: Date;
  public_jwk: Record<string, unknown>;
  private_jwk: Buffer;
}

/** Token keys in PostgreSQL; private halves are sealed under the master key. */
export function createTokenKeys(database: Database, sealingKeys: SealingKeys): TokenKeys {
  return {
    async all() {
      const { rows } = await database.query<KeyRow>('SELECT * FROM token_keys ORDER BY created_at DESC, kid');
      return rows.map((row) => ({
        kid: row.kid,
        createdAt: row.created_at,
        publicJwk: row.public_jwk,
        privateJwk: JSON.parse(sealingKeys.unseal(row.private_jwk, tokenKey(row.kid)).toString('utf8')),
      }));
    },
    async rotate(key, newestBefore, oldest) {
      const sealed = sealingKeys.seal(Buffer.from(JSON.stringify(key.privateJwk)), tokenKey(key.kid));
      await database.transaction(async (tx) => {
        await tx.query('SELECT pg_advisory_xact_lock($1)', [ROTATION_LOCK]);
        await tx.query(
          `INSERT INTO token_keys (kid, created_at, public_jwk, private_jwk) SELECT $1, $2, $3, $4
            WHERE NOT EXISTS (SELECT 1 FROM token_keys WHERE created_at > $5)`,
          [key.kid, key.createdAt, JSON.stringify(key.publicJwk), sealed, newestBefore],
        );
        await tx.query('DELETE FROM token_keys WHERE created_at < $1', [oldest]);
      });
    },
  };
}

/** The private halves of token keys, to be sealed anew. */
export function sealedTokenKeys(database: Database, sealingKeys: SealingKeys): SealedValues {
  return sealedRows<{ kid: string }>(database, sealingKeys, {
    table: 'token_keys',
    column: 'private_jwk',
    select: 't.kid FROM token_keys t',
    bindingOf: ({ kid }) => tokenKey(kid),
  });
}
