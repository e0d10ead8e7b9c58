import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

export type SealErrorCode = 'not_sealed' | 'other_key' | 'altered';

/** A sealed value that cannot be opened. */
export class SealError extends Error {
  readonly code: SealErrorCode;
  constructor(code: SealErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'SealError';
    this.code = code;
  }
}

const VERSION = 1;
const NONCE = 12;
const TAG = 16;
const KEY_ID = 4;
const HEAD = 1 + KEY_ID + NONCE + TAG;

function keyId(masterKey: Uint8Array): Buffer {
  return createHash('sha256').update('ecf seal key id').update(masterKey).digest().subarray(0, KEY_ID);
}

/**
 * Seals with AES-256-GCM under the deployment's master key. `context` (the RNC of a certificate) is authenticated, so
 * that a sealed value moved to another row does not open. Layout: version 1, key id 4, nonce 12, tag 16, ciphertext.
 * @param masterKey 32 bytes
 */
export function seal(
  masterKey: Uint8Array,
  plaintext: Uint8Array,
  context: string,
  nonce: Buffer = randomBytes(NONCE),
): Buffer {
  const cipher = createCipheriv('aes-256-gcm', masterKey, nonce);
  cipher.setAAD(Buffer.from(context, 'utf8'));
  const body = Buffer.concat([cipher.update(plaintext), cipher.final()]);
  return Buffer.concat([Buffer.from([VERSION]), keyId(masterKey), nonce, cipher.getAuthTag(), body]);
}

/** Opens the result of {@link seal}. {@link SealError} distinguishes another key, another context and altered bytes where possible. */
export function unseal(masterKey: Uint8Array, sealed: Uint8Array, context: string): Buffer {
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
  if (bytes.length < HEAD || bytes[0] !== VERSION)
    throw new SealError('not_sealed', 'These bytes are not a sealed value.');
  if (!bytes.subarray(1, 1 + KEY_ID).equals(keyId(masterKey)))
    throw new SealError('other_key', 'Sealed with another MASTER_KEY than the configured one.');
  const nonce = bytes.subarray(1 + KEY_ID, 1 + KEY_ID + NONCE);
  const decipher = createDecipheriv('aes-256-gcm', masterKey, nonce);
  decipher.setAAD(Buffer.from(context, 'utf8'));
  decipher.setAuthTag(bytes.subarray(1 + KEY_ID + NONCE, HEAD));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(HEAD)), decipher.final()]);
  } catch (cause) {
    throw new SealError('altered', 'The sealed value was altered or belongs to another context.', { cause });
  }
}
