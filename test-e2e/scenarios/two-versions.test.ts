/**
 * The instances of the version before are replaced, one after the other, by those of this version and back again, while callers submit
 * invoices and batches, approve and cancel. On the way back, new gateways call old services.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { agreement, type LedgerEntry } from '../support/agreement/agreement.js';
import { load, type Submitted } from '../support/agreement/chaos.js';
import { cycle } from '../support/agreement/cycle.js';
import { StoredEverywhere } from '../support/agreement/stored-everywhere.js';
import { answersSeen, Client } from '../support/client.js';
import { checkoutOf, previousVersion } from '../support/deployment/previous-version.js';
import { describeDistributed, type Standalone, startDistributed } from '../support/deployment/standalone-process.js';
import { Numbering } from '../support/documents/documents.js';
import { until } from '../support/until.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const RUNNER = path.join(ROOT, 'test-e2e/support/deployment/run-version.sh');
const ISSUER = '199999991';
const BUYER = '188888885';
const ROUND = 40;
/** A loaded machine starts a service in a minute. */
const LONG_MS = 300_000;
/** The gateways come last. */
const SERVICES = ['status-poller', 'query', 'reception', 'approvals', 'emission', 'gateway'];
const PROCESSES = SERVICES.flatMap((name) => [name, `${name}-2`]);

const previous = previousVersion();
if (previous === null)
  process.stderr.write('There is no tag of an earlier version. The test of two versions is skipped.\n');

(previous === null ? describe.skip : describeDistributed)('a rolling restart into this version, and back', () => {
  let dataDir: string;
  let running: Standalone | undefined;
  let stored: StoredEverywhere | undefined;
  beforeAll(() => {
    dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'ecf-versions-'));
    fs.chmodSync(dataDir, 0o755);
  });
  afterAll(async () => {
    await stored?.close();
    await running?.end('SIGTERM');
    fs.rmSync(dataDir, { recursive: true, force: true });
  });

  let all: Submitted[] = [];
  let ofCycles: string[] = [];

  it('loses no call, and answers no error without Retry-After', async () => {
    const versions = path.join(dataDir, 'versions');
    const before = await checkoutOf(previous as string);
    const choose = (name: string, root: string) => fs.writeFileSync(path.join(versions, name), root);
    fs.mkdirSync(versions);
    for (const name of PROCESSES) choose(name, before);
    running = await startDistributed(dataDir, {
      ...{ INSTANCES: '2', SERVICE_RUNNER: RUNNER, ECF_VERSIONS: versions },
      ...{ PROCESSING_MS: '20', FIRST_QUERY_MS: '200', LOG_LEVEL: 'warn' },
    });
    const deployment = running;
    stored = new StoredEverywhere(dataDir, process.env);
    const processOf = (name: string) => deployment.processes().find((one) => one.name === name);

    async function replace(name: string, root: string): Promise<void> {
      choose(name, root);
      const pid = processOf(name)?.pid as number;
      process.kill(pid, 'SIGTERM');
      await until(
        async () => {
          const next = processOf(name);
          if (next === undefined || next.pid === null || next.pid === pid) return null;
          return (await fetch(`${next.url}/health/ready`).catch(() => null))?.status ?? null;
        },
        (status) => status === 200,
        LONG_MS,
      );
    }
    const numbers = new Numbering({ rnc: ISSUER, name: 'Comercial Palma Ficticia, SRL' });
    let turns = 0;
    async function submitRound(): Promise<void> {
      turns += 1;
      const [loaded, encfs] = await Promise.all([
        load(deployment, numbers, ROUND, () => {}),
        cycle(deployment, { issuer: ISSUER, buyer: BUYER, numbers }, turns, LONG_MS),
      ]);
      all = all.concat(loaded);
      ofCycles = ofCycles.concat(encfs);
    }
    for (const root of [ROOT, before]) {
      let replaced = 0;
      const replacing = (async () => {
        for (const name of PROCESSES) {
          await replace(name, root);
          replaced += 1;
        }
      })();
      const failed = replacing.then(() => null, String);
      do await submitRound();
      while (replaced < PROCESSES.length && (await Promise.race([failed, null])) === null);
      expect(await failed).toBeNull();
      // This round is submitted to one version only.
      await submitRound();
    }
    const errors = answersSeen().filter(({ answer }) => answer.status >= 500);
    const unexplained = errors.filter(({ answer }) => answer.status !== 503 || !answer.headers.has('retry-after'));
    expect(unexplained.map(({ place, answer }) => [place, answer.status, answer.text])).toEqual([]);
    process.stderr.write(
      `two versions: invoices ${all.length}, cycles ${turns}, answers 503 with Retry-After ${errors.length}\n`,
    );
  }, 1_800_000);

  it(
    'leaves every document stored once, with equal contents, in ledger, databases, read models and archive',
    async () => {
      const records = stored as StoredEverywhere;
      await until(
        () => records.openWork(),
        (open) => Object.values(open).every((count) => count === 0),
        LONG_MS,
      );
      const { body } = await new Client(running as Standalone).control('GET', `/submissions?rnc=${ISSUER}`);
      const submissions = (body as LedgerEntry[]).filter(({ operation }) => /^recepcion/.test(operation));
      const { differences } = await until(
        () => agreement(records, submissions),
        (seen) => seen.differences.length === 0,
        LONG_MS,
      ).catch(() => agreement(records, submissions));
      expect(differences.slice(0, 5)).toEqual([]);
      const accepted = submissions.filter(({ effective }) => effective).map(({ encf }) => encf);
      expect(new Set(accepted)).toEqual(new Set([...all.map(({ encf }) => encf), ...ofCycles, 'E310000000001']));
    },
    LONG_MS * 3,
  );
});
