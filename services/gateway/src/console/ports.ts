/** What a person signed in to the console with. */
export interface ConsoleCredential {
  readonly kind: 'api_key' | 'administrator' | 'admin_token';
  /** The SHA-256 of the API key or token; for ADMIN_TOKEN its HMAC under the session's own secret. */
  readonly credential: Buffer;
}

/** Sessions of the console by the SHA-256 of their cookie. */
export interface ConsoleSessionStore {
  add(hash: Buffer, credential: ConsoleCredential, now: Date): Promise<void>;
  /** The credential of a session that was used in the last `SESSION_IDLE_HOURS`, and notes that it was used. */
  use(hash: Buffer, now: Date): Promise<ConsoleCredential | null>;
  remove(hash: Buffer): Promise<void>;
  /** Deletes the sessions that have ended. */
  clean(now: Date): Promise<void>;
}
