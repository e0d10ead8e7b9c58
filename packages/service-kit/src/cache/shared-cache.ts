import { setting } from '../config/config.js';
import type { Logger } from '../telemetry/logger.js';
import type { Metrics } from '../telemetry/metrics.js';

/** What processes share and may lose: nothing in it is needed to be right, only to be quick. */
export interface SharedCache {
  get(key: string): Promise<string | null>;
  /** Forgotten after `ttlMs`. */
  set(key: string, value: string, ttlMs: number): Promise<void>;
  /** Only while the key still holds that very value. */
  remove(key: string, value: string): Promise<void>;
  /** Runs `work` while no other process does under this key; without the server, beside them. */
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
  /** Seals what is kept: the cache holds credentials. 32 bytes. */
  readonly masterKey: Uint8Array;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Milliseconds after which the turn of a process that died is over; default 6000. */
  readonly turnMs?: number;
}
