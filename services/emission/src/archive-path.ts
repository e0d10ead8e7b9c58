import { createHash } from 'node:crypto';
import { toCalendarDate } from '@ecf/domain';
import type { DocumentKey, StoredFile } from './attempt/attempt.js';

export interface ArchivedFile extends StoredFile {
  readonly bytes: Buffer;
}

/**
 * Archive path of an issued document: `<env>/<ecf|rfce>/<issuer RNC>/issued/<yyyy>/<mm>/<RNC><eNCF>-<12 hex>.xml`.
 * The checksum in the name separates the documents of several attempts, and of requests that compete for a number.
 */
export function archived(kind: 'ecf' | 'rfce', key: DocumentKey, bytes: Buffer, storedAt: Date): ArchivedFile {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const [year, month] = toCalendarDate(storedAt).split('-');
  const name = `${key.issuerRnc}${key.encf}-${sha256.slice(0, 12)}.xml`;
  return { path: `${key.env}/${kind}/${key.issuerRnc}/issued/${year}/${month}/${name}`, sha256, bytes };
}
