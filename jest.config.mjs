const swc = [
  '@swc/jest',
  {
    jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
    module: { type: 'es6' },
    sourceMaps: true,
    swcrc: false,
  },
];

/** Jest transforms tests and sources one file at a time. It reads workspace packages from their sources. */
export default {
  testEnvironment: 'node',
  testEnvironmentOptions: { customExportConditions: ['development', 'node', 'node-addons'] },
  roots: ['<rootDir>/packages', '<rootDir>/services', '<rootDir>/deploy', '<rootDir>/test-e2e', '<rootDir>/bench'],
  testMatch: ['**/test/**/*.test.ts', '<rootDir>/test-e2e/**/*.test.ts'],
  modulePathIgnorePatterns: ['/dist/', '<rootDir>/.data', '<rootDir>/.tools'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': swc },
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  testSequencer: '<rootDir>/scripts/test-order.mjs',
  // Waits inside tests have their own, shorter limits. Only the start of a deployment on a busy machine takes minutes.
  testTimeout: 300_000,
};
