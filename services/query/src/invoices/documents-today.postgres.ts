import type { Database } from '@ecf/postgres';

/** The documents of all issuers by environment and status. */
export type DocumentCounts = { readonly env: string; readonly status: string; readonly count: number }[];

/** Documents created on a day (YYYY-MM-DD), those of all certification runs together. */
const CREATED_ON = {
  name: 'documents_created_on',
  text: `SELECT split_part(env, '/', 1) AS env, status, sum(count)::bigint AS count FROM invoice_rollup
    WHERE period = 'created' AND day = $1::date GROUP BY 1, 2 HAVING sum(count) > 0`,
};

export async function countDocuments(database: Pick<Database, 'query'>, day: string): Promise<DocumentCounts> {
  return (await database.query<DocumentCounts[number]>(CREATED_ON, [day])).rows;
}
