import { SERVICE_NAMES, type ServiceName } from '@ecf/contracts';
import { SEAL_HEAD } from '@ecf/kit';
import type pg from 'pg';

/** The columns of each service that hold sealed values. */
const SEALED_COLUMNS: Partial<Record<ServiceName, readonly (readonly [table: string, column: string])[]>> = {
  gateway: [['certificates', 'sealed']],
  emission: [['sealed_certificate', 'sealed']],
  reception: [['token_keys', 'private_jwk']],
  query: [
    ['webhook', 'secret'],
    ['webhook', 'former_secret'],
  ],
};

/** The ids of the master keys that seal values in the databases. */
export async function sealingKeyIds(clients: Record<ServiceName, pg.Client>): Promise<string[]> {
  const heads = SERVICE_NAMES.flatMap((service) =>
    (SEALED_COLUMNS[service] ?? []).map(async ([table, column]) => {
      // Each value begins with a byte for its layout and the id of the master key.
      const { rows } = await clients[service].query<{ id: string }>(
        `SELECT DISTINCT encode(substring(${column} from 2 for ${SEAL_HEAD - 1}), 'hex') AS id FROM ${table} WHERE ${column} IS NOT NULL`,
      );
      return rows.map(({ id }) => id);
    }),
  );
  return [...new Set((await Promise.all(heads)).flat())].sort();
}
