import { hash as digestOf, pbkdf2Sync } from 'node:crypto';

/** A file demands more work than any real one, or an unknown cipher. */
export class UnsupportedEncryption extends Error {}

/**
 * Bound of the rounds of key derivation for one file. Real files take 1 to 20,000 a derivation, cautious ones 100,000.
 * Without a bound a crafted file of 200 bytes would occupy the process for hours. This many take 1.5 s.
 */
const ROUNDS_PER_FILE = 600_000;

/** Counts the rounds that one file has cost. */
export class WorkBudget {
  #left = ROUNDS_PER_FILE;

  spend(rounds: number): void {
    this.#left -= rounds;
    if (rounds < 1 || this.#left < 0) throw new UnsupportedEncryption('too many rounds of key derivation');
  }
}

/** The purpose of a derived PKCS#12 key (RFC 7292, appendix B.3). */
export const PURPOSE = { key: 1, iv: 2, mac: 3 } as const;

/**
 * The key derivation of PKCS#12 (RFC 7292, appendix B.2), used by its old ciphers and by its integrity check.
 *
 * @param password as UTF-16BE with its closing zero, see `bmpPassword`
 */
export function derivePkcs12(
  hash: string,
  purpose: number,
  password: Uint8Array,
  salt: Uint8Array,
  rounds: number,
  length: number,
  budget: WorkBudget,
): Buffer {
  const block = hash === 'sha384' || hash === 'sha512' ? 128 : 64;
  const diversifier = Buffer.alloc(block, purpose);
  const input = Buffer.concat([filled(salt, block), filled(password, block)]);
  const pieces: Buffer[] = [];
  for (let have = 0; have < length; ) {
    budget.spend(rounds);
    let digest = digestOf(hash, Buffer.concat([diversifier, input]), 'buffer');
    for (let round = 1; round < rounds; round++) digest = digestOf(hash, digest, 'buffer');
    pieces.push(digest);
    have += digest.length;
    const addend = Buffer.alloc(block);
    for (let i = 0; i < block; i++) addend[i] = digest[i % digest.length]!;
    for (let at = 0; at < input.length; at += block) addPlusOne(input.subarray(at, at + block), addend);
  }
  return Buffer.concat(pieces).subarray(0, length);
}

/** PBKDF2 (RFC 8018) with its rounds on the budget. */
export function derivePbkdf2(
  hash: string,
  password: Uint8Array,
  salt: Uint8Array,
  rounds: number,
  length: number,
  budget: WorkBudget,
): Buffer {
  budget.spend(rounds);
  return pbkdf2Sync(password, salt, rounds, length, hash);
}

/** The password as PKCS#12's own derivation wants it. Two spellings of an empty one are in use; both are given. */
export function bmpPasswords(password: string): Buffer[] {
  const bmp = Buffer.from(`${password}\0`, 'utf16le').swap16();
  return password === '' ? [bmp, Buffer.alloc(0)] : [bmp];
}

function filled(bytes: Uint8Array, block: number): Buffer {
  if (bytes.length === 0) return Buffer.alloc(0);
  const result = Buffer.alloc(block * Math.ceil(bytes.length / block));
  for (let i = 0; i < result.length; i++) result[i] = bytes[i % bytes.length]!;
  return result;
}

/** target = target + addend + 1, as one big-endian number of the block's width. */
function addPlusOne(target: Buffer, addend: Buffer): void {
  let carry = 1;
  for (let i = target.length - 1; i >= 0; i--) {
    const sum = target[i]! + addend[i]! + carry;
    target[i] = sum & 0xff;
    carry = sum >> 8;
  }
}
