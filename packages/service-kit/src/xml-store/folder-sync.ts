import { mkdir, open } from 'node:fs/promises';
import path from 'node:path';

export interface FolderSync {
  /** Makes the folder and its parents down from the root, each entry synced once. */
  make(folder: string): Promise<void>;
  /** Resolves when a sync that began after this call has ended; calls that wait together share one. */
  sync(folder: string): Promise<void>;
}

/** Folders whose existence is remembered; beyond that all are looked at again. */
const REMEMBERED = 50_000;

interface Running {
  current: Promise<void>;
  next: Promise<void> | null;
}

/** Durable folder entries below `root`. A file's name outlives a power cut only once its folder was synced. */
export function createFolderSync(root: string): FolderSync {
  const made = new Map<string, Promise<void>>();
  const running = new Map<string, Running>();

  function sync(folder: string): Promise<void> {
    const state = running.get(folder);
    if (state !== undefined) {
      state.next ??= state.current.catch(() => undefined).then(() => start(folder));
      return state.next;
    }
    return start(folder);
  }

  function start(folder: string): Promise<void> {
    const current = syncNow(folder);
    const state: Running = { current, next: null };
    running.set(folder, state);
    const done = () => {
      if (running.get(folder) === state && state.next === null) running.delete(folder);
    };
    current.then(done, done);
    return current;
  }

  async function makeNow(folder: string): Promise<void> {
    await mkdir(folder, { recursive: true });
    if (folder === root || !folder.startsWith(root)) return;
    await make(path.dirname(folder));
    await sync(path.dirname(folder));
  }

  function make(folder: string): Promise<void> {
    let ready = made.get(folder);
    if (ready === undefined) {
      if (made.size >= REMEMBERED) made.clear();
      ready = makeNow(folder);
      made.set(folder, ready);
      ready.catch(() => made.delete(folder));
    }
    return ready;
  }

  return { make, sync };
}

async function syncNow(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code !== 'EPERM' && code !== 'EINVAL' && code !== 'EISDIR') throw error;
  } finally {
    await handle.close();
  }
}
