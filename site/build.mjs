// `npm run docs`: builds the site from the Markdown of the repository, into services/gateway/dist-docs, which the gateway serves at
// /docs/guide/. `--out <folder>` builds it elsewhere.
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'vitepress';
import { onlyInEnglish, placeOf, ROOT, sources, translationOf } from './pages.mjs';

const SITE = path.join(ROOT, 'site');
/** The pages as the site arranges them. VitePress can rename pages itself, but its search then takes Spanish pages for English ones. */
const PAGES = path.join(SITE, '.pages');

const { values } = parseArgs({ options: { out: { type: 'string' } } });
const out = path.resolve(values.out ?? path.join(ROOT, 'services/gateway/dist-docs'));

function write(place, text) {
  const file = path.join(PAGES, place);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, text);
}

/** The language menu leads from each English page to the Spanish one. Without a translation, that page says so. */
function untranslated(source, label) {
  return `---
search: false
aside: false
prev: false
next: false
---

# ${label}

Esta página está solo en inglés: [${label}](/${placeOf(source)}).
`;
}

fs.rmSync(PAGES, { recursive: true, force: true });
const homes = ['site/index.md', 'site/es/index.md'];
for (const source of [
  ...homes,
  ...sources(),
  ...sources()
    .map(translationOf)
    .filter((file) => file !== null),
])
  write(placeOf(source), fs.readFileSync(path.join(ROOT, source), 'utf8'));
for (const [source, label] of onlyInEnglish()) write(`es/${placeOf(source)}`, untranslated(source, label));
fs.cpSync(path.join(ROOT, 'docs/images'), path.join(PAGES, 'images'), { recursive: true });
fs.cpSync(path.join(SITE, 'public'), path.join(PAGES, 'public'), { recursive: true });

// A page that is being served keeps its files until the new ones are there.
const fresh = `${out}.new`;
await build(SITE, { outDir: fresh });
fs.rmSync(out, { recursive: true, force: true });
fs.renameSync(fresh, out);
process.stderr.write(`» ${path.relative(process.cwd(), out)}: a running gateway serves it at /docs/guide/\n`);
