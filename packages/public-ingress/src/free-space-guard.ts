import { freeOnDisk, storedBytes } from '@ecf/archive';
import { ApiError } from '@ecf/kit';
import type { Logger, Metrics } from '@ecf/kit/telemetry';
import type { Queries } from '@ecf/postgres';

/** Senders cannot fill a gigabyte, the default minimum, between two checks. */
const CHECK_MS = 5_000;

/** Documents are accepted again with this much more than the minimum, so that the guard does not open and close all the time. */
const CLEARS_AT = 1.25;

/** Keeps free space in the storage for what customers submit: strangers' documents are refused below a minimum. */
export interface FreeSpaceGuard {
  /** Throws ApiError 503 `storage_full` while less than the minimum is free. */
  require(): void;
  /** Checks the free space repeatedly from now on. Resolves after the first check. */
  start(): Promise<void>;
  stop(): void;
}

export interface FreeSpaceGuardOptions {
  readonly service: string;
  /** Null if the free space of the storage is unknown. */
  readonly storage: Storage | null;
  /** Free bytes below which strangers' documents are refused. */
  readonly minFreeBytes: number;
  readonly database: Queries;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/** Where documents are kept. */
export interface Storage {
  /** For the log, as in "the disk of DATA_DIR". */
  readonly name: string;
  freeBytes(): Promise<number>;
}

/**
 * The storage and the minimum that the settings name. A disk reports its free space. S3 does not: there it is what is left of
 * S3_CAPACITY_BYTES, and is unknown without that setting.
 */
export function freeSpaceSettings(
  config: {
    readonly DATA_DIR: string;
    readonly S3_ENDPOINT?: string | undefined;
    readonly S3_CAPACITY_BYTES?: number | undefined;
    readonly MIN_FREE_BYTES: number;
  },
  database: Queries,
): Pick<FreeSpaceGuardOptions, 'storage' | 'minFreeBytes' | 'database'> {
  const { DATA_DIR: folder, S3_CAPACITY_BYTES: capacity, MIN_FREE_BYTES: minFreeBytes } = config;
  const storageOf = () => {
    if (config.S3_ENDPOINT === undefined)
      return { name: `the disk of ${folder} (DATA_DIR)`, freeBytes: () => freeOnDisk(folder) };
    if (capacity === undefined) return null;
    return {
      name: 'S3 (S3_CAPACITY_BYTES)',
      freeBytes: async () => Math.max(0, capacity - (await storedBytes(database))),
    };
  };
  return { storage: storageOf(), minFreeBytes, database };
}

/** Checks the storage, and reports its free space and the size of the database as metrics. A failed check refuses nothing. */
export function createFreeSpaceGuard({
  service,
  storage,
  minFreeBytes,
  database,
  metrics,
  logger,
}: FreeSpaceGuardOptions): FreeSpaceGuard {
  const free = metrics.gauge({
    name: 'ecf_storage_free_bytes',
    help: 'Bytes free for documents: of the disk of DATA_DIR, or of S3_CAPACITY_BYTES.',
    labels: ['service'],
  });
  const least = metrics.gauge({
    name: 'ecf_storage_floor_bytes',
    help: 'MIN_FREE_BYTES: with fewer bytes free, the public ingress refuses documents.',
    labels: ['service'],
  });
  const size = metrics.gauge({
    name: 'ecf_database_bytes',
    help: 'Size of the database of a service, as PostgreSQL reports it.',
    labels: ['service'],
  });
  let [low, unknown] = [false, false];
  let timer: NodeJS.Timeout | undefined;
  let endSize = () => {};

  async function check({ name, freeBytes }: Storage): Promise<void> {
    try {
      const bytes = await freeBytes();
      free.set({ service }, bytes);
      const needed = low ? minFreeBytes * CLEARS_AT : minFreeBytes;
      if (low !== bytes < needed)
        logger.warn({ free: bytes, minFreeBytes }, low ? `${name} has room again` : `${name} is nearly full`);
      [low, unknown] = [bytes < needed, false];
    } catch (error) {
      if (!unknown) logger.warn({ err: error }, `the free space of ${name} cannot be read`);
      unknown = true;
    }
  }

  return {
    require() {
      if (!low) return;
      throw new ApiError(503, 'storage_full', 'The storage of this receiver is nearly full; send it again later.', {
        headers: { connection: 'close' },
      });
    },
    async start() {
      endSize = metrics.onRender(async () => {
        const { rows } = await database.query<{ bytes: number }>(
          'SELECT pg_database_size(current_database()) AS bytes',
        );
        size.set({ service }, rows[0]?.bytes ?? 0);
      });
      if (storage === null) {
        logger.warn('S3_CAPACITY_BYTES is not set, so the free space of S3 is not watched');
        return;
      }
      least.set({ service }, minFreeBytes);
      const waiting = setTimeout(
        () => logger.warn(`the start waits for ${storage.name}, which does not report its free space`),
        CHECK_MS,
      );
      await check(storage);
      clearTimeout(waiting);
      // One check at a time: on a disk that hangs each check holds a thread that all file operations need.
      let checking = false;
      timer = setInterval(async () => {
        if (checking) return;
        checking = true;
        await check(storage);
        checking = false;
      }, CHECK_MS);
      timer.unref();
    },
    stop() {
      clearInterval(timer);
      endSize();
    },
  };
}
