const swc = [
  '@swc/jest',
  {
    jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
    module: { type: 'es6' },
    sourceMaps: 'inline',
    swcrc: false,
  },
];

/** Scenarios that `npm test` runs on both deployments; `.ci/run` runs all of them there, with ECF_DEPLOYMENT=distributed. */
const CORE = ['whole-cycle'];

/** Tests and the sources they reach are transformed one file at a time; workspace packages are read from their sources. */
const suite = {
  testEnvironment: 'node',
  testEnvironmentOptions: { customExportConditions: ['development', 'node', 'node-addons'] },
  roots: ['<rootDir>/packages', '<rootDir>/services', '<rootDir>/deploy', '<rootDir>/test-e2e', '<rootDir>/bench'],
  testMatch: ['**/test/**/*.test.ts', '<rootDir>/test-e2e/**/*.test.ts'],
  modulePathIgnorePatterns: ['/dist/', '<rootDir>/.data', '<rootDir>/.tools'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': swc },
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
};

const onDistributed = {
  ...suite,
  displayName: 'distributed',
  testMatch: CORE.map((name) => `<rootDir>/test-e2e/scenarios/${name}.test.ts`),
  setupFiles: ['<rootDir>/test-e2e/support/on-distributed.ts'],
};

export default {
  projects: process.env.ECF_BOTH_DEPLOYMENTS === 'true' ? [suite, onDistributed] : [suite],
  testSequencer: '<rootDir>/scripts/test-order.mjs',
  testTimeout: 30_000,
};
