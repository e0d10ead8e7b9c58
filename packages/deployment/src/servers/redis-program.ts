import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder, once } from './cache.js';

const run = promisify(execFile);

/** Packages that are fetched with the system's package manager and unpacked without installation. */
const PACKAGES = ['redis-server', 'redis-tools', 'libjemalloc2', 'liblzf1', 'libatomic1'];

/** The command of redis-server; null if it can be neither found nor fetched. */
export async function redisProgram(): Promise<{ file: string; libraries: string | null } | null> {
  const found = await run('sh', ['-c', 'command -v redis-server']).then(
    ({ stdout }) => stdout.trim(),
    () => null,
  );
  if (found !== null) return { file: found, libraries: null };
  try {
    const folder = await once(path.join(cacheFolder(), 'redis-debian'), fetchPackages);
    const libraries = path.join(folder, 'usr/lib');
    const places = readdirSync(libraries).map((name) => path.join(libraries, name));
    return { file: path.join(folder, 'usr/bin/redis-server'), libraries: [...places, libraries].join(':') };
  } catch {
    return null;
  }
}

async function fetchPackages(folder: string): Promise<void> {
  const download = path.join(folder, 'packages');
  mkdirSync(download, { recursive: true });
  // The user that the package manager drops to has no way into this folder; as root it need not.
  await run('apt-get', ['-o', 'APT::Sandbox::User=root', 'download', ...PACKAGES], { cwd: download });
  for (const name of readdirSync(download)) await run('dpkg', ['-x', path.join(download, name), folder]);
  if (!existsSync(path.join(folder, 'usr/bin/redis-server'))) throw new Error('the package holds no redis-server');
}
