import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openFileXmlStore } from '../src/xml-store.files.js';
import type { XmlStore } from '../src/xml-store.js';
import { archiveContract, bytes, checksum, name } from './xml-store-contract.js';

const BUILT = fileURLToPath(new URL('../dist/xml-store.files.js', import.meta.url));
/** Prints the result of storing 64 kB while a file may have 4 kB, which is like a full disk. */
const PUT = `
  const { openFileXmlStore } = await import(process.argv[1]);
  const store = await openFileXmlStore(process.argv[2]);
  await store.put('a/b.xml', Buffer.alloc(65536)).then(() => console.log('kept'), (error) => console.log(error.code));`;

/** Stores a document, prints a line, and keeps running. */
const PUT_AND_WAIT = `
  const { openFileXmlStore } = await import(process.argv[1]);
  const store = await openFileXmlStore(process.argv[2]);
  await store.put('a/b.xml', Buffer.from('<ECF>1</ECF>'));
  setInterval(() => undefined, 1000);
  console.log('kept');`;

/** Runs a program that may write files of at most 4 kB; resolves with its output. */
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

  it('leaves no unfinished file behind', () => {
    expect(readdirSync(path.join(root, '.incoming'))).toEqual([]);
  });

  it('leaves no file behind of a document for which the disk has no space', async () => {
    const stdout = await inLittleRoom(PUT, root);
    expect([stdout, readdirSync(path.join(root, '.incoming'))]).toEqual(['EFBIG\n', []]);
  });

  it('has every confirmed document after its process was killed', async () => {
    const folder = path.join(root, 'killed');
    const child = spawn(process.execPath, ['--input-type=module', '-e', PUT_AND_WAIT, BUILT, folder], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    child.kill('SIGKILL');
    await once(child, 'exit');
    const after = await openFileXmlStore(folder);
    expect((await after.get('a/b.xml')).toString()).toBe('<ECF>1</ECF>');
  });

  it('creates no folders when it is opened for reading', async () => {
    const folder = path.join(root, 'looked-at');
    mkdirSync(path.join(folder, 'a'), { recursive: true });
    writeFileSync(path.join(folder, 'a/b.xml'), '<ECF/>');
    const looking = await openFileXmlStore(folder, { readOnly: true });
    expect((await looking.get('a/b.xml')).toString()).toBe('<ECF/>');
    await expect(looking.put('a/c.xml', bytes)).rejects.toMatchObject({ code: 'unavailable' });
    expect(readdirSync(folder)).toEqual(['a']);
  });

  it('stores again after a folder was removed', async () => {
    const folder = path.join(root, 'removed');
    const removed = await openFileXmlStore(folder);
    await removed.put('a/b.xml', bytes);
    rmSync(path.join(folder, 'a'), { recursive: true });
    await expect(removed.put('a/b.xml', bytes)).rejects.toThrow();
    expect(await removed.put('a/b.xml', bytes)).toEqual({ checksum });
  });

  it('is not ready and creates nothing while its root is missing', async () => {
    const folder = path.join(root, 'mounted');
    const mounted = await openFileXmlStore(folder);
    renameSync(folder, `${folder}-away`);
    for (const place of ['a/b.xml', 'a/b.xml', 'c/d.xml'])
      await expect(mounted.put(place, bytes)).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(mounted.ready()).rejects.toThrow();
    expect(existsSync(folder)).toBe(false);
    renameSync(`${folder}-away`, folder);
    await mounted.ready();
    expect(await mounted.put('a/b.xml', bytes)).toEqual({ checksum });
  });

  it('notices a file that was altered', async () => {
    await store.put(name(6), bytes);
    writeFileSync(path.join(root, name(6)), '<ECF>n</ECF>');
    await expect(store.get(name(6), checksum)).rejects.toMatchObject({ code: 'altered' });
  });

  it('removes old temporary files of a killed process, but none of today', async () => {
    const old = path.join(root, '.incoming', 'old');
    writeFileSync(old, 'x');
    utimesSync(old, new Date(0), new Date(0));
    writeFileSync(path.join(root, '.incoming', 'new'), 'x');
    await openFileXmlStore(root);
    expect(readdirSync(path.join(root, '.incoming'))).toEqual(['new']);
  });
});
