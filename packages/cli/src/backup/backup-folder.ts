import { ConfigError } from '@ecf/kit';
import { type OptionValues, UsageError } from '../options.js';

export type { BackupFault as Damage } from '@ecf/backup';

/** The environment; with --data-dir, everything is in that folder, whatever the environment says. */
export function settingsOf({ 'data-dir': folder }: OptionValues, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  if (folder === undefined) return env;
  const others = Object.entries(env).filter(([name]) => !/(^|_)DATABASE_URL$|^S3_/.test(name));
  return { ...Object.fromEntries(others), DATA_DIR: String(folder) };
}

const REPORT_MS = 5_000;

/** Counts documents, and writes the number every five seconds. */
export function documentCounter(stream: NodeJS.WriteStream): () => void {
  let documents = 0;
  let reportedAt = performance.now();
  return () => {
    documents += 1;
    if (performance.now() - reportedAt < REPORT_MS) return;
    reportedAt = performance.now();
    stream.write(`${documents} documents copied\n`);
  };
}

/**
 * Does something with the folder of a backup. The packages for it are loaded now, so that help does not wait for them.
 *
 * @throws UsageError for everything that prevents it
 */
export async function backupOf<T>(
  folder: string,
  work: (backup: typeof import('@ecf/backup')) => Promise<T>,
): Promise<T> {
  const backup = await import('@ecf/backup');
  try {
    return await work(backup);
  } catch (error) {
    if (error instanceof ConfigError)
      throw new UsageError(error.problems.map(({ variable, message }) => `${variable} ${message}`).join('; '), {
        cause: error,
      });
    if (error instanceof backup.BackupError) throw new UsageError(error.message, { cause: error });
    throw new UsageError(`${folder}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
