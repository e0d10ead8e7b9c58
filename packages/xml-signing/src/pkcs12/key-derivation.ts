import { hash as digestOf, pbkdf2Sync } from 'node:crypto';

/** The file uses a cipher, digest or derivation that is not supported. */
export class UnsupportedEncryption extends Error {}

/** The file requires more key derivation than is accepted. */
export class TooManyRounds extends Error {}

/** Rounds of one derivation. Firefox and NSS write 600,000, other programs 1 to 100,000. */
const MOST_ROUNDS = 1_000_000;
/** Rounds of one file. A file of Firefox has three derivations: integrity, certificates and key. */
const MOST_ROUNDS_PER_FILE = 3_000_000;
/** Derivations of one file: those of thirty encrypted parts with the old ciphers, which derive three values for each. */
const MOST_DERIVATIONS = 90;

/** Bounds the key derivation of one file. Without it a file of 200 bytes would occupy a thread for hours. */
export class WorkBudget {
  #rounds = MOST_ROUNDS_PER_FILE;
  #derivations = MOST_DERIVATIONS;

  spend(rounds: number): void {
    if (rounds < 1) throw new UnsupportedEncryption(`${rounds} rounds of key derivation`);
    if (rounds > MOST_ROUNDS) throw tooMany(rounds, 'rounds of key derivation for one key', MOST_ROUNDS);
    this.#rounds -= rounds;
    this.#derivations -= 1;
    if (this.#rounds < 0) throw tooMany('more', 'rounds of key derivation', MOST_ROUNDS_PER_FILE);
    if (this.#derivations < 0) throw tooMany('more', 'key derivations', MOST_DERIVATIONS);
  }
}

function tooMany(asked: number | 'more', what: string, most: number): TooManyRounds {
  const number = asked === 'more' ? 'more' : asked.toLocaleString('en');
  return new TooManyRounds(`it requires ${number} ${what}; at most ${most.toLocaleString('en')} are accepted`);
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
