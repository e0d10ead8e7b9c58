import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  type ArchiveFolderOptions,
  createArchiveFolder,
  INCOMING,
  JOURNAL,
  WRITTEN_BACK_MS,
} from '../src/archive-folder.js';
import { type ArchivedDocument, journalEntries, readJournal, sha256Of } from '../src/archive-journal.js';

const HOUR = 3_600_000;
let root: string;
beforeEach(() => {
  root = mkdtempSync(path.join(os.tmpdir(), 'ecf-archive-'));
  for (const folder of [INCOMING, JOURNAL]) mkdirSync(at(folder));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const at = (...parts: string[]) => path.join(root, ...parts);
const journal = () => readdirSync(at(JOURNAL));
const open = (options?: ArchiveFolderOptions) => createArchiveFolder(root, options);
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

  it('writes again what was taken away before it was settled', async () => {
    const folder = open();
    const gone = documentOf(1);
    await folder.store([gone, documentOf(2)]);
    rmSync(at('TesteCF'), { recursive: true });
    await folder.settle();
    expect(journal()).toEqual([]);
    expect(readFileSync(at(gone.path))).toEqual(gone.bytes);
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
});
