import { causes } from './database-errors.js';

/** The disk is full, or the quota of this user. */
const FULL = new Set(['ENOSPC', 'EDQUOT', '53100']);

/** True if a file or the database could not be written because its disk is full. The causes of the error count too. */
export function isStorageFull(error: unknown): boolean {
  return causes(error).some((each) => FULL.has(String((each as { code?: unknown }).code)));
}
