import { setting } from '../config.js';
import type { SealingKeys } from '../seal.js';
import type { Logger } from '../telemetry/logger.js';
import type { Metrics } from '../telemetry/metrics.js';

/** Values that processes share. They save time only: results stay correct without them. */
export interface SharedCache {
  get(key: string): Promise<string | null>;
  /** The value expires after `ttlMs`. */
  set(key: string, value: string, ttlMs: number): Promise<void>;
  /** Removes the key, but only while it still holds that value. */
  remove(key: string, value: string): Promise<void>;
  /** Runs `work` under a lease on the key that processes share. Without the server, it runs immediately. */
  alone<T>(key: string, work: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** To be spread into the settings of a service that shares a cache. */
export const cacheSettings = {
  REDIS_URL: setting.optionalUrl({
    description:
      'Redis that processes share for tokens of the authority and request rates; unset = each process keeps its own',
    protocols: ['redis:', 'rediss:'],
    secret: true,
  }),
};

export interface SharedCacheParts {
  /** Seals the values, since the cache holds credentials. 32 bytes. */
  readonly sealingKeys: SealingKeys;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Milliseconds after which the lease of a process that died ends; default 6000. */
  readonly leaseMs?: number;
  /** Longest milliseconds of a command; after that the work continues without the server. Default 150. */
  readonly commandMs?: number;
}
