import { ApiError, type SealBinding, SealError, type SealingKeys } from '@ecf/kit';
import type { Database } from '../database.js';

/** Sealed values of one kind in a service's database. */
export interface SealedValues {
  /** How many of them do not begin with `head`, which has at most `SEAL_HEAD` bytes. */
  count(head: Uint8Array): Promise<number>;
  /** Seals up to `limit` of those anew, and answers how many. */
  reseal(head: Uint8Array, limit: number): Promise<number>;
}

/** A table with sealed values. The names are SQL. */
export interface SealedTable<Row> {
  readonly table: string;
  readonly column: string;
  /** The row's identity and what {@link SealedTable.bindingOf} needs, of `t`, with joins. */
  readonly select: string;
  readonly bindingOf: (row: Row) => SealBinding;
}

/** Opens a value and seals it with the newest key. 409 `conflict` if none of the keys opens it. */
export function sealAnew(sealingKeys: SealingKeys, sealed: Uint8Array, binding: SealBinding): Buffer {
  try {
    return sealingKeys.seal(sealingKeys.unseal(sealed, binding), binding);
  } catch (cause) {
    if (!(cause instanceof SealError)) throw cause;
    const detail = `A ${binding.purpose} of ${binding.subject} cannot be opened: ${cause.message} Add the key that sealed it to ${sealingKeys.setting}, or remove the value.`;
    throw new ApiError(409, 'conflict', detail, { cause });
  }
}

/** The sealed values of a table that only this service writes. */
export function sealedRows<Row>(
  database: Pick<Database, 'query'>,
  sealingKeys: SealingKeys,
  { table, column, select, bindingOf }: SealedTable<Row>,
): SealedValues {
  const older = `substring(t.${column} from 1 for octet_length($1::bytea)) <> $1`;
  return {
    async count(head) {
      const { rows } = await database.query<{ n: number }>(`SELECT count(*)::int AS n FROM ${table} t WHERE ${older}`, [
        head,
      ]);
      return rows[0]?.n ?? 0;
    },
    async reseal(head, limit) {
      const { rows } = await database.query<Row & { sealed: Buffer; place: string }>(
        `SELECT t.ctid::text AS place, t.${column} AS sealed, ${select} WHERE ${older} LIMIT $2`,
        [head, limit],
      );
      // One row at a time. The old value in the condition keeps a value that was replaced meanwhile.
      for (const row of rows)
        await database.query(`UPDATE ${table} SET ${column} = $3 WHERE ctid = $1::tid AND ${column} = $2`, [
          row.place,
          row.sealed,
          sealAnew(sealingKeys, row.sealed, bindingOf(row)),
        ]);
      return rows.length;
    },
  };
}
