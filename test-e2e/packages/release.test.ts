/** The checks of `npm run release`, and the files in which it writes a version, in a copy of what it reads. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';

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
  git('config', 'user.name', 'test');
  git('config', 'user.email', 'test@localhost');
  git('commit', '--quiet', '--message', 'copy');
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
    expect(text).not.toContain('tag');
    git('commit', '--quiet', '--all', '--message', 'notes');
    expect(release()).toEqual([1, expect.stringContaining(`The tag v${version} is another commit's.`)]);
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

describe('publishing', () => {
  const names = ['@ecf-example/one', '@ecf-example/two'];
  /** What the registry of packages has; publishing an existing version or a refused package is 403, as at npm. */
  const stored = new Map<string, { name: string; versions: object }>();
  let refused: string | null = null;
  const registry = createServer(async (req, res) => {
    const name = decodeURIComponent((req.url as string).slice(1));
    const found = stored.get(name);
    const answer = (status: number, body: object = {}) =>
      res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (req.method !== 'PUT') return found === undefined ? answer(404) : answer(200, found);
    const body = JSON.parse(await text(req));
    if (found !== undefined || name === refused) return answer(403);
    stored.set(name, body);
    return answer(201);
  });
  beforeAll(() => new Promise<void>((resolve) => registry.listen(0, '127.0.0.1', resolve)));
  afterAll(() => {
    registry.close();
  });

  it('begins with the source, can be repeated after each step, and publishes everything once', async () => {
    const origin = path.join(folder, 'origin.git');
    execFileSync('git', ['clone', '--quiet', '--bare', copy, origin]);
    git('remote', 'add', 'origin', origin);
    const atOrigin = (...args: string[]) => execFileSync('git', args, { cwd: origin, encoding: 'utf8' }).trim();
    const branch = git('branch', '--show-current').trim();
    /** Another commit on the branch at the origin. */
    const moveOn = () => {
      const identity = ['-c', 'user.name=test', '-c', 'user.email=test@localhost'];
      const made = atOrigin(...identity, 'commit-tree', `${branch}^{tree}`, '-p', branch, '-m', 'Another.');
      atOrigin('update-ref', `refs/heads/${branch}`, made);
    };
    const packages = names.map((name) => {
      const source = path.join(folder, path.basename(name));
      fs.mkdirSync(source);
      fs.writeFileSync(path.join(source, 'package.json'), JSON.stringify({ name, version: '9.0.0' }));
      const [packed] = JSON.parse(execFileSync('npm', ['pack', '--json'], { cwd: source, encoding: 'utf8' }));
      return { name, tarball: path.join(source, packed.filename) };
    });
    const notes = path.join(folder, 'NOTES.md');
    fs.writeFileSync(notes, '# 9.0.0\n');
    const pushed = path.join(folder, 'pushed');
    fs.writeFileSync(pushed, '');
    const engine = path.join(folder, 'engine');
    const commands = '"manifest inspect") grep -qx "$3" pushed ;; push*) echo "$2" >> pushed ;;';
    fs.writeFileSync(engine, `#!/bin/sh\ncd "\${0%/*}"\ncase "$1 \${2%%[!a-z]*}" in ${commands} esac\n`, {
      mode: 0o755,
    });
    const { port } = registry.address() as AddressInfo;
    fs.writeFileSync(path.join(copy, '.npmrc'), `//127.0.0.1:${port}/:_authToken=test\n`);

    const release = { root: copy, version: '9.0.0', notes, packages, images: ['ecf/a', 'ecf/b'], engine };
    const script =
      "import('./scripts/release-publish.mjs').then(({ publish }) => publish(JSON.parse(process.argv[1])))";
    /** The exit code, the packages and images that are published, and whether the origin has the tag. */
    const publish = async () => {
      const env = { ...process.env, npm_config_registry: `http://127.0.0.1:${port}/` };
      const child = spawn(process.execPath, ['-e', script, JSON.stringify(release)], {
        cwd: copy,
        env,
        stdio: 'ignore',
      });
      const [code] = await once(child, 'exit');
      const images = fs.readFileSync(pushed, 'utf8').split('\n').filter(Boolean);
      return { code, packages: [...stored.keys()], images, tag: atOrigin('tag', '--list') };
    };
    moveOn();
    expect(await publish()).toEqual({ code: 1, packages: [], images: [], tag: '' });
    atOrigin('update-ref', `refs/heads/${branch}`, `${branch}~1`);
    refused = names[1] as string;
    expect(await publish()).toEqual({ code: 1, packages: [names[0]], images: [], tag: 'v9.0.0' });
    refused = null;
    moveOn();
    const whole = { code: 0, packages: names, images: ['ecf/a:9.0.0', 'ecf/b:9.0.0'], tag: 'v9.0.0' };
    expect(await publish()).toEqual(whole);
    expect(await publish()).toEqual(whole);
    expect(atOrigin('rev-parse', 'v9.0.0^{commit}')).toBe(git('rev-parse', 'HEAD').trim());
  }, 120_000);
});

it('finds the version of the product in every file of this checkout', () => {
  expect(versionFaults(ROOT)).toEqual([]);
});
