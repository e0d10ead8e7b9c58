import { open, readdir, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { type DeadLetter, type DeadLetters, deadLetterTopic } from './dead-letters.js';
import { createFolderSync } from './folder-sync.js';

/** Dead letters as files `<root>/<topic>.dlq/<event id>.<group>.json`: few, durable, readable with any editor. */
export function openFileDeadLetters(root: string): DeadLetters {
  const folders = createFolderSync(root);
  const nameOf = (id: string) => `${id.replaceAll(/[^A-Za-z0-9._-]/g, '_')}.json`;

  async function topics(): Promise<string[]> {
    const entries = await readdir(root, { withFileTypes: true }).catch(() => []);
    return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  }

  return {
    async add(letter) {
      const folder = path.join(root, deadLetterTopic(letter.event.topic));
      await folders.make(folder);
      const file = path.join(folder, nameOf(letter.id));
      const handle = await open(`${file}.new`, 'w', 0o640);
      try {
        await handle.writeFile(JSON.stringify(letter, null, 2));
        await handle.datasync();
      } finally {
        await handle.close();
      }
      await rename(`${file}.new`, file);
      await folders.sync(folder);
    },
    async list(topic) {
      const letters: DeadLetter[] = [];
      for (const folder of await topics()) {
        if (topic !== undefined && folder !== deadLetterTopic(topic)) continue;
        for (const name of await readdir(path.join(root, folder)))
          if (name.endsWith('.json')) letters.push(JSON.parse(await readFile(path.join(root, folder, name), 'utf8')));
      }
      return letters.sort((a, b) => a.time.localeCompare(b.time));
    },
    async remove(id) {
      for (const folder of await topics()) await rm(path.join(root, folder, nameOf(id)), { force: true });
    },
  };
}
