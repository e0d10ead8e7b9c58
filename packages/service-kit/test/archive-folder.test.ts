import fs, {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createArchiveFolder, INCOMING, JOURNAL, WRITTEN_BACK_MS } from '../src/xml-store/journal/archive-folder.js';
import {
  type ArchivedDocument,
  journalEntries,
  readJournal,
  sha256Of,
} from '../src/xml-store/journal/archive-journal.js';
import type { ArchiveSegmentsOptions } from '../src/xml-store/journal/archive-segments.js';

const HOUR = 3_600_000;
/** As they are while the module's own are watched. */
const real = { ...fs };
let root: string;
beforeEach(() => {
  root = mkdtempSync(path.join(os.tmpdir(), 'ecf-archive-'));
  for (const folder of [INCOMING, JOURNAL]) mkdirSync(at(folder));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const at = (...parts: string[]) => path.join(root, ...parts);
const journal = () => readdirSync(at(JOURNAL));
const open = (options?: ArchiveSegmentsOptions) => createArchiveFolder(root, options);
const written = (document: ArchivedDocument) => readFileSync(at(document.path)).toString();

function documentOf(n: number, text = `<ECF>${'ñ'.repeat(500)} ${n}</ECF>`): ArchivedDocument {
  const bytes = Buffer.from(text);
  return { path: `TesteCF/ecf/131000001/issued/2026/0${n % 9}/${n}.xml`, bytes, sha256: sha256Of(bytes) };
}

describe('the folder of an archive', () => {
  it('has what it stored in the files and in the journal, until the files are on the disk', async () => {
    const folder = open();
    const documents = [1, 2, 3].map((n) => documentOf(n));
    expect(await folder.store(documents)).toEqual([null, null, null]);
    for (const document of documents) expect(readFileSync(at(document.path))).toEqual(document.bytes);
    const [segment] = journal();
    const kept = [...readJournal(readFileSync(at(JOURNAL, segment as string)))];
    expect(kept.map(({ path: place, sha256 }) => [place, sha256])).toEqual(
      documents.map(({ path: place, sha256 }) => [place, sha256]),
    );
    await folder.settle();
    expect(journal()).toEqual([]);
    expect(readdirSync(at(INCOMING))).toEqual([]);
  });

  it('writes again what a power cut left missing, cut short, empty or full of zeros', async () => {
    const documents = [1, 2, 3, 4, 5].map((n) => documentOf(n));
    await open().store(documents);
    const [, missing, cut, empty, zeros] = documents.map((each) => at(each.path)) as [
      string,
      string,
      string,
      string,
      string,
    ];
    rmSync(missing);
    truncateSync(cut, 100);
    truncateSync(empty, 0);
    writeFileSync(zeros, Buffer.concat([readFileSync(zeros).subarray(0, 512), Buffer.alloc(300)]));
    await open().recover();
    for (const document of documents) expect(readFileSync(at(document.path))).toEqual(document.bytes);
    expect(readdirSync(at(INCOMING))).toEqual([]);
  });

  it('leaves alone what somebody else put in the place of a document', async () => {
    const [mine, next] = [documentOf(1), documentOf(2)];
    await open().store([mine, next]);
    writeFileSync(at(mine.path), '<ECF>another</ECF>');
    rmSync(at(next.path));
    const anHourAgo = new Date(Date.now() - HOUR);
    utimesSync(at(JOURNAL, journal()[0] as string), anHourAgo, anHourAgo);
    await open().recover();
    expect([written(mine), written(next)]).toEqual(['<ECF>another</ECF>', next.bytes.toString()]);
    // The only place that has the first one still.
    expect(journal()).toHaveLength(1);
  });

  it.each(['half an entry', 'an entry whose bytes are not its own', 'zeros', 'an entry that points outside'])(
    'takes what stands before %s at the end of a segment',
    async (what) => {
      const [first, torn] = [documentOf(1), documentOf(2)];
      await open().store([first]);
      rmSync(at(first.path));
      const entry = Buffer.concat(journalEntries([torn]));
      const outside = { ...torn, path: '../outside.xml' };
      const ends: Record<string, Buffer> = {
        'half an entry': entry.subarray(0, entry.length / 2),
        'an entry whose bytes are not its own': Buffer.concat([entry.subarray(0, -10), Buffer.from('XXXXXXXXX\n')]),
        zeros: Buffer.alloc(5_000),
        'an entry that points outside': Buffer.concat(journalEntries([outside])),
      };
      appendFileSync(at(JOURNAL, journal()[0] as string), ends[what] as Buffer);
      await open().recover();
      expect(readFileSync(at(first.path))).toEqual(first.bytes);
      expect(() => written(torn)).toThrow('ENOENT');
    },
  );

  it('removes the segment of a process that is long gone, and none that may have an owner', async () => {
    const document = documentOf(1);
    await open().store([document]);
    rmSync(at(document.path));
    await open().recover();
    expect(journal()).toHaveLength(1);
    const [segment] = journal();
    const anHourAgo = new Date(Date.now() - HOUR);
    utimesSync(at(JOURNAL, segment as string), anHourAgo, anHourAgo);
    rmSync(at(document.path));
    await open().recover();
    expect(journal()).toEqual([]);
    expect(readFileSync(at(document.path))).toEqual(document.bytes);
  });

  it('closes a segment that is large or old, and brings its files to the disk while others are stored', async () => {
    let now = Date.now();
    const folder = open({ segmentBytes: 3_000, segmentMs: 30_000, now: () => now });
    const stored: ArchivedDocument[] = [];
    for (let n = 1; n <= 10; n += 1) {
      stored.push(documentOf(n));
      expect(await folder.store([stored.at(-1) as ArchivedDocument])).toEqual([null]);
    }
    expect(journal()).toHaveLength(4);
    now += WRITTEN_BACK_MS + 1;
    await folder.store([documentOf(11)]);
    // Those of before, without being asked.
    while (journal().length > 1) await delay(10);
    await folder.settle();
    expect(journal()).toEqual([]);
    for (const document of stored) expect(readFileSync(at(document.path))).toEqual(document.bytes);
  });

  it('settles though files were taken away since', async () => {
    const folder = open();
    await folder.store([documentOf(1), documentOf(2)]);
    rmSync(at('TesteCF'), { recursive: true });
    await folder.settle();
    expect(journal()).toEqual([]);
  });

  it('keeps in the journal what cannot be settled, and settles it later', async () => {
    const folder = open();
    const document = documentOf(1);
    await folder.store([document]);
    rmSync(at('TesteCF'), { recursive: true });
    writeFileSync(at('TesteCF'), 'where folders have to be');
    await expect(folder.settle()).rejects.toThrow('TesteCF');
    expect(journal()).toHaveLength(1);
    rmSync(at('TesteCF'));
    await folder.settle();
    expect(journal()).toEqual([]);
    expect(readFileSync(at(document.path))).toEqual(document.bytes);
  });

  it('tells each document of a batch what became of it', async () => {
    const folder = open();
    const taken = documentOf(1);
    await folder.store([taken]);
    const other = documentOf(1, '<ECF>other</ECF>');
    const [again, refused, fine] = await folder.store([taken, other, documentOf(2)]);
    expect([again, fine]).toEqual([null, null]);
    expect(refused).toMatchObject({ name: 'XmlStoreError', code: 'exists' });
    expect(written(taken)).toBe(taken.bytes.toString());
    await folder.settle();
  });

  it('takes no document for the beginning of another', async () => {
    const folder = open();
    const short = documentOf(1, '<a/>');
    const long = { ...documentOf(1, '<a/>x') };
    expect(await folder.store([short])).toEqual([null]);
    expect(await folder.store([long])).toMatchObject([{ code: 'exists' }]);
    expect(written(short)).toBe('<a/>');
    await folder.settle();
  });

  it('stores one of several of a batch that ask for the same path', async () => {
    const folder = open();
    const [one, two] = [documentOf(1, 'one'), documentOf(1, 'two')];
    expect(await folder.store([one, two, one])).toMatchObject([null, { code: 'exists' }, null]);
    expect(written(one)).toBe('one');
    expect([...readJournal(readFileSync(at(JOURNAL, journal()[0] as string)))].map(({ sha256 }) => sha256)).toEqual([
      one.sha256,
      one.sha256,
    ]);
  });

  it('tells all that ask for one path of a batch where it cannot be given', async () => {
    const folder = open();
    const document = documentOf(1);
    const failing = jest.spyOn(fs, 'linkSync').mockImplementationOnce(() => {
      throw Object.assign(new Error('EACCES'), { code: 'EACCES' });
    });
    expect(await folder.store([document, document, documentOf(2)])).toMatchObject([
      { code: 'EACCES' },
      { code: 'EACCES' },
      null,
    ]);
    failing.mockRestore();
    expect(await folder.store([document])).toEqual([null]);
    await folder.settle();
  });

  it('confirms to nobody what no other of the batch could write', async () => {
    const folder = open();
    const document = documentOf(1);
    await folder.store([documentOf(2)]);
    for (const failures of [1, 2]) {
      const failing = jest.spyOn(fs, 'openSync');
      for (let times = 0; times < failures; times += 1)
        failing.mockImplementationOnce(() => {
          throw Object.assign(new Error('EMFILE'), { code: 'EMFILE' });
        });
      const outcomes = await folder.store([document, document]);
      failing.mockRestore();
      if (failures === 1) rmSync(at(document.path));
      expect(outcomes.map((each) => each === null)).toEqual([false, failures === 1]);
    }
    expect(() => written(document)).toThrow('ENOENT');
    expect(await folder.store([document])).toEqual([null]);
    await folder.settle();
    expect(readFileSync(at(document.path))).toEqual(document.bytes);
  });

  it('settles a segment behind one that cannot be', async () => {
    let now = Date.now();
    const folder = open({ segmentMs: 10, now: () => now });
    const [stuck, fine] = [documentOf(1), { ...documentOf(2), path: 'CerteCF/a.xml' }];
    for (const each of [stuck, fine]) {
      await folder.store([each]);
      now += 11;
      await folder.store([each]);
    }
    rmSync(at('TesteCF'), { recursive: true });
    writeFileSync(at('TesteCF'), 'in the way');
    const before = journal().length;
    await expect(folder.settle()).rejects.toThrow('TesteCF');
    expect(journal().length).toBeLessThan(before);
    rmSync(at('TesteCF'));
    await folder.settle();
    expect(journal()).toEqual([]);
  });

  it('confirms nothing before the journal is on the disk, and removes none of it before the files and folders are', async () => {
    const names = new Map<number, string>();
    const steps: string[] = [];
    const nameOf = (file: string) => (file.includes(JOURNAL) ? 'journal' : path.relative(root, file));
    const opened = jest.spyOn(fs, 'openSync').mockImplementation((file, flags, mode) => {
      const fd = real.openSync(file, flags, mode);
      names.set(fd, nameOf(String(file)));
      return fd;
    });
    const synced = jest.spyOn(fs, 'fdatasyncSync').mockImplementation((fd) => {
      steps.push(`sync ${names.get(fd)}`);
      real.fdatasyncSync(fd);
    });
    const removed = jest.spyOn(fs, 'unlinkSync').mockImplementation((file) => {
      if (nameOf(String(file)) === 'journal') steps.push('remove journal');
      real.unlinkSync(file);
    });
    try {
      const folder = open();
      const [one, two] = [documentOf(1), documentOf(2)];
      await folder.store([one, two]);
      expect(steps).toEqual(['sync journal']);
      await folder.settle();
      expect(steps).toEqual(['sync journal', `sync ${one.path}`, `sync ${two.path}`, 'remove journal']);
    } finally {
      for (const spy of [opened, synced, removed]) spy.mockRestore();
    }
  });

  it('writes a document anew whose sync has failed once, for the next one may be a success over nothing', async () => {
    const folder = open();
    const document = documentOf(1);
    await folder.store([document]);
    const before = statSync(at(document.path)).ino;
    const failing = jest.spyOn(fs, 'fdatasyncSync').mockImplementationOnce(() => {
      throw Object.assign(new Error('EIO'), { code: 'EIO' });
    });
    await folder.settle();
    failing.mockRestore();
    expect(journal()).toEqual([]);
    expect(statSync(at(document.path)).ino).not.toBe(before);
    expect(readFileSync(at(document.path))).toEqual(document.bytes);
  });

  it('refuses what the journal could not be synced for, gives it no path, and goes on in a new segment', async () => {
    const folder = open();
    const [lost, next] = [documentOf(1), documentOf(2)];
    const failing = jest.spyOn(fs, 'fdatasyncSync').mockImplementationOnce(() => {
      throw Object.assign(new Error('EIO'), { code: 'EIO' });
    });
    expect(await folder.store([lost])).toMatchObject([{ code: 'EIO' }]);
    failing.mockRestore();
    expect(() => written(lost)).toThrow('ENOENT');
    expect(await folder.store([next])).toEqual([null]);
    expect(journal()).toHaveLength(2);
    expect(readdirSync(at(INCOMING))).toEqual([]);
    await folder.settle();
  });

  it('gives back the room of the journal where the disk is full', async () => {
    const folder = open();
    await folder.store([documentOf(1)]);
    const full = jest.spyOn(fs, 'writeSync').mockImplementationOnce(() => {
      throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
    });
    expect(await folder.store([documentOf(2)])).toMatchObject([{ code: 'ENOSPC' }]);
    full.mockRestore();
    while (journal().length > 0) await delay(10);
    expect(await folder.store([documentOf(2)])).toEqual([null]);
    await folder.settle();
  });

  it('closes a segment by its age', async () => {
    let now = Date.now();
    const folder = open({ segmentMs: 30_000, now: () => now });
    await folder.store([documentOf(1)]);
    now += 30_001;
    await folder.store([documentOf(2)]);
    await folder.store([documentOf(3)]);
    expect(journal()).toHaveLength(2);
    await folder.settle();
  });

  it('answers on for its documents where another has taken its segment for abandoned', async () => {
    const owner = open();
    await owner.store([documentOf(1)]);
    const anHourAgo = new Date(Date.now() - HOUR);
    utimesSync(at(JOURNAL, journal()[0] as string), anHourAgo, anHourAgo);
    await open().recover();
    expect(journal()).toEqual([]);
    const next = documentOf(2);
    await owner.store([next]);
    truncateSync(at(next.path), 0);
    await open().recover();
    expect(readFileSync(at(next.path))).toEqual(next.bytes);
    await owner.settle();
  });

  it('makes good what it can beside what cannot be read', async () => {
    const document = documentOf(1);
    await open().store([document]);
    rmSync(at(document.path));
    mkdirSync(at(JOURNAL, 'a folder'));
    await open().recover();
    expect(readFileSync(at(document.path))).toEqual(document.bytes);
  });
});
