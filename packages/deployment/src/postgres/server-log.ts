import { chmodSync, existsSync, openSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { shiftLogFiles } from '@ecf/kit/telemetry';

/**
 * PostgreSQL's own collector writes `<dataDir>/log`: a new file at each start and after 10 MB. It survives the parent's death and loses
 * no line.
 */
export const LOG_SETTINGS = {
  logging_collector: 'on',
  log_directory: 'log',
  log_filename: 'postgres-%Y%m%d-%H%M%S.log',
  log_file_mode: '0600',
  log_rotation_age: '0',
  log_rotation_size: '10MB',
};

const KEPT = 10;
/** Milliseconds between two searches for files to delete. */
const EVERY_MS = 60_000;
const MOST_BEGINNING_BYTES = 1_000_000;

/** Deletes all files but the newest, now and every minute; returns what ends that. */
export function keepNewestLogs(dataDir: string): () => void {
  const prune = () => {
    for (const file of logFiles(dataDir).slice(0, -KEPT)) rmSync(file, { force: true });
  };
  prune();
  const timer = setInterval(prune, EVERY_MS).unref();
  return () => clearInterval(timer);
}

/** Opens `<dataDir>.log` for what a server writes before its collector runs. */
export function openBeginning(dataDir: string): number {
  const file = `${dataDir}.log`;
  if (existsSync(file) && statSync(file).size > MOST_BEGINNING_BYTES) shiftLogFiles(file, 1);
  const log = openSync(file, 'a', 0o600);
  chmodSync(file, 0o600);
  return log;
}

/** The last words of a server that did not start. */
export function lastWords(dataDir: string): string {
  const files = [`${dataDir}.log`, ...logFiles(dataDir).slice(-1)];
  return files.map((file) => readFileSync(file, 'utf8').slice(-1500).trim()).join('\n');
}

/** The oldest first. */
function logFiles(dataDir: string): string[] {
  const folder = path.join(dataDir, LOG_SETTINGS.log_directory);
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => /^postgres-.*\.log$/.test(name));
  return names.sort().map((name) => path.join(folder, name));
}
