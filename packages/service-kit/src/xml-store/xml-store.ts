export type XmlStoreErrorCode = 'missing' | 'altered' | 'exists' | 'bad_path' | 'unavailable';

/** An object that cannot be stored or read. `exists`: other bytes stand under the path; `altered`: the checksum differs; `unavailable`: later may do. */
export class XmlStoreError extends Error {
  readonly code: XmlStoreErrorCode;
  constructor(code: XmlStoreErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'XmlStoreError';
    this.code = code;
  }
}

/** Something in the store. */
export interface StoredObject {
  readonly path: string;
  readonly storedAt: Date;
}

/** Keeps signed XML for good. Paths are relative, with `/`. Checksums are SHA-256 in lower-case hex. */
export interface XmlStore {
  /**
   * Resolves once the bytes outlive a power cut. Never overwrites: the same bytes again are fine, others are `exists`.
   *
   * @param checksum of the bytes, where it is known already
   */
  put(path: string, bytes: Uint8Array, checksum?: string): Promise<{ checksum: string }>;
  /** The bytes; with `checksum`, compared first (`altered`). */
  get(path: string, checksum?: string): Promise<Buffer>;
  /** Rejects while nothing can be stored or read. */
  ready(): Promise<void>;
  /** Everything that is stored, in no order to rely on; what is stored meanwhile may be left out. */
  list(): AsyncIterable<StoredObject>;
}

/** Allows `[A-Za-z0-9._-]` segments joined by `/`, none of them `.` or `..`, at most 512 characters. */
export function checkXmlPath(path: string): void {
  const fine = path.length <= 512 && path.split('/').every((part) => /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/.test(part));
  if (!fine) throw new XmlStoreError('bad_path', `${JSON.stringify(path)} cannot be the path of a stored document.`);
}
