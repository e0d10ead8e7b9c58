import { type Finding, unchecked } from './finding.js';

/** The age of the newest backup of a folder. */
export function checkBackup(_folder: string, _now: Date): Finding {
  return unchecked('backups', 'newest', 'the manifest is not read yet');
}
