import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder, once } from './cache.js';

const run = promisify(execFile);

/** A program that is installed, or was fetched; with the folders of its libraries if they are not the system's. */
export interface Program {
  readonly file: string;
  readonly libraries: string | null;
}

/**
 * The program of the machine, else that of Debian packages, fetched with the system's package manager and unpacked without
 * installation; null if it can be neither found nor fetched.
 * @param folder name in the cache
 */
export async function debianProgram(
  name: string,
  folder: string,
  packages: readonly string[],
): Promise<Program | null> {
  const found = await run('sh', ['-c', `command -v ${name}`]).then(
    ({ stdout }) => stdout.trim(),
    () => null,
  );
  if (found !== null) return { file: found, libraries: null };
  try {
    const unpacked = await once(path.join(cacheFolder(), folder), (target) => fetchPackages(target, name, packages));
    const libraries = path.join(unpacked, 'usr/lib');
    const places = (existsSync(libraries) ? readdirSync(libraries) : []).map((place) => path.join(libraries, place));
    return { file: path.join(unpacked, 'usr/bin', name), libraries: [...places, libraries].join(':') };
  } catch {
    return null;
  }
}

async function fetchPackages(folder: string, name: string, packages: readonly string[]): Promise<void> {
  const download = path.join(folder, 'packages');
  mkdirSync(download, { recursive: true });
  // The user that the package manager drops to has no way into this folder; as root it need not.
  await run('apt-get', ['-o', 'APT::Sandbox::User=root', 'download', ...packages], { cwd: download });
  for (const each of readdirSync(download)) await run('dpkg', ['-x', path.join(download, each), folder]);
  if (!existsSync(path.join(folder, 'usr/bin', name))) throw new Error(`the packages have no ${name}`);
}
