import { hash } from 'fast-sha256';

/** SHA-256 of a text or of bytes, in hexadecimal. The function of browsers works only over HTTPS and on the same machine. */
export const sha256 = (content: string | Uint8Array): string =>
  hexOf(hash(typeof content === 'string' ? new TextEncoder().encode(content) : content));

/** A new random key. Unlike `crypto.randomUUID`, also works on pages that came by http. */
export const randomKey = (): string => hexOf(crypto.getRandomValues(new Uint8Array(16)));

const hexOf = (bytes: Uint8Array) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
