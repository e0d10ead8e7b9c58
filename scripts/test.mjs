// `npm test`: sets the checkout up, runs every test, and ends with one plain line, `N passed, N failed`.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { jest } from './jest.mjs';
import { fail, say, setup } from './setup.mjs';

const result = path.join(os.tmpdir(), `ecf-test-${process.pid}.json`);
await setup();
say('running every test (about ten minutes on two cores; `node scripts/jest.mjs <path>` runs a part)');
// Files share the cores with the servers that they start, and wait for them much of the time: two at once.
const code = await jest(['--json', `--outputFile=${result}`, '--silent', ...process.argv.slice(2)], 2);
if (!fs.existsSync(result)) fail('The test runner ended without a result.', 'Its output above says why.');
const summary = JSON.parse(fs.readFileSync(result, 'utf8'));
fs.rmSync(result);

const skipped = summary.testResults.flatMap((file) =>
  file.assertionResults
    .filter((test) => test.status === 'pending' || test.status === 'todo')
    .map((test) => test.fullName),
);
for (const name of skipped) process.stdout.write(`skipped: ${name}\n`);
const broken = summary.testResults.filter(
  (file) => file.status === 'failed' && file.assertionResults.length === 0,
).length;
const failed = summary.numFailedTests + broken;
if (summary.numPassedTests === 0) fail('No test was executed.', 'That is a fault of the suite, not a success.');
process.stdout.write(
  `${summary.numPassedTests} passed, ${failed} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ''}\n`,
);
process.exit(code === 0 && failed === 0 ? 0 : 1);
