import type pg from 'pg';
import { isStorageFull } from './database-errors.js';

/** Some 2 MiB, which need new space on the disk. The transaction is rolled back, so nothing of it stays. */
const PROBE = [
  'BEGIN',
  "SET LOCAL lock_timeout = '1s'",
  'CREATE TABLE ecf_storage_probe (n bigint)',
  'INSERT INTO ecf_storage_probe SELECT generate_series(1, 50000)',
];

/** Checks whether the disk of a database is full. */
export interface StorageCheck {
  /** Receives each error of the database. */
  note(error: unknown): void;
  /** After the database reported a full disk: writes a little, and rejects with that error while the disk is still full. */
  check(): Promise<void>;
}

export function createStorageCheck(pool: pg.Pool): StorageCheck {
  let full = false;

  async function probe(): Promise<void> {
    const client = await pool.connect();
    try {
      for (const statement of PROBE) await client.query(statement);
    } finally {
      await client.query('ROLLBACK').then(
        () => client.release(),
        (error) => client.release(error),
      );
    }
  }

  return {
    note(error) {
      if (isStorageFull(error)) full = true;
    },
    async check() {
      if (!full) return;
      await probe();
      full = false;
    },
  };
}
