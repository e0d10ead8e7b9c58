import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openFileXmlStore } from '../src/xml-store.files.js';
import type { XmlStore } from '../src/xml-store.js';
import { archiveContract, bytes, checksum, name } from './xml-store-contract.js';

const BUILT = fileURLToPath(new URL('../dist/xml-store.files.js', import.meta.url));
/** Prints how a document of 64 kB is kept where a file may have 4 kB, as it may where the disk is full. */
const PUT = `
  const { openFileXmlStore } = await import(process.argv[1]);
  const store = await openFileXmlStore(process.argv[2]);
  await store.put('a/b.xml', Buffer.alloc(65536)).then(() => console.log('kept'), (error) => console.log(error.code));`;

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
    const args = [
      '-c',
      'ulimit -f 8; exec "$@"',
      'sh',
      process.execPath,
      '--input-type=module',
      '-e',
      PUT,
      BUILT,
      root,
    ];
    const { stdout } = await promisify(execFile)('/bin/sh', args);
    expect([stdout, readdirSync(path.join(root, '.incoming'))]).toEqual(['EFBIG\n', []]);
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
