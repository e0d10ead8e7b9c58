// Checks the rules of ARCHITECTURE.md on sources: imports, circles, folders, functions, and the table "Packages".
//
//   node scripts/lint/rules.mjs [--prune]
//
// `scripts/lint/exceptions.json` lists known violations with the work that ends each. The list only shrinks: an unneeded entry
// fails too, and --prune removes it.
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from '../setup.mjs';
import { IMPORT_RULES, importViolations, tableFaults } from './import-rules.mjs';
import { SIZE_RULES, sizeViolations } from './size-rules.mjs';
import { readSources, sourceFiles } from './sources.mjs';

const RULES = { ...IMPORT_RULES, ...SIZE_RULES };

/** The violations of a checkout as lines of text, and the number of remaining exceptions. `prune` removes unneeded ones. */
export function checkRules(root, { prune = false } = {}) {
  const folders = ['packages', 'services', 'deploy', 'bench', 'scripts'];
  const sources = readSources(
    root,
    folders.flatMap((folder) => sourceFiles(root, folder)),
  );
  const violations = [...importViolations(root, sources), ...sizeViolations(sources)];
  const list = path.join(root, 'scripts', 'lint', 'exceptions.json');
  const exceptions = fs.existsSync(list) ? JSON.parse(fs.readFileSync(list, 'utf8')) : {};
  const unneeded = unneededEntries(exceptions, violations);
  const found = violations.filter(({ rule, key }) => exceptions[rule]?.[key] === undefined);
  const faults = [
    ...found.map(({ rule, key, detail }) => `${rule}: ${key}${detail && ` (${detail})`}`),
    ...tableFaults(root).map((fault) => `ARCHITECTURE.md, table "Packages": ${fault}`),
  ];
  if (prune) writeWithout(list, exceptions, unneeded);
  else
    faults.push(...unneeded.map(([rule, key]) => `${rule}: "${key}" needs no exception; \`npm run lint -- --prune\``));
  const left = Object.values(exceptions).flatMap((entries) => Object.keys(entries)).length;
  return { faults, broken: [...new Set(found.map(({ rule }) => rule))], files: sources.size, exceptions: left };
}

function unneededEntries(exceptions, violations) {
  const needed = new Set(violations.map(({ rule, key }) => `${rule} ${key}`));
  return Object.entries(exceptions)
    .flatMap(([rule, entries]) => Object.keys(entries).map((key) => [rule, key]))
    .filter(([rule, key]) => !needed.has(`${rule} ${key}`));
}

function writeWithout(list, exceptions, unneeded) {
  for (const [rule, key] of unneeded) delete exceptions[rule][key];
  for (const rule of Object.keys(exceptions)) if (Object.keys(exceptions[rule]).length === 0) delete exceptions[rule];
  fs.writeFileSync(list, `${JSON.stringify(exceptions, null, 2)}\n`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { faults, broken, files, exceptions } = checkRules(ROOT, { prune: process.argv.includes('--prune') });
  for (const fault of faults) process.stderr.write(`  error ${fault}\n`);
  for (const rule of broken) process.stderr.write(`  why ${rule}: ${RULES[rule]}\n`);
  process.stderr.write(`${files} files, ${faults.length} faults, ${exceptions} exceptions\n`);
  process.exit(faults.length === 0 ? 0 : 1);
}
