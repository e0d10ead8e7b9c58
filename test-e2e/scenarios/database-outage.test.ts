import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import type { Answer, Client } from '../support/client.js';
import { useDeployment } from '../support/deployment.js';
import { Numbering, otherContent } from '../support/documents.js';
import { until } from '../support/until.js';

const AWAY_MS = 5_000;
const deployment = useDeployment(
  { FIRST_RETRY_MS: '100', FIRST_QUERY_MS: '100', BACKGROUND_IDLE_MS: '50' },
  { ownServers: true },
);
const numbers = new Numbering({ rnc: '199999991', name: 'Comercial Palma Ficticia, SRL' });
const client = (): Client => deployment.demo;

/** The embedded server. */
function postgres(): number {
  const file = path.join(deployment.dataDir, 'postgres', 'postmaster.pid');
  return Number(fs.readFileSync(file, 'utf8').split('\n')[0]);
}

/** Stops the server and every process of its sessions, as a machine that hangs does; resolves with what lets them go on. */
function freeze(): () => void {
  const server = postgres();
  process.kill(server, 'SIGSTOP');
  const sessions = execFileSync('ps', ['-o', 'pid=', '--ppid', String(server)])
    .toString()
    .trim()
    .split(/\s+/)
    .map(Number);
  const all = [server, ...sessions];
  for (const pid of sessions) process.kill(pid, 'SIGSTOP');
  return () => {
    for (const pid of all) process.kill(pid, 'SIGCONT');
  };
}

const readiness = () => fetch(`${deployment.running.demo.base_url}/health/ready`);

/** What was told of readiness lately is told again for a second. */
const readyAgain = () => until(readiness, ({ status }) => status === 200, 10_000);

/** One document every tenth of a second, each answer with what was sent. */
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

/** Whoever got 200 has an accepted document, whoever got 503 a free number; nothing went out twice. */
async function expectNothingLost(results: Awaited<ReturnType<typeof submitting>>): Promise<void> {
  expect(results.length).toBeGreaterThan(10);
  for (const { invoice, encf, answer } of results) {
    if (answer.status === 200) {
      const last = await client().until('Aceptado', () => client().submit(invoice));
      expect(last.body.xml).toBe(answer.body.xml);
    } else {
      expect(answer).toMatchObject({ status: 503, body: { code: 'service_unavailable' } });
      // The answer said that nothing was consumed: another document may have the number as soon as that is put in order.
      const free = await client().until('Aceptado', () => client().submit(otherContent(invoice)));
      expect(free.body.encf).toBe(encf);
    }
    expect((await client().ledger(encf)).map(({ effective }) => effective)).toEqual([true]);
  }
}

describe('a database that is gone for five seconds', () => {
  it('frozen: requests wait or are told to repeat; nothing is lost or doubled', async () => {
    const goOn = freeze();
    const back = delay(AWAY_MS).finally(goOn);
    const results = await submitting(back.then(() => delay(500)));
    await expectNothingLost(results);
  });

  it('killed: it is started again, and what comes then is taken; nothing is lost or doubled', async () => {
    const before = postgres();
    process.kill(before, 'SIGKILL');
    const { invoice } = numbers.next();
    const back = delay(2_000).then(() => client().until('Aceptado', () => client().submit(invoice)));
    const results = await submitting(back.then(() => delay(1_500)));
    expect(postgres()).not.toBe(before);
    await expectNothingLost(results);
    expect(results.slice(-5).map(({ answer }) => answer.status)).toEqual([200, 200, 200, 200, 200]);
  });

  it('killed again and again until it stays: the answers are clear, and the account is still administered', async () => {
    const { invoice, encf } = numbers.next();
    const until = Date.now() + AWAY_MS;
    const first = client().submit(invoice);
    while (Date.now() < until) {
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

describe('while the database is away', () => {
  it('the process is alive, not ready, and the administration says so', async () => {
    const goOn = freeze();
    try {
      // What was told of readiness lately is told again for a second.
      await delay(1_100);
      const [live, ready] = await Promise.all([client().call('GET', '/health/live'), readiness()]);
      expect(live.status).toBe(200);
      expect(ready.status).toBe(503);
      expect(await ready.json()).toMatchObject({ checks: { database: expect.not.stringMatching(/^ok$/) } });
    } finally {
      goOn();
    }
    await readyAgain();
  });
});
