import type { DirectoryEntry } from '@ecf/authority-client';

/** The host (origin) that receives documents; null if the directory's address is not valid. */
export function receivingHost({ receptionUrl }: Pick<DirectoryEntry, 'receptionUrl'>): string | null {
  return receptionUrl === null ? null : originOf(receptionUrl);
}

/** Scheme, name and port of an address; null if it is not valid. */
export function originOf(address: string): string | null {
  return URL.canParse(address) ? new URL(address).origin : null;
}
