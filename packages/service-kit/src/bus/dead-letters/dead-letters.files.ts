import { open, readdir, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { createFolderSync } from '../../xml-store/folder-sync.js';
import type { DeadLetterCount } from './dead-letter-metrics.js';
import {
  type DeadLetter,
  type DeadLetters,
  deadLetterTopic,
  type ReplayableDeadLetters,
  type ReplayRequests,
} from './dead-letters.js';

export interface FileDeadLetters extends DeadLetters, ReplayableDeadLetters, ReplayRequests {
  /** Counts by the names of the files, without opening them. */
  counts(): Promise<DeadLetterCount[]>;
}

const REPLAY = 'replay';

/**
 * Dead-letter messages as files `<root>/<topic>.dlq/<event id>.<group>.json`: few, durable, readable with any editor. A
 * requested replay moves the file to `<root>/replay`, where the process of the group takes it.
 */
export function openFileDeadLetters(root: string): FileDeadLetters {
  const folders = createFolderSync(root);
  const nameOf = (id: string) => `${id.replaceAll(/[^A-Za-z0-9._-]/g, '_')}.json`;

  async function topics(): Promise<string[]> {
    const entries = await readdir(root, { withFileTypes: true }).catch(() => []);
    return entries.filter((entry) => entry.isDirectory() && entry.name.endsWith('.dlq')).map((entry) => entry.name);
  }

  async function filesIn(folder: string): Promise<string[]> {
    const names = await readdir(path.join(root, folder)).catch(() => []);
    return names.filter((name) => name.endsWith('.json'));
  }

  /** Null if the dead-letter message was removed meanwhile. */
  async function read(folder: string, name: string): Promise<DeadLetter | null> {
    const text = await readFile(path.join(root, folder, name), 'utf8').catch(() => null);
    return text === null ? null : (JSON.parse(text) as DeadLetter);
  }

  async function readAll(folder: string): Promise<DeadLetter[]> {
    const deadLetters = await Promise.all((await filesIn(folder)).map((name) => read(folder, name)));
    return byAge(deadLetters.filter((deadLetter) => deadLetter !== null));
  }

  return {
    async add(deadLetter) {
      const folder = path.join(root, deadLetterTopic(deadLetter.event.topic));
      await folders.make(folder);
      const file = path.join(folder, nameOf(deadLetter.id));
      const handle = await open(`${file}.new`, 'w', 0o640);
      try {
        await handle.writeFile(JSON.stringify(deadLetter, null, 2));
        await handle.datasync();
      } finally {
        await handle.close();
      }
      await rename(`${file}.new`, file);
      await folders.sync(folder);
    },
    async list(topic) {
      const deadLetters: DeadLetter[] = [];
      for (const folder of await topics()) {
        if (topic !== undefined && folder !== deadLetterTopic(topic)) continue;
        deadLetters.push(...(await readAll(folder)));
      }
      return byAge(deadLetters);
    },
    async remove(id) {
      for (const folder of await topics()) await rm(path.join(root, folder, nameOf(id)), { force: true });
    },
    async replay(deadLetter) {
      const folder = path.join(root, REPLAY);
      await folders.make(folder);
      const name = nameOf(deadLetter.id);
      await rename(path.join(root, deadLetterTopic(deadLetter.event.topic), name), path.join(folder, name));
      await folders.sync(folder);
    },
    requested: () => readAll(REPLAY),
    settled: (id) => rm(path.join(root, REPLAY, nameOf(id)), { force: true }),
    async counts() {
      const counts = new Map<string, DeadLetterCount>();
      for (const folder of await topics())
        for (const name of await filesIn(folder)) {
          const topic = folder.slice(0, -'.dlq'.length);
          const group = name.slice(name.indexOf('.') + 1, -'.json'.length);
          const key = `${topic} ${group}`;
          counts.set(key, { topic, group, count: (counts.get(key)?.count ?? 0) + 1 });
        }
      return [...counts.values()];
    },
  };
}

function byAge(deadLetters: readonly DeadLetter[]): DeadLetter[] {
  return [...deadLetters].sort((a, b) => a.time.localeCompare(b.time));
}
