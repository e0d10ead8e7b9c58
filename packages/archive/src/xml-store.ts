import { createHash } from 'node:crypto';

export type XmlStoreErrorCode = 'missing' | 'altered' | 'exists' | 'bad_path' | 'unavailable';

/**
 * An object that cannot be stored or read. `exists`: other bytes are stored under the path; `altered`: the checksum differs;
 * `unavailable`: a later attempt may succeed.
 */
export class XmlStoreError extends Error {
  readonly code: XmlStoreErrorCode;
  constructor(code: XmlStoreErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'XmlStoreError';
    this.code = code;
  }
}

/** Whether an error says that a stored document is missing or is not the one that was stored. */
export function isIntegrityError(error: unknown): error is XmlStoreError {
  return error instanceof XmlStoreError && (error.code === 'missing' || error.code === 'altered');
}

/** An object of the store. */
export interface StoredObject {
  readonly path: string;
  readonly storedAt: Date;
}

/** Reads stored documents. Checksums are SHA-256 in lower-case hex. */
export interface DocumentReader {
  /** The bytes, after their checksum was compared (`altered`). */
  get(path: string, sha256: string): Promise<Buffer>;
}

/** The archive: keeps signed XML for good. Paths are relative, with `/`. Checksums are SHA-256 in lower-case hex. */
export interface XmlStore {
  /**
   * Resolves once the bytes survive a power cut. Never overwrites: the same bytes again succeed, other bytes are `exists`.
   *
   * @param checksum of the bytes, if it is known
   */
  put(path: string, bytes: Uint8Array, checksum?: string): Promise<{ checksum: string }>;
  /** The bytes; with `checksum`, compared first (`altered`). */
  get(path: string, checksum?: string): Promise<Buffer>;
  /** Rejects while the archive cannot store or read objects. */
  ready(): Promise<void>;
  /** All objects, or those whose path begins with `prefix`, in no fixed order. It may leave out objects that are stored meanwhile. */
  list(prefix?: string): AsyncIterable<StoredObject>;
}

/** Allows `[A-Za-z0-9._-]` segments joined by `/`, none of them `.` or `..`, at most 512 characters. */
export function checkXmlPath(path: string): void {
  const fine = path.length <= 512 && path.split('/').every((part) => /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/.test(part));
  if (!fine) throw new XmlStoreError('bad_path', `${JSON.stringify(path)} cannot be the path of a stored document.`);
}

/** Gives the bytes back if they have the checksum, or if none is named; throws `altered` otherwise. */
export function checkedBytes(path: string, bytes: Buffer, sha256: string | undefined): Buffer {
  if (sha256 === undefined || sha256Of(bytes) === sha256) return bytes;
  throw new XmlStoreError('altered', `The document under ${path} is not the one that was stored.`);
}

export function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
