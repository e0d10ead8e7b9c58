import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheFolder, once } from '@ecf/deployment/servers';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** The commit of the version before this one: ECF_PREVIOUS_VERSION, else the last tag `v*` before this commit; null without any. */
export function previousVersion(): string | null {
  const named = process.env.ECF_PREVIOUS_VERSION;
  const last = ['describe', '--tags', '--abbrev=0', '--match', 'v*', 'HEAD^'];
  try {
    return git('rev-parse', `${named || git(...last)}^{commit}`);
  } catch (error) {
    if (named) throw error;
    return null;
  }
}

/** A checkout of a commit, built; made once on this machine. */
export async function checkoutOf(commit: string): Promise<string> {
  const target = path.join(cacheFolder(), `version-${commit}`);
  await once(target, async (folder) => {
    git('clone', '--quiet', '--no-checkout', ROOT, folder);
    git('-C', folder, 'checkout', '--quiet', commit);
    execFileSync(process.execPath, ['scripts/setup.mjs'], { cwd: folder, stdio: 'ignore' });
  });
  return target;
}

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
}
