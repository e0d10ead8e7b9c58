// Lists the source files of a checkout.
import fs from 'node:fs';
import path from 'node:path';

const SOURCE = /\.(ts|mjs|cjs)$/;
const NOT_SOURCE = new Set(['node_modules', 'dist', 'generated', 'test', 'prisma']);

/** The source files below `folder`, relative to `root`, sorted. Tests, generated files and hidden folders are left out. */
export function sourceFiles(root, folder) {
  const place = path.join(root, folder);
  if (!fs.existsSync(place)) return [];
  return fs
    .readdirSync(place, { withFileTypes: true })
    .filter(({ name }) => !name.startsWith('.') && !NOT_SOURCE.has(name))
    .flatMap((entry) => {
      const file = `${folder}/${entry.name}`;
      if (entry.isDirectory()) return sourceFiles(root, file);
      return SOURCE.test(file) && !/\.(test|d)\.ts$/.test(file) ? [file] : [];
    })
    .sort();
}

/** Whether a folder or file belongs to a package that only tests and benchmarks use: `packages/test-*`. */
export function forTests(place) {
  return place.startsWith('packages/test-');
}
