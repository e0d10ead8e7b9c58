// `npm test`: sets the checkout up, runs every test but those of the distributed deployment, which CI runs, and ends with one plain
// line, `N passed, N failed`. Arguments are Jest's own.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { jest } from './jest.mjs';
import { fail, say, setup } from './setup.mjs';

/**
 * A test file waits more than half of its time for the servers that it starts, so four workers keep two cores busy. A worker with a
 * deployment needs up to 2 GB.
 */
const WORKERS = Math.max(2, Math.min(4, Math.floor(os.totalmem() / 2 ** 31)));

/** Tests that start the distributed deployment. */
const DISTRIBUTED = '/scenarios/(chaos|distributed|two-versions)\\.test\\.ts$';

/** Runs Jest and counts the results; `skipped` has the names of skipped tests. */
async function run(args) {
  const result = path.join(os.tmpdir(), `ecf-test-${process.pid}.json`);
  const code = await jest(['--json', `--outputFile=${result}`, '--silent', ...args], WORKERS);
  if (!fs.existsSync(result)) fail('The test runner ended without a result.', 'Its output above says why.');
  const summary = JSON.parse(fs.readFileSync(result, 'utf8'));
  fs.rmSync(result);
  const broken = summary.testResults.filter(
    (file) => file.status === 'failed' && file.assertionResults.length === 0,
  ).length;
  if (summary.numPassedTests === 0) fail('No test was executed.', 'That is a fault of the suite, not a success.');
  const failed = summary.numFailedTests + broken;
  const skipped = summary.testResults
    .flatMap((file) => file.assertionResults)
    .filter((test) => test.status === 'pending' || test.status === 'todo')
    .map((test) => test.fullName);
  return { passed: summary.numPassedTests, failed: code !== 0 && failed === 0 ? 1 : failed, skipped };
}

await setup();
say('running every test (ten minutes on two cores; `node scripts/jest.mjs <path>` runs a part)');
const args = process.argv.slice(2);
const everything = [`--testPathIgnorePatterns=${DISTRIBUTED}`, '--testPathIgnorePatterns=/node_modules/'];
const { passed, failed, skipped } = await run(args.length > 0 ? args : everything);
for (const name of skipped) process.stdout.write(`skipped: ${name}\n`);
if (skipped.length > 0) process.stdout.write(`${skipped.length} skipped\n`);
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exit(failed === 0 ? 0 : 1);
