import { readFile } from 'node:fs/promises';
import type { Console } from '../command.js';
import { UsageError } from '../options.js';

/** More than any document has. More from standard input is refused before it fills the memory. */
const LARGEST = 64 * 1024 * 1024;

const REMEDIES: Record<string, string> = {
  ENOENT: 'does not exist. Check the name and the folder',
  EISDIR: 'is a folder. Name the files in it, as in folder/*.xml',
  EACCES: 'may not be read. Check its permissions',
};

/**
 * The bytes of a file, or of standard input for `-`.
 *
 * @throws UsageError naming the file and the remedy
 */
export async function readDocument(file: string, console: Console): Promise<Uint8Array> {
  if (file === '-') {
    announceTerminal(console);
    return readAll(console.stdin);
  }
  try {
    return await readFile(file);
  } catch (error) {
    throw unreadable(file, error);
  }
}

export function unreadable(file: string, error: unknown): UsageError {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return new UsageError(`${file} ${REMEDIES[code] ?? `cannot be read (${message})`}.`, { cause: error });
}

/** The one FILE of a command that takes one; none means standard input. */
export function onlyFile(files: string[]): string {
  const [file = '-', ...more] = files;
  if (more.length > 0) throw new UsageError(`one FILE is taken, ${files.length} were given.`);
  return file;
}

/** True for XML, false for JSON: decided by the first character that is neither a blank nor a byte order mark. */
export function isXml(bytes: Uint8Array): boolean {
  let at = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  while (bytes[at] === 0x20 || bytes[at] === 0x09 || bytes[at] === 0x0a || bytes[at] === 0x0d) at++;
  return bytes[at] === 0x3c;
}

/** Prints on a terminal that the command waits for input. */
export function announceTerminal({ stdin, stderr }: Console): void {
  if (stdin.isTTY) stderr.write('reading from the terminal; end with Ctrl-D\n');
}

async function readAll(stream: NodeJS.ReadStream): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream) {
    chunks.push(chunk as Buffer);
    length += (chunk as Buffer).length;
    if (length > LARGEST) throw new UsageError('standard input brings more than 64 MB for one document.');
  }
  return Buffer.concat(chunks);
}
