// `npm run release -- 1.0.0` releases a version: it writes the version everywhere, commits that, makes what is published, tags
// the commit, pushes it and publishes. Run again, it publishes what is missing. Without a version it releases the one that the
// checkout has. What is published:
//
//   dist-packages/   packages
//   dist/images/     the bill of materials of each image
//   dist/release/    notes, Helm chart, bill of materials of the whole, SHA-256 of all these files
//
// With `--dry-run` it makes all of this, reports everything that is missing, and ends with 1 if something is. It then commits and
// publishes nothing and leaves the checkout as it was. PREFIX, ENGINE, PLATFORM and BASE are those of deploy/images/build.sh, and
// BUILD_OPTIONS are options of the engine.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { publish, tagFaults } from './release-publish.mjs';
import { newVersionFaults, notesOf, readVersion, setVersion, versionFaults } from './release-version.mjs';
import { fail, ROOT, say, setup } from './setup.mjs';

/** Lines of notes that still fit on a page. */
const PAGE = 70;
const target = path.join(ROOT, 'dist', 'release');
const words = process.argv.slice(2);
const dryRun = words.includes('--dry-run');
const wanted = words.filter((word) => word !== '--dry-run');
if (wanted.length > 1 || wanted.some((word) => word.startsWith('-')))
  fail('usage: npm run release -- [VERSION] [--dry-run]');
if (wanted.length === 1 && wanted[0] !== readVersion(ROOT)) begin(wanted[0]);

const version = readVersion(ROOT);
const tag = `v${version}`;
fs.rmSync(target, { recursive: true, force: true });
fs.mkdirSync(target, { recursive: true });
const missing = [...versionFaults(ROOT), ...commitFaults(), ...notesFaults()];
if (missing.length > 0 && !dryRun) fail(`${version} cannot be released.`, missing.join('\n  '));
await setup();
run('npm', ['run', '--silent', 'sbom']);
fs.cpSync(path.join(ROOT, 'dist', 'sbom.cdx.json'), path.join(target, 'sbom.cdx.json'));
run('tar', ['-czf', path.join(target, `ecf-gateway-${version}.tgz`), '-C', 'deploy/helm', 'ecf-gateway']);
const { packAll } = await import('./pack.mjs');
const packages = await packAll();
for (const { tarball } of packages) say(path.relative(ROOT, tarball));
const engine = engineOf();
fs.rmSync(path.join(ROOT, 'dist', 'images'), { recursive: true, force: true });
if (engine === '')
  missing.push('No container engine works here: install docker, podman or buildah to make the images.');
else run('deploy/images/build.sh', ['--', ...(process.env.BUILD_OPTIONS ?? '').split(' ').filter(Boolean)]);
writeChecksums();

if (missing.length > 0) fail(`${version} cannot be released yet.`, missing.join('\n  '));
if (dryRun) say(`${tag} can be released. Run it without --dry-run to publish it.`);
else publish({ root: ROOT, version, notes: path.join(target, 'NOTES.md'), packages, images: imagesOf(), engine });

/** Writes a new version everywhere and commits it; a dry run takes the changes back when it ends. */
function begin(next) {
  const faults = [...newVersionFaults(ROOT, next), ...unsavedFaults()];
  if (faults.length > 0) fail(`${next} cannot be released.`, faults.join('\n  '));
  if (dryRun) process.once('exit', () => git('restore', '.'));
  setVersion(ROOT, next, new Date().toISOString().slice(0, 10));
  run('npm', ['run', '--silent', 'generate']);
  if (!dryRun) git('commit', '--all', '--message', `release: ${next}`);
}

function unsavedFaults() {
  return git('status', '--porcelain').length === 0 ? [] : ['The checkout has changes that are not committed.'];
}

function commitFaults() {
  // A new version of a dry run is not committed.
  const faults = dryRun && wanted.length === 1 ? [] : unsavedFaults();
  return [...faults, ...tagFaults(ROOT, tag)];
}

/** Writes the notes: the section of the version in CHANGELOG.md. */
function notesFaults() {
  const notes = notesOf(ROOT, version);
  if (notes === undefined) return [`CHANGELOG.md has no section "## ${version}".`];
  fs.writeFileSync(path.join(target, 'NOTES.md'), `# ${notes}\n`);
  const lines = notes.split('\n').length;
  return lines <= PAGE ? [] : [`The notes of ${version} have ${lines} lines; a page has ${PAGE}.`];
}

/** Writes SHA256SUMS for everything that was made, as `sha256sum --check` in the root of the checkout reads it. */
function writeChecksums() {
  const folders = ['dist-packages', 'dist/images', 'dist/release'].filter((each) =>
    fs.existsSync(path.join(ROOT, each)),
  );
  const files = folders.flatMap((folder) => fs.readdirSync(path.join(ROOT, folder)).map((name) => `${folder}/${name}`));
  const lines = files.sort().map((file) => {
    const sum = createHash('sha256').update(fs.readFileSync(path.join(ROOT, file)));
    return `${sum.digest('hex')}  ${file}\n`;
  });
  fs.writeFileSync(path.join(target, 'SHA256SUMS'), lines.join(''));
}

function engineOf() {
  const script = '. deploy/images/engine.sh; printf %s "$ENGINE"';
  return execFileSync('bash', ['-c', script], { cwd: ROOT, encoding: 'utf8' });
}

/** The images that were made, with their registry. */
function imagesOf() {
  const files = fs.readdirSync(path.join(ROOT, 'dist', 'images'));
  return files.map((file) => `${process.env.PREFIX ?? 'ecf'}/${path.basename(file, '.cdx.json')}`);
}

function git(...args) {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).split('\n').filter(Boolean);
}

function run(command, args) {
  const { status, error } = spawnSync(command, args, { cwd: ROOT, stdio: 'inherit' });
  if (status !== 0) fail(`${[command, ...args.slice(0, 1)].join(' ')} failed.`, error?.message ?? '');
}
