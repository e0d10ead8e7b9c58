import { readFileSync, statSync } from 'node:fs';
import type { Logger, Metrics } from '@ecf/kit/telemetry';
import { type RevokedCertificates, readRevokedCertificates } from '@ecf/xml-signing';

/** A changed file counts after this time at most. */
const CHECK_MS = 5_000;

/** A file of revoked certificates that may change while the service runs. */
export interface Revocations {
  readonly file: string;
  /** The last content of the file that could be read. */
  readonly content: Uint8Array;
  /** The certificates in the file. While a changed file cannot be read, those listed before. */
  current(): RevokedCertificates;
  /** Why the present file cannot be read; null if it can. */
  problem(): string | null;
}

/**
 * Reads the file now, and again after it changed. A use checks its time of change every few seconds at most.
 * @param former content that was read before; it counts while the present file cannot be read
 * @throws Error if it cannot be read or is empty, and no list was read before
 */
export function openRevocations(
  file: string,
  { former = null, elapsed = () => performance.now() }: { former?: Uint8Array | null; elapsed?: () => number } = {},
): Revocations {
  let version = former === null ? versionOf(file) : null;
  let content = former ?? readFileSync(file);
  let revoked = readRevokedCertificates(content);
  let problem: string | null = null;
  let checked = former === null ? elapsed() : Number.NEGATIVE_INFINITY;

  function refresh(): void {
    if (elapsed() - checked < CHECK_MS) return;
    checked = elapsed();
    try {
      const present = versionOf(file);
      if (present === version && problem === null) return;
      const read = readFileSync(file);
      revoked = readRevokedCertificates(read);
      [content, version, problem] = [read, present, null];
    } catch (error) {
      problem = error instanceof Error ? error.message : String(error);
    }
  }

  return {
    file,
    get content() {
      return content;
    },
    current() {
      refresh();
      return revoked;
    },
    problem() {
      refresh();
      return problem;
    },
  };
}

/** Changes with the content: a file that is written in place, or replaced. */
function versionOf(file: string): string {
  const { mtimeMs, size, ino } = statSync(file);
  return `${mtimeMs}:${size}:${ino}`;
}

/** Reports before each reading of the metrics whether the file can be read; returns how to end that. */
export function reportRevocations(
  revocations: Revocations | null,
  { service, metrics, logger }: { service: string; metrics: Metrics; logger: Logger },
): () => void {
  const unreadable = metrics.gauge({
    name: 'ecf_revocation_file_unreadable',
    help: '1 while REVOKED_CERTIFICATES_FILE cannot be read: what it listed before counts.',
    labels: ['service'],
  });
  const listed = metrics.gauge({
    name: 'ecf_revoked_certificates',
    help: 'Certificates that REVOKED_CERTIFICATES_FILE lists.',
    labels: ['service'],
  });
  if (revocations === null) return () => undefined;
  let reported: string | null = null;
  const report = async () => {
    const problem = revocations.problem();
    if (problem !== null && problem !== reported)
      logger.error(
        { file: revocations.file, problem },
        'the file of revoked certificates cannot be read; the former list counts',
      );
    reported = problem;
    unreadable.set({ service }, problem === null ? 0 : 1);
    listed.set({ service }, revocations.current().size);
  };
  const timer = setInterval(() => void report(), CHECK_MS);
  timer.unref();
  const end = metrics.onRender(report);
  return () => {
    clearInterval(timer);
    end();
  };
}
