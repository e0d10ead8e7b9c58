import fs from 'node:fs';

/** Removes a file that may be gone. */
export function removeIfThere(file: string): void {
  try {
    fs.unlinkSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

/** Null where there is no file. */
export function readIfThere(file: string): Buffer | null {
  try {
    return fs.readFileSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Holds nothing but what reached the disk of the document: its beginning, or zeros in place of the rest. No document has a NUL. */
export function isTorn(present: Uint8Array, bytes: Uint8Array): boolean {
  return present.length <= bytes.length && present.every((byte, index) => byte === 0 || byte === bytes[index]);
}

/** Writes all of the parts at a place of the file; how many bytes that was. */
export function writeAll(fd: number, parts: readonly Uint8Array[], position: number): number {
  const whole = parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts);
  for (let written = 0; written < whole.length; )
    written += fs.writeSync(fd, whole, written, whole.length - written, position + written);
  return whole.length;
}

/** Waits for the disk. */
export function syncFile(file: string): void {
  const fd = fs.openSync(file, 'r');
  try {
    fs.fdatasyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}

/** False where the disk did not take it; true of a file that was taken away since: that is nobody's concern here. */
export function isSynced(file: string): boolean {
  try {
    syncFile(file);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}
