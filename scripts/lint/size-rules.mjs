// Rules about size: folders and functions.
import path from 'node:path';

const MOST_FILES = 15;
const MOST_LINES = 100;

/** The reason of each rule. */
export const SIZE_RULES = {
  'small-folder': `A folder is a subject and holds at most ${MOST_FILES} source files.`,
  'short-function': `A function has at most ${MOST_LINES} lines.`,
};

/** The violations of both rules: { rule, key, detail }. */
export function sizeViolations(sources) {
  const folders = new Map();
  for (const file of sources.keys()) folders.set(path.dirname(file), (folders.get(path.dirname(file)) ?? 0) + 1);
  return [
    ...[...folders]
      .filter(([, count]) => count > MOST_FILES)
      .map(([folder, count]) => ({ rule: 'small-folder', key: folder, detail: `holds ${count}` })),
    ...[...sources].flatMap(([file, { functions }]) =>
      functions
        .filter(({ lines }) => lines > MOST_LINES)
        .map(({ name, line, lines }) => ({
          rule: 'short-function',
          key: `${file} ${name}`,
          detail: `has ${lines} lines, from line ${line}`,
        })),
    ),
  ];
}
