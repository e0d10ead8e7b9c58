import { Worker } from 'node:worker_threads';
import { XmlStoreError } from '../xml-store.js';
import { WRITTEN_BACK_MS } from './archive-folder.js';
import type { ArchivedDocument } from './archive-journal.js';
import type { ArchiveFailure, ArchiveReply, ArchiveTask } from './archive-thread.js';

/** Writes the documents of one folder in a thread of its own, those that come together as one. */
export interface ArchiveWriter {
  /** Resolves once the bytes outlive a power cut; rejects with the store's errors and the file system's. */
  store(document: ArchivedDocument): Promise<void>;
  /** Makes good what a power cut left. */
  recover(): Promise<void>;
}

interface Waiting {
  readonly document: ArchivedDocument;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

interface Asked {
  readonly resolve: (reply: ArchiveReply) => void;
  readonly reject: (error: Error) => void;
}

type Task<T = ArchiveTask> = T extends unknown ? Omit<T, 'id'> : never;

const MOST_DOCUMENTS = 64;
const MOST_BYTES = 16 * 1024 * 1024;
// Threads run compiled code, also where this file is read from its source.
const THREAD = new URL(
  import.meta.url.endsWith('.ts') ? '../../../dist/xml-store/journal/archive-thread.js' : './archive-thread.js',
  import.meta.url,
);

const writers = new Map<string, ArchiveWriter>();

/**
 * The writer of a folder: all archives of a process that are kept there share it.
 *
 * @param idleMs milliseconds after which a thread that has nothing to do brings its files to the disk and ends
 */
export function archiveWriter(root: string, idleMs = WRITTEN_BACK_MS): ArchiveWriter {
  const writer = writers.get(root) ?? createArchiveWriter(root, idleMs);
  writers.set(root, writer);
  return writer;
}

function createArchiveWriter(root: string, idleMs: number): ArchiveWriter {
  const asked = new Map<number, Asked>();
  let waiting: Waiting[] = [];
  let thread: Worker | null = null;
  let idle: NodeJS.Timeout | undefined;
  let lastId = 0;
  let storing = false;
  let scheduled = false;

  function start(): Worker {
    // Without what the process itself begins with: telemetry has nothing to see here.
    const worker = new Worker(THREAD, { workerData: root, execArgv: [] });
    worker.on('message', (reply: ArchiveReply) => {
      asked.get(reply.id)?.resolve(reply);
    });
    worker.on('error', (cause) => lose(worker, cause));
    worker.on('exit', () => lose(worker));
    return worker;
  }

  function lose(worker: Worker, cause?: unknown): void {
    if (thread !== worker) return;
    thread = null;
    const error = new XmlStoreError('unavailable', 'The thread that stores documents has ended.', { cause });
    for (const { reject } of asked.values()) reject(error);
  }

  async function ask(task: Task, transfer: ArrayBuffer[] = []): Promise<ArchiveReply> {
    clearTimeout(idle);
    thread ??= start();
    thread.ref();
    lastId += 1;
    const id = lastId;
    try {
      const reply = await new Promise<ArchiveReply>((resolve, reject) => {
        asked.set(id, { resolve, reject });
        thread?.postMessage({ id, ...task }, transfer);
      });
      if (reply.failure !== null) throw errorOf(reply.failure);
      return reply;
    } finally {
      asked.delete(id);
      if (asked.size === 0) rest();
    }
  }

  /** Nothing is under way: the process may end over it. */
  function rest(): void {
    thread?.unref();
    clearTimeout(idle);
    idle = setTimeout(() => void end(), idleMs);
    idle.unref();
  }

  async function end(): Promise<void> {
    const present = thread;
    if (present === null) return;
    const before = lastId;
    // What cannot be brought to the disk stays in the journal, and is tried again.
    const settled = await ask({ settle: true }).then(
      () => true,
      () => false,
    );
    if (!settled || thread !== present || lastId !== before + 1) return;
    clearTimeout(idle);
    thread = null;
    await present.terminate();
  }

  function schedule(): void {
    if (scheduled || storing || waiting.length === 0) return;
    scheduled = true;
    // After the callbacks of this turn, so that documents that come together are stored together.
    setImmediate(() => {
      scheduled = false;
      void storeSome();
    });
  }

  async function storeSome(): Promise<void> {
    const batch = take();
    storing = true;
    try {
      // The caller goes on using its bytes, so the thread gets a copy, which takes no second one.
      const documents = batch.map(({ document }) => ({ ...document, bytes: new Uint8Array(document.bytes) }));
      const buffers = documents.map(({ bytes }) => bytes.buffer as ArrayBuffer);
      const { failures } = await ask({ store: documents }, buffers);
      batch.forEach(({ resolve, reject }, index) => {
        const failure = failures[index] ?? null;
        if (failure === null) resolve();
        else reject(errorOf(failure));
      });
    } catch (error) {
      for (const { reject } of batch) reject(error as Error);
    } finally {
      storing = false;
      schedule();
    }
  }

  function take(): Waiting[] {
    let bytes = 0;
    let count = 0;
    while (count < waiting.length && count < MOST_DOCUMENTS && (count === 0 || bytes < MOST_BYTES)) {
      bytes += waiting[count]?.document.bytes.length ?? 0;
      count += 1;
    }
    const batch = waiting.slice(0, count);
    waiting = waiting.slice(count);
    return batch;
  }

  return {
    store: (document) =>
      new Promise((resolve, reject) => {
        waiting.push({ document, resolve, reject });
        schedule();
      }),
    async recover() {
      await ask({ recover: true });
    },
  };
}

function errorOf({ message, code, stored }: ArchiveFailure): Error {
  return stored === null ? Object.assign(new Error(message), { code }) : new XmlStoreError(stored, message);
}
