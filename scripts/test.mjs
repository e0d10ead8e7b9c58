// `npm test`: sets the checkout up, runs every test but those of the distributed deployment, which CI runs, and ends with one plain
// line, `N passed, N failed`. Arguments are Jest's own, after `--repeat` if failed files are run once more as without arguments.
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

/** A file that fails beside three others on two cores is run again by itself. More files than this fail for a reason. */
const MOST_REPEATED = 5;

/** Runs Jest, and returns what it reports of each file. */
async function run(args, workers) {
  const result = path.join(os.tmpdir(), `ecf-test-${process.pid}.json`);
  const code = await jest(['--json', `--outputFile=${result}`, '--silent', ...args], workers);
  if (!fs.existsSync(result)) fail('The test runner ended without a result.', 'Its output above says why.');
  const { testResults } = JSON.parse(fs.readFileSync(result, 'utf8'));
  fs.rmSync(result);
  return { files: testResults, isUnexplained: code !== 0 && failedFiles(testResults).length === 0 };
}

const failedFiles = (files) => files.filter(({ status }) => status === 'failed');
const testsOf = (files, ...statuses) =>
  files.flatMap(({ assertionResults }) => assertionResults).filter(({ status }) => statuses.includes(status));
/** A file may also fail before or after its tests. */
const failuresOf = (files) =>
  failedFiles(files).reduce((sum, file) => sum + Math.max(1, testsOf([file], 'failed').length), 0);

await setup();
const given = process.argv.slice(2);
const args = given.filter((arg) => arg !== '--repeat');
const mayRepeat = args.length === 0 || args.length < given.length;
// A distributed deployment starts a process for each service: one deployment at a time.
const workers = process.env.ECF_DEPLOYMENT === 'distributed' ? 1 : WORKERS;
if (args.length === 0)
  say('running every test (twenty minutes on two cores; `node scripts/jest.mjs <path>` runs a part)');
const everything = [`--testPathIgnorePatterns=${DISTRIBUTED}`, '--testPathIgnorePatterns=/node_modules/'];
let { files, isUnexplained } = await run(args.length > 0 ? args : everything, workers);
const suspects = failedFiles(files);
if (mayRepeat && suspects.length > 0 && suspects.length <= MOST_REPEATED) {
  say(`running the ${suspects.length} failed files again, one after the other`);
  const again = await run(['--runTestsByPath', ...suspects.map(({ name }) => name)], 1);
  files = files.filter((file) => !suspects.includes(file)).concat(again.files);
  isUnexplained ||= again.isUnexplained;
  const stillFailed = failedFiles(again.files).map(({ name }) => name);
  for (const file of suspects.filter(({ name }) => !stillFailed.includes(name))) {
    const tests = testsOf([file], 'failed').map(({ fullName }) => fullName);
    process.stdout.write(`passed at the second try: ${path.relative('.', file.name)}: ${tests.join('; ')}\n`);
  }
}
if (testsOf(files, 'passed').length === 0)
  fail('No test was executed.', 'That is a fault of the suite, not a success.');
const skipped = testsOf(files, 'pending', 'todo');
for (const { fullName } of skipped) process.stdout.write(`skipped: ${fullName}\n`);
if (skipped.length > 0) process.stdout.write(`${skipped.length} skipped\n`);
const failed = isUnexplained ? Math.max(1, failuresOf(files)) : failuresOf(files);
process.stdout.write(`${testsOf(files, 'passed').length} passed, ${failed} failed\n`);
process.exit(failed === 0 ? 0 : 1);
