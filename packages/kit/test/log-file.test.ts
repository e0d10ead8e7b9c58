import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { silentLogger } from '@ecf/test-support/services';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openLogFile, openLogWriter, shiftLogFiles } from '../src/telemetry/log-file.js';

let root: string;
let file: string;
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'ecf-log-'));
  file = path.join(root, 'logs', 'access.log');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const LIMITS = { maxBytes: 20_000, kept: 3 };
const open = (limits = LIMITS) => openLogFile({ service: 'test', file, problems: silentLogger, limits });
const modeOf = (name: string) => (statSync(name).mode & 0o777).toString(8);
const inOrder = new Intl.Collator('en', { numeric: true }).compare;
const files = () => readdirSync(path.dirname(file)).sort(inOrder);
/** The numbers of all lines, oldest first. */
const numbers = () =>
  files()
    .reverse()
    .flatMap((name) => readFileSync(path.join(path.dirname(file), name), 'utf8').split('\n'))
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line).n as number);
const upTo = (count: number) => Array.from({ length: count }, (_, n) => n);
const written = () => new Promise((resolve) => setImmediate(resolve));

describe('a log file', () => {
  it('is readable by its owner alone, even with the most open umask and if it had another mode', async () => {
    const umask = process.umask(0);
    try {
      await open().close();
      expect([modeOf(path.dirname(file)), modeOf(file)]).toEqual(['700', '600']);
      chmodSync(file, 0o644);
      await open().close();
      expect(modeOf(file)).toBe('600');
    } finally {
      process.umask(umask);
    }
  });

  it('leaves the mode of a folder that exists', async () => {
    chmodSync(root, 0o755);
    file = path.join(root, 'access.log');
    await open().close();
    expect([modeOf(root), modeOf(file)]).toEqual(['755', '600']);
  });

  it('is rotated without losing a line, also over restarts', async () => {
    let n = 0;
    for (const _ of ['first', 'second', 'third']) {
      const log = open({ maxBytes: 5_000, kept: 200 });
      for (const end = n + 200; n < end; n += 1) {
        log.logger.info({ n }, 'answered');
        if (n % 7 === 0) await written();
      }
      await log.close();
    }
    expect(numbers()).toEqual(upTo(600));
    expect(files().length).toBeGreaterThanOrEqual(3);
  });

  it('keeps the newest lines in at most the given number of files of the given size', async () => {
    for (let n = 0; n < 2_000; ) {
      const log = open();
      for (const end = n + 100; n < end; n += 1) log.logger.info({ n }, 'answered');
      await log.close();
    }
    expect(files()).toEqual(['access.log', 'access.log.1', 'access.log.2', 'access.log.3']);
    for (const name of files()) {
      const found = path.join(path.dirname(file), name);
      expect([modeOf(found), statSync(found).size < 2 * LIMITS.maxBytes]).toEqual(['600', true]);
    }
    const kept = numbers();
    expect(kept).toEqual(upTo(2_000).slice(-kept.length));
  });

  it('loses no line of two processes that write it', async () => {
    const logs = [open({ maxBytes: 5_000, kept: 200 }), open({ maxBytes: 5_000, kept: 200 })];
    for (let n = 0; n < 600; n += 1) {
      logs[n % 2]?.logger.info({ n }, 'answered');
      if (n % 7 === 0) await written();
    }
    await Promise.all(logs.map((log) => log.close()));
    expect(numbers().sort((one, other) => one - other)).toEqual(upTo(600));
  });

  it('is created again when another program moves it away', async () => {
    const log = open();
    log.logger.info({ n: 0 }, 'answered');
    while (statSync(file).size === 0) await written();
    renameSync(file, `${file}.moved`);
    log.logger.info({ n: 1 }, 'answered');
    await log.close();
    expect(files()).toEqual(['access.log', 'access.log.moved']);
    expect(numbers()).toEqual([0, 1]);
  });
});

describe('a writer of a log file', () => {
  it('reports what it cannot write, and continues when the file can be written again', async () => {
    const errors: unknown[] = [];
    const writer = openLogWriter({ file, limits: LIMITS, failed: (error) => errors.push(error) });
    rmSync(path.dirname(file), { recursive: true });
    writer.write('lost\n');
    await writer.close();
    mkdirSync(path.dirname(file));
    writer.write('kept\n');
    await writer.close();
    expect(errors).toMatchObject([{ code: 'ENOENT' }]);
    expect([readFileSync(file, 'utf8'), modeOf(file)]).toEqual(['kept\n', '600']);
  });

  it('holds 100,000 texts while the disk does not accept them, and reports how many others it dropped', async () => {
    const errors: Error[] = [];
    const limits = { maxBytes: 10_000_000, kept: 1 };
    const writer = openLogWriter({ file, limits, failed: (error) => errors.push(error as Error) });
    for (let n = 0; n < 100_011; n += 1) writer.write('x\n');
    await writer.close();
    expect(errors.map(({ message }) => message)).toEqual([expect.stringContaining('11 texts were dropped')]);
    expect(statSync(file).size).toBe(2 * 100_000);
  });

  it('does not rotate a link', async () => {
    const target = path.join(root, 'target');
    writeFileSync(target, 'x'.repeat(LIMITS.maxBytes));
    file = path.join(root, 'link.log');
    symlinkSync(target, file);
    const writer = openLogWriter({ file, limits: LIMITS, failed: () => undefined });
    writer.write('one more');
    await writer.close();
    expect([files(), readFileSync(target, 'utf8').endsWith('one more')]).toEqual([['link.log', 'target'], true]);
  });
});

describe('shifted log files', () => {
  it('keep their order, and the oldest is deleted', () => {
    file = path.join(root, 'server.log');
    for (const text of ['a', 'b', 'c', 'd']) {
      writeFileSync(file, text);
      shiftLogFiles(file, 2);
    }
    expect(files().map((name) => [name, readFileSync(path.join(root, name), 'utf8')])).toEqual([
      ['server.log.1', 'd'],
      ['server.log.2', 'c'],
    ]);
  });
});
