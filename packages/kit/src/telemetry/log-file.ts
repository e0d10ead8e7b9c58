import { chmodSync, closeSync, existsSync, lstatSync, mkdirSync, openSync, renameSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import path from 'node:path';
import { createLogger, type Logger } from './logger.js';

/** How much of a log is kept. */
export interface LogLimits {
  /** A file of more bytes is renamed to `<file>.1`, and an earlier `<file>.1` to `<file>.2`. */
  readonly maxBytes: number;
  /** Renamed files that are kept; the oldest is deleted. */
  readonly kept: number;
}

export interface LogFile {
  readonly logger: Logger;
  /** Resolves when all lines are written. */
  close(): Promise<void>;
}

export interface LogWriter {
  write(text: string): void;
  /** Resolves when everything is written. */
  close(): Promise<void>;
}

export interface LogWriterOptions {
  readonly file: string;
  readonly limits: LogLimits;
  /** Is given the error of a write; its texts are lost. */
  readonly failed: (error: unknown) => void;
}

/** Texts that wait for the disk; more are dropped. */
const MOST_WAITING = 100_000;
/** Texts that are written together. */
const MOST_WRITTEN = 1_000;

/** Logs of level info and above in a file, see {@link openLogWriter}. A failed write is reported to `problems`. */
export function openLogFile(options: { service: string; file: string; problems: Logger; limits: LogLimits }): LogFile {
  const { service, file, problems, limits } = options;
  const failed = (error: unknown) => problems.warn({ err: error, file }, 'a log file cannot be written');
  const destination = openLogWriter({ file, limits, failed });
  return { logger: createLogger({ service, destination }), close: destination.close };
}

/**
 * Appends texts to a file in their order, in the background. The file has the mode 0600; a missing folder is made with the
 * mode 0700. Several processes may write the same file, and another program may rename it.
 */
export function openLogWriter({ file, limits, failed }: LogWriterOptions): LogWriter {
  let waiting: string[] = [];
  let dropped = 0;
  let writing: Promise<void> | null = null;
  try {
    prepare(file);
  } catch (error) {
    failed(error);
  }

  async function writeWaiting(): Promise<void> {
    // Texts of the same turn are written together.
    await Promise.resolve();
    while (waiting.length > 0) {
      const texts = waiting.slice(0, MOST_WRITTEN);
      waiting = waiting.slice(MOST_WRITTEN);
      try {
        if (isFull(file, limits)) shiftLogFiles(file, limits.kept);
        await appendFile(file, texts.join(''), { mode: 0o600 });
      } catch (error) {
        failed(error);
      }
    }
    writing = null;
    if (dropped > 0) failed(new Error(`${dropped} texts were dropped, because the disk did not accept them in time`));
    dropped = 0;
  }

  return {
    write(text) {
      if (waiting.length >= MOST_WAITING) dropped += 1;
      else waiting.push(text);
      writing ??= writeWaiting();
    },
    async close() {
      await writing;
    },
  };
}

/** Renames a log file to `<file>.1` after the earlier ones; the oldest beyond `kept` is overwritten. */
export function shiftLogFiles(file: string, kept: number): void {
  const names = [file, ...Array.from({ length: kept }, (_, n) => `${file}.${n + 1}`)];
  for (let n = kept; n > 0; n -= 1) {
    const [from, to] = [names[n - 1] as string, names[n] as string];
    if (existsSync(from)) renameSync(from, to);
  }
}

/** A link or a device, such as /dev/stdout, is never full. */
function isFull(file: string, { maxBytes }: LogLimits): boolean {
  const present = lstatSync(file, { throwIfNoEntry: false });
  return present?.isFile() === true && present.size >= maxBytes;
}

/** Makes the file where it is missing, and closes one that exists to others. */
function prepare(file: string): void {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  closeSync(openSync(file, 'a', 0o600));
  if (lstatSync(file).isFile()) chmodSync(file, 0o600);
}
