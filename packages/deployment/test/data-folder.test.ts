import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { DataFolder } from '../src/index.js';

let root: string;
beforeEach(() => {
  root = mkdtempSync(path.join(os.tmpdir(), 'ecf-data-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe('a data folder', () => {
  it('keeps its secrets readable by their owner alone, and lets others write nothing, with the most open umask', async () => {
    const umask = process.umask(0);
    try {
      const folder = new DataFolder(path.join(root, 'new', 'data'));
      const release = await folder.lock();
      folder.secrets();
      folder.serviceKeys();
      folder.writePrivate('demo.json', { api_key: 'ecf_test_1' });
      release();
      const modeOf = (name: string) => (statSync(folder.file(name)).mode & 0o777).toString(8);
      const files = ['secrets.json', 'service-keys.json', 'demo.json', 'deployment.lock'];
      expect(files.map(modeOf)).toEqual(['600', '600', '600', '600']);
      expect([modeOf('.'), modeOf('..')]).toEqual(['755', '755']);
    } finally {
      process.umask(umask);
    }
  });

  it('is refused while a restore into it has not ended', async () => {
    mkdirSync(path.join(root, 'restoring'));
    await expect(new DataFolder(root).lock()).rejects.toThrow('Run ecf restore again');
    rmSync(path.join(root, 'restoring'), { recursive: true });
    (await new DataFolder(root).lock())();
  });

  it('is refused, with the name of the setting, if it is a file or lies within one', () => {
    const file = path.join(root, 'file');
    writeFileSync(file, '');
    for (const place of [file, path.join(file, 'data')])
      expect(() => new DataFolder(place)).toThrow(`DATA_DIR ${place}: ${file} is not a folder`);
  });

  it.each(['/proc/ecf/data', '/sys/data'])(
    'is refused, with the name of the setting, if %s cannot be made',
    async (place) => {
      await expect((async () => new DataFolder(place).lock())()).rejects.toThrow(`DATA_DIR ${place} cannot be written`);
    },
  );
});
