// `npm test`: sets the checkout up, runs every test, and ends with one plain line, `N passed, N failed`. Arguments are
// Jest's own; without any, the core scenarios run a second time, on the distributed deployment.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { jest } from './jest.mjs';
import { fail, ROOT, say, setup } from './setup.mjs';

/** Scenarios that every run of the suite has on both deployments; ECF_DEPLOYMENT=distributed runs any other as well. */
const CORE = ['repeats', 'queries', 'provider-reception', 'whole-cycle'];

/** Runs Jest and adds up what came of it. */
async function run(args, total) {
  const result = path.join(os.tmpdir(), `ecf-test-${process.pid}.json`);
  // Files share the cores with the servers that they start, and wait for them much of the time: two at once.
  const code = await jest(['--json', `--outputFile=${result}`, '--silent', ...args], 2);
  if (!fs.existsSync(result)) fail('The test runner ended without a result.', 'Its output above says why.');
  const summary = JSON.parse(fs.readFileSync(result, 'utf8'));
  fs.rmSync(result);
  const broken = summary.testResults.filter(
    (file) => file.status === 'failed' && file.assertionResults.length === 0,
  ).length;
  if (summary.numPassedTests === 0) fail('No test was executed.', 'That is a fault of the suite, not a success.');
  total.passed += summary.numPassedTests;
  total.failed += summary.numFailedTests + broken;
  if (code !== 0 && summary.numFailedTests + broken === 0) total.failed += 1;
  for (const file of summary.testResults)
    for (const test of file.assertionResults)
      if (test.status === 'pending' || test.status === 'todo') total.skipped.push(test.fullName);
}

/** What keeps a distributed deployment from running here; null when nothing does. */
async function distributedLacks() {
  const servers = await import(pathToFileURL(path.join(ROOT, 'packages/test-servers/dist/index.js')).href);
  if (process.env.KAFKA_BROKERS || (await servers.dockerAnswers())) return null;
  const lacks = await servers.javaLacks();
  return lacks === null ? null : `Kafka is missing. Set KAFKA_BROKERS, start Docker, or install ${lacks}.`;
}

await setup();
const total = { passed: 0, failed: 0, skipped: [] };
const given = process.argv.slice(2);
say('running every test (about ten minutes on two cores; `node scripts/jest.mjs <path>` runs a part)');
await run(given, total);
if (given.length === 0) {
  const lacks = await distributedLacks();
  if (lacks !== null && process.env.CI === 'true') fail(lacks);
  const files = CORE.map((name) => `test-e2e/scenarios/${name}.test.ts`).filter((file) =>
    fs.existsSync(path.join(ROOT, file)),
  );
  if (lacks !== null) total.skipped.push(`the core scenarios on the distributed deployment: ${lacks}`);
  else {
    say('running the core scenarios on the distributed deployment');
    process.env.ECF_DEPLOYMENT = 'distributed';
    await run(files, total);
  }
}

for (const name of total.skipped) process.stdout.write(`skipped: ${name}\n`);
const { passed, failed, skipped } = total;
process.stdout.write(`${passed} passed, ${failed} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ''}\n`);
process.exit(failed === 0 ? 0 : 1);
