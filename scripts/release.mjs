// `npm run release -- --dry-run`: checks that this commit can be released, and makes everything that is published: packages
// (dist-packages/), images with their bills of materials (dist/images/), the bill of materials of the whole and the notes
// (dist/release/). It reports everything that is missing and ends with 1. Without `--dry-run` it stops at what is missing, then
// tags the commit and publishes. PREFIX, ENGINE and PLATFORM are those of deploy/images/build.sh.
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { packAll } from './pack.mjs';
import { fail, ROOT, say, setup } from './setup.mjs';

/** Lines of notes that still fit on a page. */
const PAGE = 70;
const dryRun = process.argv.includes('--dry-run');
const { version } = readJson('package.json');
const tag = `v${version}`;
const target = path.join(ROOT, 'dist', 'release');

const missing = [...versionFaults(), ...commitFaults(), ...notesFaults()];
if (missing.length > 0 && !dryRun) fail(`${version} cannot be released.`, missing.join('\n  '));
await setup();
run('npm', ['run', '--silent', 'sbom']);
fs.cpSync(path.join(ROOT, 'dist', 'sbom.cdx.json'), path.join(target, 'sbom.cdx.json'));
const packages = await packAll();
for (const { tarball } of packages) say(path.relative(ROOT, tarball));
const engine = engineOf();
if (engine === '')
  missing.push('No container engine works here: install docker, podman or buildah to make the images.');
else run('deploy/images/build.sh', (process.env.BUILD_OPTIONS ?? '').split(' ').filter(Boolean));

if (dryRun) {
  if (missing.length > 0) fail(`${version} cannot be released yet.`, missing.join('\n  '));
  say(`${tag} can be released. Run it without --dry-run to publish it.`);
} else if (missing.length > 0) fail(`${version} was not released.`, missing.join('\n  '));
else publish();

/** Every package, the images of compose and the chart have the version of the product. */
function versionFaults() {
  const faults = /^\d+\.\d+\.\d+$/.test(version) ? [] : [`package.json: ${version} is not a version`];
  const files = git('ls-files', '*package.json').filter((file) => !/^(examples|scripts)\//.test(file));
  for (const file of files) {
    const other = readJson(file).version;
    if (other !== undefined && other !== version) faults.push(`${file}: the version is ${other}`);
  }
  for (const file of git('ls-files', 'deploy/compose/*.yaml', 'deploy/helm/*Chart.yaml')) {
    const text = fs.readFileSync(path.join(ROOT, file), 'utf8');
    const named = [...text.matchAll(/ecf\/[a-z-]+:([\w.]+)|^(?:appVersion|version): "?([\w.]+)/gm)];
    const wrong = named.map(([, image, chart]) => image ?? chart).filter((each) => each !== version);
    if (wrong.length > 0) faults.push(`${file}: the version is ${wrong[0]}`);
  }
  return faults;
}

function commitFaults() {
  const faults = git('status', '--porcelain').length === 0 ? [] : ['The checkout has changes that are not committed.'];
  if (git('tag', '--list', tag).length > 0) faults.push(`The tag ${tag} exists.`);
  return faults;
}

/** Writes the notes: the section of the version in CHANGELOG.md. */
function notesFaults() {
  const sections = fs.readFileSync(path.join(ROOT, 'CHANGELOG.md'), 'utf8').split('\n## ').slice(1);
  const notes = sections.find((section) => section.startsWith(`${version} `) || section.startsWith(`${version}\n`));
  fs.mkdirSync(target, { recursive: true });
  if (notes === undefined) return [`CHANGELOG.md has no section "## ${version}".`];
  fs.writeFileSync(path.join(target, 'NOTES.md'), `# ${notes.trim()}\n`);
  const lines = notes.trim().split('\n').length;
  return lines <= PAGE ? [] : [`The notes of ${version} have ${lines} lines; a page has ${PAGE}.`];
}

function engineOf() {
  const script = '. deploy/images/engine.sh; printf %s "$ENGINE"';
  return execFileSync('bash', ['-c', script], { cwd: ROOT, encoding: 'utf8' });
}

function publish() {
  const images = fs.readdirSync(path.join(ROOT, 'dist', 'images')).map((file) => path.basename(file, '.cdx.json'));
  run('git', ['tag', '--annotate', tag, '--file', path.join(target, 'NOTES.md')]);
  for (const { tarball } of packages) run('npm', ['publish', '--access', 'public', tarball]);
  for (const image of images) run(engine, ['push', `${process.env.PREFIX ?? 'ecf'}/${image}:${version}`]);
  run('git', ['push', 'origin', tag]);
  say(`${tag} is published`);
}

function git(...args) {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).split('\n').filter(Boolean);
}

function run(command, args) {
  const { status, error } = spawnSync(command, args, { cwd: ROOT, stdio: 'inherit' });
  if (status !== 0) fail(`${[command, ...args.slice(0, 1)].join(' ')} failed.`, error?.message ?? '');
}

function readJson(file) {
  return JSON.parse(fs.readFileSync(path.join(ROOT, file), 'utf8'));
}
