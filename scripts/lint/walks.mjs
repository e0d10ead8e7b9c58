// Holds the section "Three walks" of ARCHITECTURE.md to the imports. `node scripts/lint/walks.mjs` prints what differs.
//
// A walk lists the files that one request passes through, in reading order. Each file but the first is imported at run time by an
// earlier one, or says how the request reaches it:
//   (HTTP `/path`)   another service or server; the path stands in the file
//   (port `Name`)    an adapter of this port, which a file listed earlier uses
// Whatever a listed file imports at run time, and every adapter of a service that the walk enters, is listed too or named in
// walks-not-opened.json with a reason. Files that only pass names on (index.ts) are looked through.
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from '../setup.mjs';
import { declaringFile } from './import-graph.mjs';
import { readSources, sourceFiles } from './sources.mjs';

const STEP = /^\d+\. `([^`]+)`(?: \((HTTP|port) `([^`]+)`\))?: (.+)$/gm;
const NOT_OPENED = 'scripts/lint/walks-not-opened.json';

/** The walks in their order: { title, steps: [{ file, hop, target, text }] }. */
export function readWalks(root) {
  const section = fs
    .readFileSync(path.join(root, 'ARCHITECTURE.md'), 'utf8')
    .split(/^## /m)
    .find((text) => text.startsWith('Three walks\n'));
  return (section ?? '')
    .split(/^### /m)
    .slice(1)
    .map((text) => ({
      title: text.slice(0, text.indexOf('\n')),
      steps: [...text.matchAll(STEP)].map(([, file, hop, target, about]) => ({ file, hop, target, text: about })),
    }));
}

/** Every difference between the walks and the imports, as lines of text. */
export function checkWalks(root) {
  const sources = readSources(
    root,
    ['packages', 'services', 'deploy'].flatMap((folder) => sourceFiles(root, folder)),
  );
  const reasons = Object.values(JSON.parse(fs.readFileSync(path.join(root, NOT_OPENED), 'utf8'))).flat();
  const patterns = reasons.map((pattern) => ({ pattern, used: false, fits: glob(pattern) }));
  const notOpened = (file) => {
    const fitting = patterns.filter(({ fits }) => fits.test(file));
    for (const one of fitting) one.used = true;
    return fitting.length > 0;
  };
  const faults = readWalks(root).flatMap(({ title, steps }) => {
    const texts = [...walkFaults(root, sources, steps, notOpened)];
    return texts.map((text) => `${title.replace(/`|,.*/g, '')}: ${text}`);
  });
  const unused = patterns.filter(({ used }) => !used);
  return [...faults, ...unused.map(({ pattern }) => `${NOT_OPENED}: no listed file imports ${pattern}`)];
}

function* walkFaults(root, sources, steps, notOpened) {
  const listed = steps.map(({ file }) => file);
  for (const [at, step] of steps.entries()) {
    if (!sources.has(step.file)) yield `${step.file} does not exist`;
    else if (at > 0) yield* hopFaults(root, sources, step, listed.slice(0, at));
  }
  const missing = new Map();
  const need = (file, by) => {
    if (!listed.includes(file) && !notOpened(file)) missing.set(file, [...(missing.get(file) ?? []), by]);
  };
  for (const file of listed.filter((one) => sources.has(one)))
    for (const { to } of uses(sources, file, true)) need(to, `imported by ${file}`);
  for (const service of new Set(listed.flatMap((file) => /^services\/[^/]+\//.exec(file) ?? [])))
    for (const file of sources.keys())
      if (file.startsWith(`${service}src/outbound/`)) need(file, `adapter of ${service}`);
  for (const [file, by] of missing) yield `${file} is not listed (${by.join(', ')})`;
}

function* hopFaults(root, sources, { file, hop, target }, earlier) {
  if (hop === 'HTTP') {
    if (!fs.readFileSync(path.join(root, file), 'utf8').includes(target)) yield `${file} does not contain ${target}`;
  } else if (hop === 'port') {
    const own = sources.get(file).declares.has(target) ? [{ to: file }] : [];
    const [port] = [...own, ...uses(sources, file, false).filter(({ name }) => name === target)];
    if (!port) yield `${file} does not import the port ${target}`;
    else if (!reaches(sources, earlier, port.to))
      yield `no file listed before ${file} uses the port ${target} (${port.to})`;
  } else if (!earlier.some((one) => sources.has(one) && uses(sources, one, true).some(({ to }) => to === file)))
    yield `no file listed before ${file} imports it at run time`;
}

/** Whether one of the files imports `target`, directly or through one file between, types included. */
function reaches(sources, files, target) {
  const steps = (file) => (sources.has(file) ? uses(sources, file, false).map(({ to }) => to) : []);
  const direct = files.flatMap(steps);
  return files.includes(target) || direct.includes(target) || direct.flatMap(steps).includes(target);
}

/** The names that a file imports, each with the file that declares it. */
function uses(sources, file, atRunTime) {
  return sources
    .get(file)
    .imports.filter(({ to, typeOnly }) => sources.has(to) && !(typeOnly && atRunTime))
    .flatMap(({ to, names, types }) => {
      const wanted = atRunTime ? names.filter((name) => !types.includes(name)) : names;
      return wanted.map((name) => ({ name, to: declaringFile(sources, to, name) }));
    });
}

function glob(pattern) {
  const escaped = pattern.replace(/[.+^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replaceAll('**', '\0').replaceAll('*', '[^/]*').replaceAll('\0', '.*')}$`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const faults = checkWalks(ROOT);
  for (const fault of faults) process.stdout.write(`${fault}\n`);
  if (faults.length > 0)
    process.stdout.write(`List such files in ARCHITECTURE.md, or name them in ${NOT_OPENED} with a reason.\n`);
  for (const { title, steps } of readWalks(ROOT)) process.stdout.write(`${title}: ${steps.length} files\n`);
  process.exit(faults.length === 0 ? 0 : 1);
}
