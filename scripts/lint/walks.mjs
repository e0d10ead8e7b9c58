// Reads the section "Three walks" of ARCHITECTURE.md.
import fs from 'node:fs';
import path from 'node:path';

/** The walks in their order: { title, steps: [{ file, text }] }. */
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
      steps: [...text.matchAll(/^\d+\. `([^`]+)`(?:: (.*))?$/gm)].map(([, file, about = '']) => ({
        file,
        text: about,
      })),
    }));
}
