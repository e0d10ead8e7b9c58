import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { age } from '../terminal.js';
import { type Finding, fault, ok, reasonOf } from './finding.js';

/** A daily backup, with two hours for its duration. */
const OLDEST_SECONDS = 26 * 3_600;

/** What the doctor needs of the manifest of a backup. */
const manifestSchema = z.object({ taken_at: z.iso.datetime(), missing: z.array(z.string()).default([]) });

/** The age of the backup of a folder. `ecf backup verify` checks its files. */
export function checkBackup(folder: string, now: Date): Finding {
  try {
    const { taken_at, missing } = manifestSchema.parse(
      JSON.parse(readFileSync(path.join(folder, 'manifest.json'), 'utf8')),
    );
    const seconds = (now.getTime() - Date.parse(taken_at)) / 1_000;
    const lacks = missing.length === 0 ? '' : `, lacks ${missing.length} documents`;
    const detail = `${age(seconds)} old, of ${taken_at.slice(0, 16).replace('T', ' ')} UTC${lacks}`;
    if (seconds > OLDEST_SECONDS) return fault('backups', 'newest', detail, 'Make one each day.');
    if (missing.length > 0)
      return fault('backups', 'newest', detail, 'Restore these documents in the archive (ecf verify-archive).');
    return ok('backups', 'newest', detail);
  } catch (error) {
    const isUnreadable = error instanceof z.ZodError || error instanceof SyntaxError;
    const reason = isUnreadable ? `${folder} has a manifest that is not one of a backup` : reasonOf(error);
    return fault('backups', 'newest', reason, 'Name the folder of a finished backup, or make one.');
  }
}
