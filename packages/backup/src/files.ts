import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import path from 'node:path';
import { type Readable, Transform, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import type { BackupFile } from './manifest.js';

/** The fastest level: tables shrink to a quarter, and a higher one takes three times as long for a tenth less. */
const LEVEL = 1;

/** Compresses a stream into a new file, and syncs it. */
export async function writeCompressed(root: string, file: string, source: Readable): Promise<BackupFile> {
  const sum = createChecksum();
  const target = createWriteStream(path.join(root, file), { flags: 'wx', mode: 0o600, flush: true });
  await pipeline(source, createGzip({ level: LEVEL }), sum.through, target);
  return { path: file, ...sum.result() };
}

/** Decompresses a file into a stream. */
export function readCompressed(root: string, { path: file }: BackupFile, target: Writable): Promise<void> {
  return pipeline(createReadStream(path.join(root, file)), createGunzip(), target);
}

/** The lines of a compressed file. */
export async function* compressedLines(root: string, { path: file }: BackupFile): AsyncGenerator<string> {
  const text = createGunzip();
  const reading = pipeline(createReadStream(path.join(root, file)), text);
  // A failure also ends the loop below.
  reading.catch(() => undefined);
  let rest = '';
  for await (const chunk of text.setEncoding('utf8')) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
  await reading;
}

/** Whether a file has the size and the checksum of the manifest; `missing` if it does not exist. */
export async function stateOf(
  root: string,
  { path: file, ...expected }: BackupFile,
): Promise<'good' | 'altered' | 'missing'> {
  const sum = createChecksum();
  try {
    await pipeline(createReadStream(path.join(root, file)), sum.through.resume());
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'missing';
    throw error;
  }
  const { bytes, sha256 } = sum.result();
  return bytes === expected.bytes && sha256 === expected.sha256 ? 'good' : 'altered';
}

function createChecksum() {
  const hash = createHash('sha256');
  let bytes = 0;
  const through = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      hash.update(chunk);
      done(null, chunk);
    },
  });
  return { through, result: () => ({ bytes, sha256: hash.digest('hex') }) };
}
