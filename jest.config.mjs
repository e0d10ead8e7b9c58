const swc = [
  '@swc/jest',
  {
    jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
    module: { type: 'es6' },
    sourceMaps: 'inline',
    swcrc: false,
  },
];

/** Tests and the sources they reach are transformed one file at a time; workspace packages are read from their sources. */
export default {
  testEnvironment: '<rootDir>/scripts/test-environment.mjs',
  runtime: '<rootDir>/scripts/test-runtime.mjs',
  testEnvironmentOptions: { customExportConditions: ['development', 'node', 'node-addons'] },
  roots: ['<rootDir>/packages', '<rootDir>/services', '<rootDir>/deploy', '<rootDir>/test-e2e', '<rootDir>/bench'],
  testMatch: ['**/test/**/*.test.ts', '<rootDir>/test-e2e/**/*.test.ts'],
  modulePathIgnorePatterns: ['/dist/', '<rootDir>/.data', '<rootDir>/.tools'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': swc },
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  testSequencer: '<rootDir>/scripts/test-order.mjs',
  // Nothing is waited for this long: what a test waits for tells its own end first, and a start of a deployment takes minutes on a
  // machine that does other work.
  testTimeout: 300_000,
};
