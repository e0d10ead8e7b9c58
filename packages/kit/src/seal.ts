import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';

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

/** What keys are for. Each purpose has separate keys, so that a service holds only the keys that it needs. */
export const SEAL_PURPOSES = [
  'taxpayer certificate',
  'request certificate',
  'token key',
  'shared cache',
  'webhook secret',
  'reception seed',
] as const;
export type SealPurpose = (typeof SEAL_PURPOSES)[number];

/**
 * The kind of a sealed value and its owner. A value opens only with the binding that sealed it, so it does not open in
 * another row.
 */
export interface SealBinding {
  readonly purpose: SealPurpose;
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

/** Seals with the newest key of a purpose, and opens what any of its keys sealed. */
export interface SealingKeys {
  /** AES-256-GCM with the binding authenticated. Layout: the byte 3, id of the master key 4, nonce 12, tag 16, ciphertext. */
  seal(plaintext: Uint8Array, binding: SealBinding): Buffer;
  /**
   * Opens the result of {@link SealingKeys.seal}.
   * @throws SealError `other_key` if none of the keys sealed the value, `altered` for other bytes or another binding
   */
  unseal(sealed: Uint8Array, binding: SealBinding): Buffer;
  /** The keys of a purpose themselves, the newest first. */
  keysFor(purpose: SealPurpose): [Uint8Array, ...Uint8Array[]];
  /** Whether one of the keys sealed a value; its first {@link SEAL_HEAD} bytes are enough. */
  hasKeyOf(sealed: Uint8Array): boolean;
  /** Whether the newest master key sealed a value. */
  isCurrent(sealed: Uint8Array): boolean;
  /** The ids of the master keys in hex, the newest first. */
  readonly keyIds: readonly string[];
  /** The setting that holds the keys. */
  readonly setting: 'MASTER_KEY' | 'SEALING_KEYS';
}

/** A key of one purpose, derived from the master key with this id. */
export interface PurposeKey {
  readonly purpose: SealPurpose;
  /** Four bytes in hex. */
  readonly id: string;
  readonly key: Uint8Array;
}

/** The first byte of every sealed value. */
const LAYOUT = 3;
const NONCE = 12;
const TAG = 16;
const KEY_ID = 4;
const HEAD = 1 + KEY_ID + NONCE + TAG;
/** Bytes at the start of a sealed value that name its layout and its master key. */
export const SEAL_HEAD = 1 + KEY_ID;

/** The key of a purpose by HKDF-SHA256. It reveals neither the master key nor the keys of other purposes. */
export function deriveKey(masterKey: Uint8Array, purpose: SealPurpose): PurposeKey {
  const key = new Uint8Array(hkdfSync('sha256', masterKey, new Uint8Array(), `ecf ${purpose} v1`, 32));
  return { purpose, id: keyId(masterKey).toString('hex'), key };
}

/**
 * The keys of all purposes.
 * @param masterKeys each of 32 bytes, the newest first
 */
export function createMasterKeys(masterKeys: readonly [Uint8Array, ...Uint8Array[]]): SealingKeys {
  const derived = SEAL_PURPOSES.flatMap((purpose) => masterKeys.map((key) => deriveKey(key, purpose)));
  return createPurposeKeys(derived, 'MASTER_KEY');
}

/**
 * The keys of some purposes.
 * @param keys the keys of each purpose, all from the same master keys, the newest first
 * @param setting the setting that holds them
 */
export function createPurposeKeys(keys: readonly PurposeKey[], setting: SealingKeys['setting']): SealingKeys {
  const keyIds = [...new Set(keys.map(({ id }) => id))];
  const idOf = (sealed: Uint8Array) => Buffer.from(sealed.subarray(1, SEAL_HEAD)).toString('hex');

  function of(purpose: SealPurpose): readonly [PurposeKey, ...PurposeKey[]] {
    const [newest, ...older] = keys.filter((key) => key.purpose === purpose);
    if (newest === undefined) throw new TypeError(`this service holds no key for a ${purpose}`);
    return [newest, ...older];
  }

  function sealerOf(sealed: Buffer, purpose: SealPurpose): Uint8Array {
    const id = idOf(sealed);
    const sealer = of(purpose).find((key) => key.id === id);
    if (sealer !== undefined) return sealer.key;
    throw new SealError('other_key', 'Sealed with another key than those of MASTER_KEY or SEALING_KEYS.');
  }

  return {
    seal(plaintext, binding) {
      const [{ id, key }] = of(binding.purpose);
      const nonce = randomBytes(NONCE);
      const cipher = createCipheriv('aes-256-gcm', key, nonce);
      cipher.setAAD(authenticated(binding));
      const body = Buffer.concat([cipher.update(plaintext), cipher.final()]);
      return Buffer.concat([sealHead(id), nonce, cipher.getAuthTag(), body]);
    },
    unseal(sealed, binding) {
      const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
      if (bytes.length < HEAD || bytes[0] !== LAYOUT)
        throw new SealError('not_sealed', 'These bytes are not a sealed value.');
      const nonce = bytes.subarray(SEAL_HEAD, SEAL_HEAD + NONCE);
      const decipher = createDecipheriv('aes-256-gcm', sealerOf(bytes, binding.purpose), nonce);
      decipher.setAAD(authenticated(binding));
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
    keysFor: (purpose) => {
      const [newest, ...older] = of(purpose);
      return [newest.key, ...older.map(({ key }) => key)];
    },
    hasKeyOf: (sealed) => sealed[0] === LAYOUT && keyIds.includes(idOf(sealed)),
    isCurrent: (sealed) => sealed[0] === LAYOUT && idOf(sealed) === keyIds[0],
    keyIds,
    setting,
  };
}

/** The first bytes of every value that a master key sealed; `keyId` is its id in hex. */
export function sealHead(keyId: string): Buffer {
  return Buffer.concat([Buffer.from([LAYOUT]), Buffer.from(keyId, 'hex')]);
}

function keyId(masterKey: Uint8Array): Buffer {
  return createHash('sha256').update('ecf seal key id').update(masterKey).digest().subarray(0, KEY_ID);
}

function authenticated({ purpose, account, subject }: SealBinding): Buffer {
  return Buffer.from(JSON.stringify([purpose, account, subject]), 'utf8');
}
