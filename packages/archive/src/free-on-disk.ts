import { statfs } from 'node:fs/promises';
import path from 'node:path';

/** Bytes that are free to this user on the disk where the folder is, or will be made. */
export async function freeOnDisk(folder: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  } catch (error) {
    const above = path.dirname(path.resolve(folder));
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || above === path.resolve(folder)) throw error;
    return freeOnDisk(above);
  }
}
