import { AppendFile } from './append-file.js';

/** Keeps the exact bytes of every document. */
export interface DocumentBytes {
  /** Returns the place of the bytes. */
  put(bytes: Uint8Array): number;
  get(offset: number, length: number): Buffer;
  clear(): void;
  close(): void;
}

/** One file for all documents; a submission stores the offset of its own. */
export function documentsInFile(path: string): DocumentBytes {
  const file = new AppendFile(path);
  return {
    put: (bytes) => file.append(bytes),
    get: (offset, length) => file.read(offset, length),
    clear: () => file.truncate(),
    close: () => file.close(),
  };
}

export function documentsInMemory(): DocumentBytes {
  let documents: Buffer[] = [];
  return {
    put: (bytes) => documents.push(Buffer.from(bytes)) - 1,
    get: (offset) => documents[offset] ?? Buffer.alloc(0),
    clear: () => {
      documents = [];
    },
    close: () => undefined,
  };
}
