/**
 * Where tokens are kept between calls. Values are opaque text, so a cache shared by processes can hold them;
 * they are credentials and must not be logged.
 */
export interface TokenCache {
  get(key: string): Promise<string | null>;
  /** The value expires after `ttlMs`. */
  set(key: string, value: string, ttlMs: number): Promise<void>;
  /** Removes the entry only while it still holds that very value. */
  remove(key: string, value: string): Promise<void>;
  /**
   * Runs `work` while no other process that shares the cache runs work under this key: a caller that waited finds what the other
   * has kept. Left out where one process has the cache for itself.
   */
  alone?<T>(key: string, work: () => Promise<T>): Promise<T>;
}
