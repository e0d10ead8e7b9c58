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

/**
 * The kind of a sealed value and its owner. A value opens only with the binding that sealed it, so it does not open in
 * another row.
 */
export interface SealBinding {
  readonly purpose: 'taxpayer certificate' | 'request certificate' | 'token key' | 'shared cache' | 'webhook secret';
  /** The account's id; empty for values of the deployment. */
  readonly account: string;
  /** The RNC of a certificate, the id of a token key or a webhook, the name of a cached value. */
  readonly subject: string;
}

/** The binding of the certificate that a taxpayer's events and rows carry. */
export function taxpayerCertificate(taxpayer: { readonly account_id: string; readonly rnc: string }): SealBinding {
  return { purpose: 'taxpayer certificate', account: taxpayer.account_id, subject: taxpayer.rnc };
}

/** The binding of a certificate that came with a request of an account, for an RNC. */
export function requestCertificate(account: string, rnc: string): SealBinding {
  return { purpose: 'request certificate', account, subject: rnc };
}

/** Seals under the newest master key of the deployment, and opens what any of them sealed. */
export interface MasterKeys {
  /** AES-256-GCM with the binding authenticated. Layout: version 2, key id 4, nonce 12, tag 16, ciphertext. */
  seal(plaintext: Uint8Array, binding: SealBinding): Buffer;
  /**
   * Opens the result of {@link MasterKeys.seal}, and values of version 1, which are bound to the subject alone.
   * @throws SealError `other_key` if none of the keys sealed the value, `altered` for other bytes or another binding
   */
  unseal(sealed: Uint8Array, binding: SealBinding): Buffer;
  /** Whether one of the keys sealed a value; its first {@link SEAL_HEAD} bytes are enough. */
  hasKeyOf(sealed: Uint8Array): boolean;
  /** Whether a value has the present layout and the newest key sealed it. */
  isCurrent(sealed: Uint8Array): boolean;
  /** The ids of the keys in hex, the newest first. */
  readonly keyIds: readonly string[];
}

/** Values of version 1 are bound to their subject alone. */
const UNBOUND = 1;
const BOUND = 2;
const NONCE = 12;
const TAG = 16;
const KEY_ID = 4;
const HEAD = 1 + KEY_ID + NONCE + TAG;
/** Bytes at the start of a sealed value that name its layout and its key. */
export const SEAL_HEAD = 1 + KEY_ID;

/**
 * The keys of a deployment.
 * @param keys each of 32 bytes, the newest first
 */
export function createMasterKeys(keys: readonly [Uint8Array, ...Uint8Array[]]): MasterKeys {
  const newest = { id: keyId(keys[0]), key: keys[0] };
  const known = [newest, ...keys.slice(1).map((key) => ({ id: keyId(key), key }))];
  const keyOf = (sealed: Uint8Array) => known.find(({ id }) => id.equals(sealed.subarray(1, SEAL_HEAD)));
  return {
    seal(plaintext, binding) {
      const nonce = randomBytes(NONCE);
      const cipher = createCipheriv('aes-256-gcm', newest.key, nonce);
      cipher.setAAD(authenticated(BOUND, binding));
      const body = Buffer.concat([cipher.update(plaintext), cipher.final()]);
      return Buffer.concat([Buffer.from([BOUND]), newest.id, nonce, cipher.getAuthTag(), body]);
    },
    unseal(sealed, binding) {
      const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
      const version = bytes[0];
      if (bytes.length < HEAD || (version !== BOUND && version !== UNBOUND))
        throw new SealError('not_sealed', 'These bytes are not a sealed value.');
      const sealer = keyOf(bytes);
      if (sealer === undefined)
        throw new SealError('other_key', 'Sealed with another key than those that MASTER_KEY holds.');
      const nonce = bytes.subarray(SEAL_HEAD, SEAL_HEAD + NONCE);
      const decipher = createDecipheriv('aes-256-gcm', sealer.key, nonce);
      decipher.setAAD(authenticated(version, binding));
      decipher.setAuthTag(bytes.subarray(SEAL_HEAD + NONCE, HEAD));
      try {
        return Buffer.concat([decipher.update(bytes.subarray(HEAD)), decipher.final()]);
      } catch (cause) {
        throw new SealError(
          'altered',
          'The sealed value was altered, or belongs to another account, subject or purpose.',
          {
            cause,
          },
        );
      }
    },
    hasKeyOf: (sealed) => keyOf(sealed) !== undefined,
    isCurrent: (sealed) => sealed[0] === BOUND && keyOf(sealed) === newest,
    keyIds: known.map(({ id }) => id.toString('hex')),
  };
}

/** The first bytes of every value of the present layout that a key sealed; `keyId` is its id in hex. */
export function sealHead(keyId: string): Buffer {
  return Buffer.concat([Buffer.from([BOUND]), Buffer.from(keyId, 'hex')]);
}

function keyId(masterKey: Uint8Array): Buffer {
  return createHash('sha256').update('ecf seal key id').update(masterKey).digest().subarray(0, KEY_ID);
}

function authenticated(version: number, { purpose, account, subject }: SealBinding): Buffer {
  return Buffer.from(version === UNBOUND ? subject : JSON.stringify([purpose, account, subject]), 'utf8');
}
