// Many batches of two accounts at once, to their last verdicts: documents a second, how the accounts share, processor time and memory.
// Prints the ledger of the authority, and fails on a document that it lacks or got twice.
//
// Settings: BENCH_BATCHES (10), BENCH_DOCUMENTS (10000), BENCH_DEPLOYMENT (standalone); INSTANCES=2 INSTANCES_OF=emission of the distributed
// deployment. BENCH_SECONDS (1800) ends it.
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { formatDocumentDate, toCalendarDate } from '@ecf/domain';
import type { DeploymentName } from '@ecf/test-servers/deployment';
import { benchFolder, endAfter } from '../harness/ending.js';
import { childCalled, descendantsOf, peakBytes, processorSecondsOfTree } from '../harness/processes.js';
import { heading, line } from '../harness/report.js';
import { type Account, createSecondAccount } from '../subject/second-account.js';
import { startSubject } from '../subject/subject.js';

const BATCHES = Number(process.env.BENCH_BATCHES ?? 10);
const DOCUMENTS = Number(process.env.BENCH_DOCUMENTS ?? 10_000);
const DEPLOYMENT = (process.env.BENCH_DEPLOYMENT ?? 'standalone') as DeploymentName;
const LINES = 10;

interface Progress {
  readonly status: string;
  readonly total: number;
  readonly accepted: number;
}

endAfter(Number(process.env.BENCH_SECONDS ?? 1_800));
const date = formatDocumentDate(toCalendarDate(new Date()));
const subject = await startSubject(path.join(benchFolder(), 'subject'), date, LINES, DEPLOYMENT);
const { demo, child } = subject.standalone;
try {
  await run();
} finally {
  await subject.standalone.end('SIGTERM');
}

async function run(): Promise<void> {
  const first: Account = { key: demo.api_key, issuer: demo.issuer_rnc, nextDocuments: subject.nextDocuments };
  const accounts = [first, await createSecondAccount(demo, date, LINES)] as const;
  heading(`${BATCHES} batches of ${DOCUMENTS} by two accounts, ${DEPLOYMENT}`);
  const pid = child.pid as number;
  const simulator = childCalled(pid, 'authority-simulator');
  const cpu = () => processorSecondsOfTree(pid) - processorSecondsOfTree(simulator);
  const [before, began] = [cpu(), performance.now()];
  const seconds = () => (performance.now() - began) / 1_000;

  const sent: { account: Account; url: string }[] = [];
  for (let batch = 0; batch < BATCHES; batch += 1) {
    const account = accounts[batch % 2] as Account;
    sent.push({ account, url: await postBatch(account) });
  }
  line(`all stored after ${seconds().toFixed(1)} s`);
  const ended = await Promise.all(
    accounts.map((account) => lastVerdict(sent.filter((one) => one.account === account))),
  );
  const total = BATCHES * DOCUMENTS;
  const taken = seconds();
  line(
    `${(total / taken).toFixed(0)}/s to the last verdict, ${(((cpu() - before) / total) * 1e3).toFixed(2)} ms of processor time a document`,
  );
  line(`the accounts' last verdicts after ${ended.map((one) => `${one.toFixed(0)} s`).join(' and ')}`);
  const most = descendantsOf(pid)
    .filter(({ command }) => command.includes('node'))
    .map((one) => peakBytes(one.pid));
  line(`largest resident set of a process ${(Math.max(peakBytes(pid), ...most) / 1024 / 1024).toFixed(0)} MiB`);
  for (const { issuer } of accounts) await printLedger(issuer, (total / 2) | 0);

  /** Seconds until all batches of an account are done. */
  async function lastVerdict(batches: readonly { account: Account; url: string }[]): Promise<number> {
    for (const { account, url } of batches) {
      for (let progress = await read(account, url); ; progress = await read(account, url)) {
        if (progress.status === 'done' && progress.accepted !== progress.total)
          throw new Error(JSON.stringify(progress));
        if (progress.status === 'done') break;
        await delay(1_000);
      }
    }
    return seconds();
  }
}

async function postBatch({ key, nextDocuments }: Account): Promise<string> {
  const response = await fetch(`${demo.base_url}/batches`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/x-ndjson' },
    body: `${nextDocuments(DOCUMENTS).join('\n')}\n`,
  });
  if (response.status !== 202) throw new Error(`the batch got ${response.status}: ${await response.text()}`);
  return ((await response.json()) as { status_url: string }).status_url;
}

async function read({ key }: Account, url: string): Promise<Progress> {
  const response = await fetch(new URL(url, demo.base_url), { headers: { 'x-api-key': key } });
  return (await response.json()) as Progress;
}

async function printLedger(issuer: string, expected: number): Promise<void> {
  const address = `${demo.authority_url}/_control/submissions?operation=recepcion&rnc=${issuer}`;
  const all = ((await (await fetch(address)).json()) as { encf: string }[]).map(({ encf }) => encf);
  const distinct = new Set(all).size;
  line(`ledger of the authority for ${issuer}: ${distinct} documents, ${all.length - distinct} got twice`);
  if (all.length !== distinct || distinct < expected) process.exitCode = 1;
}
