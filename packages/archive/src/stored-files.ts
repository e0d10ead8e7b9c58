import { type ArchiveOperations, errorCodeEntry, type ServiceName, type StoredFile } from '@ecf/contracts';
import { ApiError } from '@ecf/kit';
import type { Queries } from '@ecf/postgres';
import { pendingAmong, pendingBytes } from './pending-documents.js';

/** A table whose rows name stored XML. */
export interface StoredFileTable {
  readonly table: string;
  /** Columns of its primary key, whole numbers, in the key's order. */
  readonly key: readonly [string, ...string[]];
  /** Pairs of columns: path (null if no file is stored) and SHA-256. */
  readonly files: readonly (readonly [path: string, sha256: string])[];
}

const XML: StoredFileTable['files'] = [['xml_path', 'xml_sha256']];

/** The tables of each service that name stored XML. */
export const STORED_FILES = {
  emission: [
    { table: 'attempt', key: ['emission_id', 'attempt'], files: [...XML, ['rfce_path', 'rfce_sha256']] },
    { table: 'cancellation', key: ['id'], files: XML },
  ],
  reception: [
    { table: 'received_documents', key: ['id'], files: [...XML, ['arecf_path', 'arecf_sha256']] },
    {
      table: 'refused_documents',
      key: ['id'],
      files: [
        ['xml_path', 'sha256'],
        ['arecf_path', 'arecf_sha256'],
      ],
    },
  ],
  approvals: [
    { table: 'given_approvals', key: ['id'], files: XML },
    { table: 'received_approvals', key: ['id'], files: XML },
    { table: 'refused_approvals', key: ['id'], files: [['xml_path', 'sha256']] },
    { table: 'received_acknowledgements', key: ['id'], files: XML },
  ],
} satisfies Partial<Record<ServiceName, readonly StoredFileTable[]>>;

/**
 * Lists the XML that the database names, by the primary keys of its tables, one table after the other. A page is read by an
 * index and holds at most `limit` rows, so that any number of documents costs the same memory. Also gives out the bytes of
 * documents that wait for the archive.
 */
export function createStoredFiles(database: Queries, tables: readonly StoredFileTable[]): ArchiveOperations {
  return {
    async pageOfStoredFiles({ after, limit }) {
      const [name = tables[0]?.table, ...keys] = after?.split(':') ?? [];
      const index = tables.findIndex(({ table }) => table === name);
      const table = tables[index];
      if (table === undefined || (keys.length > 0 && keys.length !== table.key.length))
        throw new ApiError(errorCodeEntry('not_found').status, 'not_found', `There is no page after ${after}.`);
      const from = keys.length > 0 ? keys : table.key.map(() => '0');
      const { rows } = await database.query<Record<string, string | null>>(pageOf(table), [limit, ...from]);
      const last = rows.at(-1);
      const following = tables[index + 1];
      const next =
        last !== undefined && rows.length === limit
          ? [table.table, ...table.key.map((_, at) => last[`k${at}`])].join(':')
          : following === undefined
            ? null
            : [following.table, ...following.key.map(() => '0')].join(':');
      const files = rows.flatMap((row) => filesOf(table, row));
      const pending = await pendingAmong(database, files);
      return { files: files.map((file) => ({ ...file, pending: pending.has(file.path) })), next };
    },
    async pendingDocument({ path, sha256 }) {
      const bytes = await pendingBytes(database, path, sha256);
      return { base64: bytes?.toString('base64') ?? null };
    },
  };
}

function pageOf({ table, key, files }: StoredFileTable): { name: string; text: string } {
  const columns = [
    ...key.map((column, at) => `${column}::text AS k${at}`),
    ...files.flatMap(([path, sha256], at) => [`${path} AS p${at}`, `${sha256} AS s${at}`]),
  ];
  const places = key.map((_, at) => `$${at + 2}::bigint`);
  return {
    name: `stored_files_${table}`,
    text: `SELECT ${columns.join(', ')} FROM ${table} WHERE (${key.join(', ')}) > (${places.join(', ')})
           ORDER BY ${key.join(', ')} LIMIT $1`,
  };
}

function filesOf({ files }: StoredFileTable, row: Record<string, string | null>): Omit<StoredFile, 'pending'>[] {
  return files.flatMap((_, at) => {
    const [path, sha256] = [row[`p${at}`], row[`s${at}`]];
    return typeof path === 'string' && typeof sha256 === 'string' ? [{ path, sha256 }] : [];
  });
}
