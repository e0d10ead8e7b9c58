// Runs Jest over TypeScript sources as ES modules; arguments are Jest's own (paths, -t, ...).
import { pathToFileURL } from 'node:url';
import { ROOT, runTool } from './setup.mjs';

/** Node options that the suite needs: ES modules inside Jest, and no warning about it on every file. */
const JEST_ENV = {
  NODE_OPTIONS:
    `${process.env.NODE_OPTIONS ?? ''} --experimental-vm-modules --disable-warning=ExperimentalWarning`.trim(),
};

/** Tests create many short-lived objects: a larger young generation saves a tenth of the processor time. Workers inherit it. */
const YOUNG_GENERATION = '--max-semi-space-size=32';

/** Runs Jest, by default in one process; resolves with its exit code. */
export function jest(args, workers = 1) {
  const concurrency = workers === 1 ? ['--runInBand'] : [`--maxWorkers=${workers}`, '--workerIdleMemoryLimit=1500MB'];
  // Servers that tests start are shared by the whole run and stop with it (packages/test-servers).
  const env = { ...JEST_ENV, ECF_TEST_RUN: String(process.pid) };
  // The data folder of a first start is copied for later starts (test-e2e/support/deployment/prepared-folder).
  if (workers > 1) env.ECF_TEST_PREPARES = String(process.pid);
  const program = [YOUNG_GENERATION, `${ROOT}/node_modules/jest/bin/jest.js`];
  return runTool(process.execPath, [...program, ...concurrency, ...args], env);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) process.exit(await jest(process.argv.slice(2)));
