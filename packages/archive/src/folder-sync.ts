import { mkdir, open } from 'node:fs/promises';
import path from 'node:path';

export interface FolderSync {
  /** Makes the folder and its parents below the root, and syncs each new entry. */
  make(folder: string): Promise<void>;
  /** Resolves when the entries of the folder are on the disk. */
  sync(folder: string): Promise<void>;
  /** Forgets which folders exist, after one of them was found missing. */
  forget(): void;
}

/** Most folders that are remembered. */
const REMEMBERED = 50_000;

/** Durable folder entries below `root`. The name of a file survives a power cut only after its folder was synced. */
export function createFolderSync(root: string): FolderSync {
  const made = new Map<string, Promise<void>>();

  async function makeNow(folder: string): Promise<void> {
    await mkdir(folder, { recursive: true });
    if (folder === root || !folder.startsWith(root)) return;
    await make(path.dirname(folder));
    await syncFolder(path.dirname(folder));
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

  return { make, sync: syncFolder, forget: () => made.clear() };
}

/** Resolves when the entries of the folder are on the disk. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } catch (error) {
    // Some systems cannot sync a folder.
    const code = (error as NodeJS.ErrnoException).code;
    if (code !== 'EPERM' && code !== 'EINVAL' && code !== 'EISDIR') throw error;
  } finally {
    await handle.close();
  }
}
