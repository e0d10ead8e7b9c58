import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import type { Answer, Client } from '../support/client.js';
import { useDeployment } from '../support/deployment/deployment.js';
import { Numbering, otherContent } from '../support/documents/documents.js';
import { until } from '../support/until.js';

const AWAY_MS = 5_000;
const deployment = useDeployment(
  { FIRST_RETRY_MS: '100', FIRST_QUERY_MS: '100', BACKGROUND_IDLE_MS: '250' },
  { ownServers: true },
);
const numbers = new Numbering({ rnc: '199999991', name: 'Comercial Palma Ficticia, SRL' });
const client = (): Client => deployment.demo;

/** The process id of the embedded server. */
function postgres(): number {
  const file = path.join(deployment.dataDir, 'postgres', 'postmaster.pid');
  const pid = Number.parseInt(fs.readFileSync(file, 'utf8'), 10);
  // A starting server creates its file before it writes it. Signals to process 0 would reach this test itself.
  if (!(pid > 1)) throw new Error(`no process id in ${file}`);
  return pid;
}

/** Stops the server and all its sessions, as a machine that hangs does; returns a function that continues them. */
function freeze(): () => void {
  const server = postgres();
  process.kill(server, 'SIGSTOP');
  const sessions = execFileSync('ps', ['-o', 'pid=', '--ppid', String(server)])
    .toString()
    .trim()
    .split(/\s+/)
    .map(Number);
  for (const pid of sessions) process.kill(pid, 'SIGSTOP');
  return () => {
    // The server comes last: it forgets the sessions that have ended.
    for (const pid of [...sessions, server]) process.kill(pid, 'SIGCONT');
  };
}

const readiness = () => fetch(`${deployment.running.demo.base_url}/health/ready`);

/** Waits until the gateway is ready. It caches its readiness for a second. */
const readyAgain = () => until(readiness, ({ status }) => status === 200);

/** Submits a document every tenth of a second; resolves with each request and its answer. */
async function submitting(during: Promise<unknown>) {
  const calls: Promise<{ invoice: object; encf: string; answer: Answer }>[] = [];
  let over = false;
  void during.finally(() => {
    over = true;
  });
  for (let index = 0; !over; index += 1) {
    const { invoice, encf } = numbers.next(index % 2 === 0 ? 'ecf-31' : 'ecf-32');
    calls.push(
      client()
        .submit(invoice)
        .then((answer) => ({ invoice, encf, answer })),
    );
    await delay(100);
  }
  return Promise.all(calls);
}

/** Each 200 has an accepted document, each 503 a free number; no document was submitted twice. */
async function expectNothingLost(results: Awaited<ReturnType<typeof submitting>>): Promise<void> {
  expect(results.length).toBeGreaterThan(3);
  for (const { invoice, encf, answer } of results) {
    if (answer.status === 200) {
      const last = await client().until('Aceptado', () => client().submit(invoice));
      expect(last.body.xml).toBe(answer.body.xml);
    } else {
      expect(answer).toMatchObject({ status: 503, body: { code: 'service_unavailable' } });
      // The 503 left the number unused, so another document may have it.
      const free = await client().until('Aceptado', () => client().submit(otherContent(invoice)));
      expect(free.body.encf).toBe(encf);
    }
    expect((await client().ledger(encf)).map(({ effective }) => effective)).toEqual([true]);
  }
}

describe('a database that is gone for five seconds', () => {
  it('frozen: requests wait or get 503; no document is lost or doubled', async () => {
    const resume = freeze();
    const back = delay(AWAY_MS).finally(resume);
    const results = await submitting(back.then(() => delay(500)));
    await expectNothingLost(results);
  });

  it('killed: it is restarted, and later requests are accepted; no document is lost or doubled', async () => {
    const before = postgres();
    process.kill(before, 'SIGKILL');
    const { invoice } = numbers.next();
    const back = delay(2_000).then(() => client().until('Aceptado', () => client().submit(invoice)));
    const results = await submitting(back);
    expect(postgres()).not.toBe(before);
    const after = await submitting(delay(1_000));
    expect(after.map(({ answer }) => answer.status)).toEqual(after.map(() => 200));
    await expectNothingLost([...results, ...after]);
  });

  it('killed repeatedly: the answers are clear, and the account can be administered afterwards', async () => {
    const { invoice, encf } = numbers.next();
    const end = Date.now() + AWAY_MS;
    const first = client().submit(invoice);
    while (Date.now() < end) {
      try {
        process.kill(postgres(), 'SIGKILL');
      } catch {
        // Between two servers there is none.
      }
      await delay(100);
    }
    const answer = await first;
    expect([200, 503]).toContain(answer.status);
    const last = await client().until('Aceptado', () => client().submit(invoice));
    expect(last.body.encf).toBe(encf);
    expect((await client().ledger(encf)).map(({ effective }) => effective)).toEqual([true]);
    await readyAgain();
    expect((await client().admin('POST', '/accounts', { name: 'Después' })).status).toBe(201);
  });
});

describe('while the database is down', () => {
  it('the process is alive but not ready, and readiness names the database', async () => {
    const resume = freeze();
    try {
      const ready = await until(readiness, ({ status }) => status === 503);
      expect((await client().call('GET', '/health/live')).status).toBe(200);
      expect(await ready.json()).toMatchObject({ checks: { database: expect.not.stringMatching(/^ok$/) } });
    } finally {
      resume();
    }
    await readyAgain();
  });
});
