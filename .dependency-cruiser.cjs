/** The import rules of the house (ARCHITECTURE.md): who may know whom. */
module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      severity: 'error',
      comment: 'Types may know each other; code may not.',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'domain-imports-nothing',
      severity: 'error',
      comment: 'Rules and tables are pure: no package, no Node module.',
      from: { path: '^packages/domain/src' },
      to: { pathNot: '^packages/domain/src' },
    },
    {
      name: 'core-does-no-io',
      severity: 'error',
      comment: 'Use cases speak to the outside through ports.',
      from: { path: '^services/[^/]+/src/core' },
      to: {
        dependencyTypesNot: ['type-only'],
        path: [
          '^services/[^/]+/src/(inbound|outbound)',
          'node_modules/(express|multer|kafkajs|pg|ioredis|got|@prisma)',
          '^(fs|net|http|https|child_process|node:fs|node:net|node:http|node:https|node:child_process)',
        ],
      },
    },
    {
      name: 'inbound-does-not-know-outbound',
      severity: 'error',
      from: { path: '^services/([^/]+)/src/inbound' },
      to: { path: '^services/[^/]+/src/outbound' },
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
    { name: 'only-declared-dependencies', severity: 'error', from: { path: '/src/' }, to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'unknown'] } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)(dist|test|generated|node_modules)/' },
    tsPreCompilationDeps: true,
    parser: 'swc',
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['development', 'import', 'node'] },
  },
};
