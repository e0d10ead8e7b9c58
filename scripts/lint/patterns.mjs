// Names the regular expressions of the product whose time can grow faster than the text that they read.
//
//   node scripts/lint/patterns.mjs [root]
//
// A pattern that the checker cannot judge (look-around, back-reference, made at run time) needs a comment on the line before it:
// `// linear: <reason>`.
import fs from 'node:fs';
import path from 'node:path';
import { parseSync } from '@swc/core';
import { check } from 'recheck';
import { ROOT } from '../setup.mjs';
import { forTests, sourceFiles } from './sources.mjs';

/** A larger count is judged like any number: the checker copies the repeated part that often. */
const MOST_COPIES = 8;

/** The patterns of a file: { line, source, flags }; `source` is null if it is made at run time. */
function patternsOf(text) {
  const found = [];
  const bytes = Buffer.from(text);
  const visit = (node) => {
    if (node === null || typeof node !== 'object') return;
    const made = /^(New|Call)Expression$/.test(node.type) && node.callee.value === 'RegExp';
    if (made || node.type === 'RegExpLiteral') {
      const line = bytes.subarray(0, node.span.start).toString('latin1').split('\n').length;
      found.push({ line, source: node.pattern ?? null, flags: node.flags ?? '' });
    }
    for (const child of Object.values(node)) visit(child);
  };
  visit(parseSync(text, { syntax: 'typescript', target: 'es2022' }).body);
  return found;
}

/** Why the pattern is not known to be linear; null if it is. Without a time limit, so that the answer is always the same. */
async function fault({ source, flags }) {
  if (source === null) return 'is made at run time';
  const judged = source.replace(/\{(\d+)(?:(,)(\d*))?\}/g, (count, least, _comma, most) =>
    Math.max(Number(least), Number(most ?? 0)) <= MOST_COPIES ? count : Number(least) === 0 ? '*' : '+',
  );
  const { status, complexity, attack, error } = await check(judged, flags, { checker: 'automaton', timeout: null });
  if (status === 'safe') return null;
  return status === 'vulnerable' ? `${complexity.summary}, as for ${attack.pattern}` : `not judged: ${error.message}`;
}

const root = path.resolve(process.argv[2] ?? ROOT);
const files = ['packages', 'services', 'deploy'].flatMap((folder) => sourceFiles(root, folder));
const known = new Map();
let faults = 0;
for (const file of files.filter((one) => !forTests(one) && one.endsWith('.ts'))) {
  const text = fs.readFileSync(path.join(root, file), 'utf8');
  for (const { line, ...pattern } of patternsOf(text)) {
    if (/^\s*\/\/ linear: \S/.test(text.split('\n')[line - 2] ?? '')) continue;
    const name = pattern.source === null ? 'RegExp' : `/${pattern.source}/${pattern.flags}`;
    if (!known.has(name)) known.set(name, await fault(pattern));
    if (known.get(name) === null) continue;
    faults += 1;
    process.stderr.write(`  error ${file}:${line} ${name}: ${known.get(name)}\n`);
  }
}
process.stderr.write(`${known.size} patterns, ${faults} faults\n`);
process.exit(faults === 0 ? 0 : 1);
