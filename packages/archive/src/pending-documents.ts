import type { ArchiveOperations } from '@ecf/contracts';
import type { Queries } from '@ecf/postgres';
import { checkedBytes, type DocumentReader, isIntegrityError, XmlStoreError } from './xml-store.js';

/** A document to be committed with the row that names it. The archiver moves its bytes to the archive later. */
export interface PendingDocument {
  readonly path: string;
  readonly sha256: string;
  readonly bytes: Uint8Array;
}

const ADD = {
  name: 'pending_document_add',
  text: `INSERT INTO pending_document (path, sha256, bytes)
         SELECT * FROM unnest($1::text[], $2::text[], $3::bytea[]) AS d(path, sha256, bytes) ORDER BY path
         ON CONFLICT (path, sha256) DO NOTHING`,
};
const READ = {
  name: 'pending_document_read',
  text: 'SELECT bytes FROM pending_document WHERE path = $1 AND sha256 = $2',
};
const AMONG = {
  name: 'pending_document_among',
  text: `SELECT path FROM unnest($1::text[], $2::text[]) AS d(path, sha256) JOIN pending_document USING (path, sha256)`,
};

/** Stores the bytes of documents in the transaction of the rows that name them. */
export async function addPendingDocuments(queries: Queries, documents: readonly PendingDocument[]): Promise<void> {
  if (documents.length > 0) await queries.query(ADD, pendingColumns(documents));
}

/** Bytes of all documents of this service, in its archive and in its database. */
export async function storedBytes(queries: Queries): Promise<number> {
  const { rows } = await queries.query<{ bytes: number }>(
    `SELECT ((SELECT bytes FROM archive_size) + (SELECT coalesce(sum(octet_length(bytes)), 0) FROM pending_document))::float8
              AS bytes`,
  );
  return rows[0]?.bytes ?? 0;
}

/** Paths, checksums and bytes as three arrays, for `unnest`. */
export function pendingColumns(documents: readonly PendingDocument[]): [string[], string[], Buffer[]] {
  return [
    documents.map(({ path }) => path),
    documents.map(({ sha256 }) => sha256),
    documents.map(({ bytes }) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)),
  ];
}

/** Null if the document does not wait for the archive. */
export async function pendingBytes(queries: Queries, path: string, sha256: string): Promise<Buffer | null> {
  const { rows } = await queries.query<{ bytes: Buffer }>(READ, [path, sha256]);
  return rows[0] === undefined ? null : checkedBytes(path, rows[0].bytes, sha256);
}

/** Paths of the documents that wait for the archive. */
export async function pendingAmong(
  queries: Queries,
  documents: readonly Omit<PendingDocument, 'bytes'>[],
): Promise<Set<string>> {
  if (documents.length === 0) return new Set();
  const keys = [documents.map(({ path }) => path), documents.map(({ sha256 }) => sha256)];
  const { rows } = await queries.query<{ path: string }>(AMONG, keys);
  return new Set(rows.map(({ path }) => path));
}

/** Reads documents of this service: from its database while they wait for the archive, then from the archive. */
export function ownDocuments(database: Queries, archive: DocumentReader): DocumentReader {
  return {
    async get(path, sha256) {
      return (await pendingBytes(database, path, sha256)) ?? archive.get(path, sha256);
    },
  };
}

/**
 * Reads documents of another service: from the archive, and from their owner while the archive does not have them or cannot
 * be reached.
 */
export function documentsOf(
  owner: Pick<ArchiveOperations, 'pendingDocument'>,
  archive: DocumentReader,
): DocumentReader {
  return {
    async get(path, sha256) {
      try {
        return await archive.get(path, sha256);
      } catch (error) {
        if (!(error instanceof XmlStoreError) || error.code === 'bad_path') throw error;
        const { base64 } = await owner.pendingDocument({ path, sha256 });
        if (base64 !== null) return checkedBytes(path, Buffer.from(base64, 'base64'), sha256);
        if (!isIntegrityError(error)) throw error;
        // The archiver may have stored it between the two reads.
        return archive.get(path, sha256);
      }
    },
  };
}
