/** SHA-256 of a text in hexadecimal. Browsers compute it only over HTTPS and on the same machine. */
export async function sha256(text: string): Promise<string> {
  return hexOf(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))));
}

/** A new random key. Unlike `crypto.randomUUID`, also works on pages that came by http. */
export const randomKey = (): string => hexOf(crypto.getRandomValues(new Uint8Array(16)));

const hexOf = (bytes: Uint8Array) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
