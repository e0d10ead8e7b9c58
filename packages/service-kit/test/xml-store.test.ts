import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openFileXmlStore } from '../src/xml-store/xml-store.files.js';
import type { XmlStore } from '../src/xml-store/xml-store.js';
import { archiveContract, bytes, checksum, name } from './xml-store-contract.js';

const BUILT = fileURLToPath(new URL('../dist/xml-store/xml-store.files.js', import.meta.url));
/** Prints how a document of 64 kB is kept where a file may have 4 kB, as it may where the disk is full. */
const PUT = `
  const { openFileXmlStore } = await import(process.argv[1]);
  const store = await openFileXmlStore(process.argv[2]);
  await store.put('a/b.xml', Buffer.alloc(65536)).then(() => console.log('kept'), (error) => console.log(error.code));`;

/** Stores documents of 1,000 bytes one after the other, and a small one, and prints how each ended. */
const PUT_MANY = `
  const { openFileXmlStore } = await import(process.argv[1]);
  const store = await openFileXmlStore(process.argv[2]);
  for (const [n, size] of [1000, 1000, 1000, 1000, 1000, 10].entries())
    await store.put('a/' + n + '.xml', Buffer.alloc(size, 65)).then(() => console.log('kept'), (error) => console.log(error.code));`;

/** Prints the threads of the process before it stores a document, then, and once its journal is gone for a while. */
const THREADS = `
  import { readdirSync } from 'node:fs';
  import { setTimeout as delay } from 'node:timers/promises';
  const { openFileXmlStore } = await import(process.argv[1]);
  const store = await openFileXmlStore(process.argv[2], { idleMs: 100 });
  const threads = () => readdirSync('/proc/self/task').length;
  await readdirSync('.');
  const before = threads();
  await store.put('a/b.xml', Buffer.from('<ECF>1</ECF>'));
  const busy = threads();
  while (readdirSync(process.argv[2] + '/.journal').length > 0 || threads() >= busy) await delay(50);
  console.log(before, busy, threads());`;

/** Stores a document, says so, and stays. */
const PUT_AND_WAIT = `
  const { openFileXmlStore } = await import(process.argv[1]);
  const store = await openFileXmlStore(process.argv[2]);
  await store.put('a/b.xml', Buffer.from('<ECF>1</ECF>'));
  setInterval(() => undefined, 1000);
  console.log('kept');`;

/** Runs a program over a folder where a file may have 4 kB; what it printed. */
async function inLittleRoom(program: string, folder: string): Promise<string> {
  const node = [process.execPath, '--input-type=module', '-e', program, BUILT, folder];
  return (await promisify(execFile)('/bin/sh', ['-c', 'ulimit -f 8; exec "$@"', 'sh', ...node])).stdout;
}

let root: string;
let store: XmlStore;
beforeAll(async () => {
  root = mkdtempSync(path.join(os.tmpdir(), 'ecf-xml-'));
  store = await openFileXmlStore(root);
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe('an archive of files', () => {
  archiveContract(() => store);

  it('leaves nothing unfinished behind', () => {
    expect(readdirSync(path.join(root, '.incoming'))).toEqual([]);
  });

  it('leaves nothing of what it had no room for', async () => {
    const stdout = await inLittleRoom(PUT, root);
    expect([stdout, readdirSync(path.join(root, '.incoming'))]).toEqual(['EFBIG\n', []]);
  });

  it('keeps what it confirmed before the journal had no room left, and says so of the rest', async () => {
    const folder = path.join(root, 'full');
    const stdout = await inLittleRoom(PUT_MANY, folder);
    const outcomes = stdout.trim().split('\n');
    expect(outcomes).toEqual(['kept', 'kept', 'kept', 'EFBIG', 'EFBIG', 'kept']);
    const after = await openFileXmlStore(folder);
    for (const n of [0, 1, 2]) expect(await after.get(`a/${n}.xml`)).toHaveLength(1_000);
    expect(await after.get('a/5.xml')).toHaveLength(10);
  });

  it('has what it confirmed after it was killed, and after the power went', async () => {
    const folder = path.join(root, 'killed');
    const child = spawn(process.execPath, ['--input-type=module', '-e', PUT_AND_WAIT, BUILT, folder], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    child.kill('SIGKILL');
    await once(child, 'exit');
    // What the disk need not have yet.
    truncateSync(path.join(folder, 'a/b.xml'), 0);
    const after = await openFileXmlStore(folder);
    expect((await after.get('a/b.xml')).toString()).toBe('<ECF>1</ECF>');
  });

  it('gives up its thread and its journal once nothing comes any more', async () => {
    const folder = path.join(root, 'idle');
    const idle = await openFileXmlStore(folder, { idleMs: 100 });
    for (const n of [1, 2]) {
      expect(await idle.put(name(n), bytes)).toEqual({ checksum });
      while (readdirSync(path.join(folder, '.journal')).length > 0) await delay(20);
      expect(await idle.get(name(n), checksum)).toEqual(bytes);
    }
  });

  it('ends its thread after that', async () => {
    const args = ['--input-type=module', '-e', THREADS, BUILT, path.join(root, 'threads')];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    const [before, busy, after] = stdout.trim().split(' ').map(Number) as [number, number, number];
    expect(busy).toBeGreaterThan(before);
    expect(after).toBeLessThan(busy);
  });

  it('opened for reading changes nothing: it neither makes folders nor mends', async () => {
    const folder = path.join(root, 'looked-at');
    mkdirSync(path.join(folder, 'a'), { recursive: true });
    writeFileSync(path.join(folder, 'a/b.xml'), '<ECF/>');
    const looking = await openFileXmlStore(folder, { readOnly: true });
    expect((await looking.get('a/b.xml')).toString()).toBe('<ECF/>');
    await expect(looking.put('a/c.xml', bytes)).rejects.toMatchObject({ code: 'unavailable' });
    expect(readdirSync(folder)).toEqual(['a']);
  });

  it('is read, and not ready, while what a power cut left cannot be made good', async () => {
    const folder = path.join(root, 'stuck');
    const first = await openFileXmlStore(folder);
    for (const place of ['a/b.xml', 'c/d.xml']) await first.put(place, bytes);
    rmSync(path.join(folder, 'a'), { recursive: true });
    writeFileSync(path.join(folder, 'a'), 'in the way');
    const after = await openFileXmlStore(folder);
    expect(await after.get('c/d.xml')).toEqual(bytes);
    await expect(after.ready()).rejects.toThrow();
    rmSync(path.join(folder, 'a'));
    await after.ready();
    expect(await after.get('a/b.xml')).toEqual(bytes);
  });

  it('notices a file that was altered', async () => {
    await store.put(name(6), bytes);
    writeFileSync(path.join(root, name(6)), '<ECF>n</ECF>');
    await expect(store.get(name(6), checksum)).rejects.toMatchObject({ code: 'altered' });
  });

  it('clears away what a killed process left long ago, and nothing of today', async () => {
    const old = path.join(root, '.incoming', 'old');
    writeFileSync(old, 'x');
    utimesSync(old, new Date(0), new Date(0));
    writeFileSync(path.join(root, '.incoming', 'new'), 'x');
    await openFileXmlStore(root);
    expect(readdirSync(path.join(root, '.incoming'))).toEqual(['new']);
  });
});
