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
  { FIRST_RETRY_MS: '100', FIRST_QUERY_MS: '100', BACKGROUND_IDLE_MS: '50' },
  { ownServers: true },
);
const numbers = new Numbering({ rnc: '199999991', name: 'Comercial Palma Ficticia, SRL' });
const client = (): Client => deployment.demo;

/** The embedded server. */
function postgres(): number {
  const file = path.join(deployment.dataDir, 'postgres', 'postmaster.pid');
  const pid = Number.parseInt(fs.readFileSync(file, 'utf8'), 10);
  // A server that is starting makes its file before it writes it; signals to 0 would go to this very process.
  if (!(pid > 1)) throw new Error(`no process id in ${file}`);
  return pid;
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
const readyAgain = () => until(readiness, ({ status }) => status === 200);

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
  expect(results.length).toBeGreaterThan(3);
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
    const results = await submitting(back);
    expect(postgres()).not.toBe(before);
    const after = await submitting(delay(1_000));
    expect(after.map(({ answer }) => answer.status)).toEqual(after.map(() => 200));
    await expectNothingLost([...results, ...after]);
  });

  it('killed again and again until it stays: the answers are clear, and the account is still administered', async () => {
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

describe('while the database is away', () => {
  it('the process is alive, not ready, and the administration says so', async () => {
    const goOn = freeze();
    try {
      const ready = await until(readiness, ({ status }) => status === 503);
      expect((await client().call('GET', '/health/live')).status).toBe(200);
      expect(await ready.json()).toMatchObject({ checks: { database: expect.not.stringMatching(/^ok$/) } });
    } finally {
      goOn();
    }
    await readyAgain();
  });
});
