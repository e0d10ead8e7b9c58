/**
 * The import rules of the house (ARCHITECTURE.md): who may know whom. They are checked on the compiled modules, where
 * imports of mere types are gone: types may know each other, code may not.
 */
const fs = require('node:fs');
const path = require('node:path');

/** Every package, service and deployment, with those of the house that it lists under `dependencies`. */
const members = ['packages', 'services', 'deploy']
  .flatMap((folder) => fs.readdirSync(path.join(__dirname, folder)).map((name) => `${folder}/${name}`))
  .filter((folder) => fs.existsSync(path.join(__dirname, folder, 'package.json')))
  .map((folder) => {
    const { name, dependencies = {} } = JSON.parse(
      fs.readFileSync(path.join(__dirname, folder, 'package.json'), 'utf8'),
    );
    return { folder, name, allowed: Object.keys(dependencies).filter((one) => one.startsWith('@ecf/')) };
  });
const folderOf = new Map(members.map(({ name, folder }) => [name, folder]));

/** A member imports itself and what it lists, whether by name or by path; what its tests need is not among that. */
function importsOf({ folder, allowed }) {
  const within = [folder, ...allowed.map((name) => folderOf.get(name)).filter(Boolean)];
  return {
    name: `imports-of-${path.basename(folder)}`,
    severity: 'error',
    comment: `${folder} may import: ${allowed.join(', ') || 'nothing of the house'} ("dependencies" in ${folder}/package.json).`,
    from: { path: `^${folder}/` },
    to: { path: '^(packages|services|deploy)/|^@ecf/', pathNot: `^(${within.join('|')})/` },
  };
}

module.exports = {
  forbidden: [
    ...members.map(importsOf),
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'domain-imports-nothing',
      severity: 'error',
      comment: 'Rules and tables are pure: no package, no Node module.',
      from: { path: '^packages/domain/dist' },
      to: { pathNot: '^packages/domain/dist' },
    },
    {
      name: 'core-does-no-io',
      severity: 'error',
      comment: 'Use cases speak to the outside through ports.',
      from: { path: '^services/[^/]+/dist/core' },
      to: {
        path: [
          '^services/[^/]+/dist/(inbound|outbound)',
          'node_modules/(express|multer|kafkajs|pg|ioredis|got|@prisma)/',
          '^(fs|fs/promises|http|https|child_process)$',
        ],
      },
    },
    {
      name: 'inbound-does-not-know-outbound',
      severity: 'error',
      from: { path: '^services/([^/]+)/dist/inbound' },
      to: { path: '^services/[^/]+/dist/outbound' },
    },
    {
      name: 'services-do-not-import-services',
      severity: 'error',
      from: { path: '^services/([^/]+)/' },
      to: { path: '^services/', pathNot: '^services/$1/' },
    },
    {
      name: 'packages-do-not-import-services',
      severity: 'error',
      from: { path: '^packages/' },
      to: { path: '^(services|deploy)/' },
    },
    {
      name: 'only-declared-dependencies',
      severity: 'error',
      from: {},
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'unknown'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)(test|generated)/|\\.d\\.ts$' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
  },
};
