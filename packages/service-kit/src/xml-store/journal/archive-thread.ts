import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { XmlStoreError, type XmlStoreErrorCode } from '../xml-store.js';
import { createArchiveFolder } from './archive-folder.js';
import type { ArchivedDocument } from './archive-journal.js';

/** What a thread is asked; it answers under the same id. */
export type ArchiveTask = { readonly id: number } & (
  | { readonly store: readonly ArchivedDocument[] }
  | { readonly settle: true }
  | { readonly recover: true }
);

/** An error on its way between threads, where errors lose their class and what they carry. */
export interface ArchiveFailure {
  readonly message: string;
  readonly code: string | undefined;
  /** Of the store's own errors. */
  readonly stored: XmlStoreErrorCode | null;
}

/** `failures`: one of each document of `store`, null where it is stored; empty for the other tasks. */
export interface ArchiveReply {
  readonly id: number;
  readonly failures: readonly (ArchiveFailure | null)[];
  /** Why the whole task failed. */
  readonly failure: ArchiveFailure | null;
}

const port = parentPort as MessagePort;
const folder = createArchiveFolder(workerData as string);

port.on('message', async (task: ArchiveTask) => {
  const { id } = task;
  try {
    const failures = await work(task);
    port.postMessage({ id, failures: failures.map((each) => each && failureOf(each)), failure: null });
  } catch (error) {
    port.postMessage({ id, failures: [], failure: failureOf(error) });
  }
});

async function work(task: ArchiveTask): Promise<(Error | null)[]> {
  if ('store' in task) return folder.store(task.store);
  await ('settle' in task ? folder.settle() : folder.recover());
  return [];
}

function failureOf(error: unknown): ArchiveFailure {
  const { message, code } = error as NodeJS.ErrnoException;
  return { message, code, stored: error instanceof XmlStoreError ? error.code : null };
}
