import type { Queries } from '@ecf/service-kit/postgres';
import type { Prisma } from '../generated/prisma/client.js';

export type Tx = Prisma.TransactionClient;

/** Statements of SQL in a transaction of Prisma. */
export function queriesOf(tx: Tx): Queries {
  return {
    async query<Row>(sql: string | { text: string }, params: readonly unknown[] = []) {
      const text = typeof sql === 'string' ? sql : sql.text;
      if (!/^\s*SELECT/i.test(text)) return { rows: [], rowCount: await tx.$executeRawUnsafe(text, ...params) };
      const rows = await tx.$queryRawUnsafe<Row[]>(text, ...params);
      return { rows, rowCount: rows.length };
    },
  };
}
