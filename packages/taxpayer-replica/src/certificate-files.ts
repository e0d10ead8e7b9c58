import type { WatchQueue } from '@ecf/kit/telemetry';
import { compiledWorker, startBoundedWorkers, TaskTooCostly } from '@ecf/kit/worker-threads';
import {
  type CertificateFile,
  type OpenedFile,
  openedCertificate,
  type SigningCertificate,
  tooCostlyFile,
} from '@ecf/xml-signing';

/** A file of the most rounds that are accepted takes a quarter of it. */
const TIMEOUT_MS = 30_000;
const MAX_WAITING = 256;

/** Opens certificate files in a worker thread: the key derivation of one file takes up to seconds. */
export function createCertificateFiles(watchQueue: WatchQueue): {
  /**
   * @param owner the account whose file it is; accounts take turns
   * @throws CertificateError
   */
  open(p12: Uint8Array, password: string, now: Date, owner?: string): Promise<SigningCertificate>;
  close(): Promise<void>;
} {
  const worker = compiledWorker(import.meta, 'certificate-file-worker');
  const limits = { maxThreads: 1, timeoutMs: TIMEOUT_MS, maxWaiting: MAX_WAITING };
  const workers = startBoundedWorkers({ worker, ...limits, queue: 'certificate_files', watchQueue });
  return {
    async open(p12, password, now, owner) {
      const file: CertificateFile = { p12, password, now };
      const answer = await workers.run<OpenedFile>(file, { owner }).catch((error: unknown) => {
        throw error instanceof TaskTooCostly
          ? tooCostlyFile(`it takes more than ${TIMEOUT_MS / 1_000} s, or too much memory`, error)
          : error;
      });
      return openedCertificate(answer);
    },
    close: workers.close,
  };
}
