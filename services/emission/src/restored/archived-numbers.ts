import type { XmlStore } from '@ecf/archive';
import type { Restore } from '@ecf/postgres';
import { archiveFolder } from '../attempt/attempt.js';
import type { RangePosition, Series } from './ports.js';

const DAY_MS = 24 * 3_600_000;

/**
 * Numbers of the range under which the archive has a document that was stored in the months from the backup to the restore. The
 * document may be on paper although the authority never got it, so its number is not given again.
 */
export async function archivedNumbers(
  archive: Pick<XmlStore, 'list'>,
  series: Series,
  { next, last }: RangePosition,
  restore: Restore,
): Promise<ReadonlySet<number>> {
  const numbers = new Set<number>();
  for (const folder of foldersOf(series, restore)) {
    const prefix = `${folder}/${series.issuerRnc}E${series.ecfType}`;
    for await (const { path } of archive.list(prefix)) {
      const number = Number(path.slice(prefix.length, prefix.length + 10));
      if (number >= next && number <= last) numbers.add(number);
    }
  }
  return numbers;
}

/** From a day before the backup: a document may be archived shortly before the backup and reach the database after it. */
function foldersOf(series: Series, { backupAt, restoredAt }: Restore): Set<string> {
  const folders = new Set([archiveFolder('ecf', series, restoredAt)]);
  for (let at = backupAt.getTime() - DAY_MS; at < restoredAt.getTime(); at += DAY_MS)
    folders.add(archiveFolder('ecf', series, new Date(at)));
  return folders;
}
