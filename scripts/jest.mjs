// Runs Jest over TypeScript sources as ES modules; arguments are Jest's own (paths, -t, ...).
import { pathToFileURL } from 'node:url';
import { ROOT, runTool } from './setup.mjs';

/** Node options that the suite needs: ES modules inside Jest, and no warning about it on every file. */
export const JEST_ENV = {
  NODE_OPTIONS:
    `${process.env.NODE_OPTIONS ?? ''} --experimental-vm-modules --disable-warning=ExperimentalWarning`.trim(),
};

/** Tests make much that is soon over: with more room for it a tenth of the processor time is saved. Workers inherit it. */
const ROOM_FOR_NEW = '--max-semi-space-size=32';

/** Runs Jest, by default in one process; resolves with its exit code. */
export function jest(args, workers = 1) {
  const where = workers === 1 ? ['--runInBand'] : [`--maxWorkers=${workers}`, '--workerIdleMemoryLimit=1500MB'];
  // Servers that are started for tests serve the whole run, and end with it (packages/test-servers).
  const env = { ...JEST_ENV, ECF_TEST_RUN: String(process.pid) };
  // What a first start leaves in a data folder is worth keeping where many start (test-e2e/support/prepared-folder).
  if (workers > 1) env.ECF_TEST_PREPARES = String(process.pid);
  const program = [ROOM_FOR_NEW, `${ROOT}/node_modules/jest/bin/jest.js`];
  return runTool(process.execPath, [...program, ...where, ...args], env);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) process.exit(await jest(process.argv.slice(2)));
