import { statfs } from 'node:fs/promises';
import path from 'node:path';
import { ApiError } from '@ecf/service-kit/http';
import type { Queries } from '@ecf/service-kit/postgres';
import type { Logger, Metrics } from '@ecf/service-kit/telemetry';

/** How often free bytes are looked up; at a gigabyte of floor nothing that senders bring fills it meanwhile. */
const LOOK_MS = 5_000;

/** Room on the disk that strangers' documents fill; what customers submit needs the rest. */
export interface StorageRoom {
  /** Throws the ApiError to answer (503 `storage_full`) while less than the floor is free. */
  require(): void;
  /** Looks from now on, and has looked once when it resolves. */
  start(): Promise<void>;
  stop(): void;
}

export interface StorageRoomOptions {
  readonly service: string;
  /** What lies on the disk; it need not exist yet. Null where documents are kept elsewhere. */
  readonly folder: string | null;
  /** Free bytes under which nothing of strangers is taken. */
  readonly floor: number;
  readonly database: Queries;
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** Tells the bytes that are free where a folder is; by default the file system does. */
  readonly freeBytes?: (folder: string) => Promise<number>;
}

/** The folder and the floor that the settings name. */
export function storageRoomSettings(config: {
  readonly DATA_DIR: string;
  readonly S3_ENDPOINT?: string | undefined;
  readonly MIN_FREE_BYTES: number;
}): Pick<StorageRoomOptions, 'folder' | 'floor'> {
  return { folder: config.S3_ENDPOINT === undefined ? config.DATA_DIR : null, floor: config.MIN_FREE_BYTES };
}

/** Watches the disk, and tells it and the size of the database in the metrics. What cannot be looked up closes no door. */
export function createStorageRoom({
  service,
  folder,
  floor,
  database,
  metrics,
  logger,
  freeBytes = freeOnDisk,
}: StorageRoomOptions): StorageRoom {
  const free = metrics.gauge({
    name: 'ecf_storage_free_bytes',
    help: 'Bytes free on the disk of DATA_DIR, where documents are kept in files.',
    labels: ['service'],
  });
  const least = metrics.gauge({
    name: 'ecf_storage_floor_bytes',
    help: 'MIN_FREE_BYTES: with less than these free, the public doors take nothing.',
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

  async function look(root: string): Promise<void> {
    try {
      const bytes = await freeBytes(root);
      free.set({ service }, bytes);
      if (low !== bytes < floor)
        logger.warn({ free: bytes, floor }, low ? 'the disk has room again' : 'the disk is nearly full');
      [low, unknown] = [bytes < floor, false];
    } catch (error) {
      if (!unknown) logger.warn({ err: error }, 'the free bytes of the disk cannot be looked up');
      unknown = true;
    }
  }

  return {
    require() {
      if (!low) return;
      throw new ApiError(503, 'storage_full', 'The disk of this receiver is nearly full; send it again later.', {
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
      if (folder === null) return;
      least.set({ service }, floor);
      const waiting = setTimeout(
        () => logger.warn({ folder }, 'the start waits for the disk of DATA_DIR, which does not tell its free bytes'),
        LOOK_MS,
      );
      await look(folder);
      clearTimeout(waiting);
      // One at a time: where the disk hangs each look holds a thread that all files need.
      let looking = false;
      timer = setInterval(async () => {
        if (looking) return;
        looking = true;
        await look(folder);
        looking = false;
      }, LOOK_MS);
      timer.unref();
    },
    stop() {
      clearInterval(timer);
      endSize();
    },
  };
}

/** Bytes that are free to this user where the folder is, or will be made. */
async function freeOnDisk(folder: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  } catch (error) {
    const above = path.dirname(path.resolve(folder));
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || above === path.resolve(folder)) throw error;
    return freeOnDisk(above);
  }
}
