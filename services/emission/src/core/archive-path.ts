import { createHash } from 'node:crypto';
import { toCalendarDate } from '@ecf/domain';
import type { DocumentKey, StoredFile } from './attempt/attempt.js';

export interface ArchivedFile extends StoredFile {
  readonly bytes: Buffer;
}

/**
 * Where an issued document is kept: `<env>/<ecf|rfce>/<issuer RNC>/issued/<yyyy>/<mm>/<RNC><eNCF>-<12 hex>.xml`. The
 * checksum in the name keeps the documents of several attempts, and the loser of a race, apart.
 */
export function archived(kind: 'ecf' | 'rfce', key: DocumentKey, bytes: Buffer, storedAt: Date): ArchivedFile {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const [year, month] = toCalendarDate(storedAt).split('-');
  const name = `${key.issuerRnc}${key.encf}-${sha256.slice(0, 12)}.xml`;
  return { path: `${key.env}/${kind}/${key.issuerRnc}/issued/${year}/${month}/${name}`, sha256, bytes };
}
