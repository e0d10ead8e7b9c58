// Where the version of the product is written: every package, the images of compose, the Helm chart, the title of the notes.
// `npm run generate` writes the rest.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

const SEMANTIC = /^\d+\.\d+\.\d+$/;
const UNRELEASED = /^## Unreleased.*$/m;

/** The lines that name the version, with the version between the first group and the last. */
const OF_PACKAGE = /^( {2}"version": ")([^"]+)(",?)$/gm;
const OF_IMAGE = /^( +image: ecf\/[a-z-]+:)(\S+)()$/gm;
const OF_CHART = /^((?:version|appVersion): "?)([\w.]+)("?)$/gm;

/** Each file that names the version, with the form of its lines. */
function placesOf(root) {
  const listed = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).split('\n');
  const kinds = [
    [/(?:^|\/)package\.json$/, OF_PACKAGE],
    [/^deploy\/compose\/compose[a-z.]*\.yaml$/, OF_IMAGE],
    [/^deploy\/helm\/[a-z-]+\/Chart\.yaml$/, OF_CHART],
  ];
  return kinds.flatMap(([name, form]) => listed.filter((file) => name.test(file)).map((file) => [file, form]));
}

/** The version that package.json of the root names. */
export function readVersion(root) {
  return JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8')).version;
}

/** Why a version cannot follow the present one; none if it can. */
export function newVersionFaults(root, version) {
  if (!SEMANTIC.test(version)) return [`${version} is not a version: MAJOR.MINOR.PATCH`];
  const present = readVersion(root);
  const faults = isGreater(version, present) ? [] : [`${version} is not greater than ${present}.`];
  if (!UNRELEASED.test(readNotes(root))) faults.push('CHANGELOG.md has no section "## Unreleased".');
  return faults;
}

/** Writes a new version everywhere, and makes the unreleased notes those of the version. */
export function setVersion(root, version, date) {
  for (const [file, form] of placesOf(root)) {
    const place = path.join(root, file);
    const text = fs.readFileSync(place, 'utf8');
    fs.writeFileSync(place, text.replace(form, `$1${version}$3`));
  }
  const notes = readNotes(root).replace(UNRELEASED, `## ${version} (${date})`);
  fs.writeFileSync(path.join(root, 'CHANGELOG.md'), notes);
}

/** The files that name another version than the product has. */
export function versionFaults(root) {
  const version = readVersion(root);
  const faults = SEMANTIC.test(version) ? [] : [`package.json: ${version} is not a version`];
  for (const [file, form] of placesOf(root)) {
    const text = fs.readFileSync(path.join(root, file), 'utf8');
    const other = [...text.matchAll(form)].map(([, , each]) => each).find((each) => each !== version);
    if (other !== undefined) faults.push(`${file}: the version is ${other}`);
  }
  return faults;
}

/** The section of a version in CHANGELOG.md, without its marks; undefined without one. */
export function notesOf(root, version) {
  const sections = readNotes(root).split('\n## ').slice(1);
  return sections.find((section) => section.startsWith(`${version} `) || section.startsWith(`${version}\n`))?.trim();
}

function readNotes(root) {
  return fs.readFileSync(path.join(root, 'CHANGELOG.md'), 'utf8');
}

function isGreater(one, other) {
  const [a, b] = [one, other].map((each) => each.split('.').map(Number));
  const index = a.findIndex((part, position) => part !== b[position]);
  return index >= 0 && a[index] > b[index];
}
