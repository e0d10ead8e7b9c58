// The import rules of the house, as `npm run lint` holds them: compiled modules against `.dependency-cruiser.cjs`, and the table
// "Packages" of ARCHITECTURE.md against what each package lists. Takes the root to look at; without one, this repository.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { ROOT } from './setup.mjs';

process.chdir(path.resolve(process.argv[2] ?? ROOT));
const cruise = ['--config', '.dependency-cruiser.cjs', '--output-type', 'err-long'];
// Named one by one: a pattern would be searched through the links of node_modules, which lead in circles.
const compiled = ['packages', 'services', 'deploy'].flatMap((folder) =>
  fs
    .readdirSync(folder)
    .map((name) => `${folder}/${name}/dist`)
    .filter((dist) => fs.existsSync(dist)),
);
const imports = spawnSync(path.join(ROOT, 'node_modules', '.bin', 'depcruise'), [...cruise, ...compiled], {
  stdio: 'inherit',
});
const faults = tableFaults();
for (const fault of faults) process.stderr.write(`  error ARCHITECTURE.md, table "Packages": ${fault}\n`);
process.exit(imports.status === 0 && faults.length === 0 ? 0 : 1);

/** Where the column "May import" says something else than `dependencies` in the package.json of that package. */
function tableFaults() {
  const rows = tableRows();
  const packages = fs.readdirSync('packages').filter((name) => fs.existsSync(`packages/${name}/package.json`));
  return [
    ...[...rows.keys()].filter((name) => !packages.includes(name)).map((name) => `\`${name}\` is no package`),
    ...packages.flatMap((name) => {
      const listed = listedBy(name);
      const said = rows.get(name);
      if (said === listed) return [];
      return [`\`${name}\` ${said === undefined ? 'has no row' : `says ${said}`}; its package.json lists ${listed}`];
    }),
  ];
}

/** The last column by the name in the first, in the section "Packages". */
function tableRows() {
  const section = fs
    .readFileSync('ARCHITECTURE.md', 'utf8')
    .split(/^## /m)
    .find((text) => text.startsWith('Packages\n'));
  const rows = [...(section ?? '').matchAll(/^\| `([^`]+)` \|.*\| ([^|]+) \|$/gm)];
  return new Map(rows.map(([, name, allowed]) => [name, allowed]));
}

/** The packages of the house that a package lists, written as the table writes them. */
function listedBy(name) {
  const { dependencies = {} } = JSON.parse(fs.readFileSync(`packages/${name}/package.json`, 'utf8'));
  const own = Object.keys(dependencies).filter((one) => one.startsWith('@ecf/'));
  return (
    own
      .sort()
      .map((one) => `\`${one.slice('@ecf/'.length)}\``)
      .join(', ') || 'nothing'
  );
}
