import { freeOnDisk } from '@ecf/archive';
import { ApiError } from '@ecf/kit';
import { type Database, isStorageFull } from '@ecf/postgres';

/** With less, a database on this disk can fail at its next write. */
const MIN_FREE_BYTES = 64 * 1024 * 1024;

/**
 * The readiness check `storage`: rejects with the code `storage_full` while the disk of the database is full.
 * @param folder the folder of the database, where it is known
 */
export function createStorageReady(
  database: Pick<Database, 'checkStorage'>,
  folder?: string,
  freeBytes = freeOnDisk,
): () => Promise<void> {
  return async function storage() {
    const full = (cause?: unknown) =>
      new ApiError(503, 'storage_full', 'The disk of this service is full; repeat later.', { cause });
    if (folder !== undefined && (await freeBytes(folder)) < MIN_FREE_BYTES) throw full();
    await database.checkStorage().catch((error) => {
      throw isStorageFull(error) ? full(error) : error;
    });
  };
}
