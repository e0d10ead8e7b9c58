/** The checks of `npm run release`, and the files in which it writes a version, in a copy of what it reads. */
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const READ = ['*package.json', 'scripts', 'deploy/compose', 'deploy/helm', 'CHANGELOG.md', '.gitignore'];
const { version } = JSON.parse(fs.readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { version: string };
const { newVersionFaults, notesOf, setVersion, versionFaults } = (await import(
  pathToFileURL(path.join(ROOT, 'scripts/release-version.mjs')).href
)) as {
  newVersionFaults(root: string, version: string): string[];
  notesOf(root: string, version: string): string | undefined;
  setVersion(root: string, version: string, date: string): void;
  versionFaults(root: string): string[];
};

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'ecf-release-'));
const copy = path.join(folder, 'copy');
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

const git = (...args: string[]) => execFileSync('git', args, { cwd: copy, encoding: 'utf8' });

/** Runs the release; it never comes further than its checks here, because the copy has no packages to install. */
function release(...args: string[]): [number | null, string] {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/release.mjs', ...args], {
    cwd: copy,
    encoding: 'utf8',
  });
  return [status, stderr];
}

beforeEach(() => {
  fs.rmSync(copy, { recursive: true, force: true });
  const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', ...READ], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  for (const file of files.split('\n').filter(Boolean)) fs.cpSync(path.join(ROOT, file), path.join(copy, file));
  const notes = '# Changelog\n\n## Unreleased: something\n\nIt does this.\n\n## 0.0.1 (2026-01-01)\n\nIt did that.\n';
  fs.writeFileSync(path.join(copy, 'CHANGELOG.md'), notes);
  git('init', '--quiet');
  git('add', '--all');
  git('-c', 'user.name=test', '-c', 'user.email=test@localhost', 'commit', '--quiet', '--message', 'copy');
});

describe('a release', () => {
  it.each([
    [['1.0'], '1.0 is not a version'],
    [['v9.0.0'], 'v9.0.0 is not a version'],
    [['9.0.0-rc.1', '--dry-run'], '9.0.0-rc.1 is not a version'],
    [['0.0.1', '--dry-run'], `0.0.1 is not greater than ${version}`],
    [['9.0.0', '10.0.0'], 'usage: npm run release'],
    [['--dryrun'], 'usage: npm run release'],
    [[], `CHANGELOG.md has no section "## ${version}"`],
  ])('with the arguments %j is refused and changes nothing', (args, reason) => {
    expect(release(...args)).toEqual([1, expect.stringContaining(reason)]);
    expect(git('status', '--porcelain')).toBe('');
  });

  it('is refused with changes that are not committed, without notes, and for a tag that exists', () => {
    fs.appendFileSync(path.join(copy, 'CHANGELOG.md'), 'More.\n');
    expect(release('9.0.0', '--dry-run')).toEqual([1, expect.stringContaining('not committed')]);
    fs.writeFileSync(path.join(copy, 'CHANGELOG.md'), `# Changelog\n\n## ${version}\n\nNotes.\n`);
    git('tag', `v${version}`);
    const [status, text] = release();
    expect([status, text]).toEqual([1, expect.stringContaining('not committed')]);
    expect(text).toContain(`The tag v${version} exists.`);
    expect(newVersionFaults(copy, '9.0.0')).toEqual([expect.stringContaining('no section "## Unreleased"')]);
  });

  it('writes its version into every package, image and chart, and its notes', () => {
    setVersion(copy, '9.0.0', '2026-12-01');
    expect(versionFaults(copy)).toEqual([]);
    expect(notesOf(copy, '9.0.0')).toBe('9.0.0 (2026-12-01)\n\nIt does this.');
    const left = spawnSync('git', ['grep', '-lF', version, '--', '*package.json', 'deploy'], { cwd: copy });
    expect(left.stdout.toString()).toBe('');
    fs.writeFileSync(path.join(copy, 'package.json'), JSON.stringify({ version: '9.0.1' }));
    expect(versionFaults(copy).length).toBeGreaterThan(30);
  });
});

it('finds the version of the product in every file of this checkout', () => {
  expect(versionFaults(ROOT)).toEqual([]);
});
