import fs from 'node:fs';
import path from 'node:path';
import { ROOT } from '../setup.mjs';

/**
 * Writes generated files, given as text or bytes by their path from the root, and removes the files of `left`. With --check it does
 * neither: it names each file that is stale, and the process fails.
 */
export function writeOrCompare(files, left = []) {
  const stale = [...files].filter(([file, content]) => !isWritten(path.join(ROOT, file), content));
  if (process.argv.includes('--check')) {
    for (const [file] of stale) process.stderr.write(`${file} is stale; run \`npm run generate\`\n`);
    for (const file of left) process.stderr.write(`${file} is no longer generated; run \`npm run generate\`\n`);
    if (stale.length + left.length > 0) process.exitCode = 1;
    return;
  }
  for (const file of left) fs.rmSync(path.join(ROOT, file));
  for (const [file, content] of stale) {
    fs.mkdirSync(path.dirname(path.join(ROOT, file)), { recursive: true });
    fs.writeFileSync(path.join(ROOT, file), content);
  }
}

function isWritten(file, content) {
  return fs.existsSync(file) && fs.readFileSync(file).equals(Buffer.from(content));
}
