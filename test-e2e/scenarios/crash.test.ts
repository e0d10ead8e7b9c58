import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, describe, expect, it } from '@jest/globals';
import { Client } from '../support/client.js';
import { embeddedDatabase } from '../support/deployment/embedded-database.js';
import { fillDataFolder } from '../support/deployment/prepared-folder.js';
import { type Standalone, startStandalone } from '../support/deployment/standalone-process.js';
import { encf, Numbering } from '../support/documents/documents.js';
import { until } from '../support/until.js';

const SETTINGS = {
  STATUS_WAIT_MS: '10000',
  // No call to the authority times out before the process is killed.
  AUTHORITY_TIMEOUT_MS: '60000',
  RESEND_AFTER_MS: '200',
  FIRST_RETRY_MS: '100',
  FIRST_QUERY_MS: '100',
  BACKGROUND_IDLE_MS: '250',
  PROCESSING_MS: '20',
};
const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'ecf-crash-'));
fs.chmodSync(dataDir, 0o755);
const numbers = new Numbering({ rnc: '199999991', name: 'Comercial Palma Ficticia, SRL' });
let running: Standalone;

afterAll(async () => {
  if (running?.child.exitCode === null && running.child.signalCode === null) await running.end('SIGTERM');
  fs.rmSync(dataDir, { recursive: true, force: true });
});

const documents = () => Array.from({ length: 8 }, (_, index) => numbers.next(index % 2 === 0 ? 'ecf-31' : 'ecf-32'));

/** Waits until the simulator's ledger holds a submission of each number. */
async function arrived(client: Client, encfs: string[]): Promise<void> {
  for (const end = Date.now() + 60_000; Date.now() < end; await delay(50)) {
    const rows = await Promise.all(encfs.map((encf) => client.ledger(encf)));
    if (rows.every(({ length }) => length > 0)) return;
  }
  throw new Error('not all documents arrived');
}

/** Cancellations that the authority did, and did not, record before the process was killed. */
const NOTED = 'E310000900001';
const UNNOTED = 'E310000900002';

function cancel(client: Client, number: string) {
  const body = {
    issuer_rnc: '199999991',
    authority_environment: 'TesteCF',
    detail_lines: [{ ecf_type: '31', sequence_ranges: [{ encf_desde: number, encf_hasta: number }] }],
  };
  return client.call('POST', '/anecf/', {
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  });
}

/** Waits until the database has these counts of attempts and cancellations in the state `sending`. */
async function isSending(counts: Record<'attempt' | 'cancellation', number>): Promise<void> {
  const database = embeddedDatabase(dataDir, 'emission');
  const sending = async (table: string) =>
    (await database.query<{ count: number }>(`SELECT count(*)::int AS count FROM ${table} WHERE state = 'sending'`))
      .rows;
  try {
    for (const [table, count] of Object.entries(counts))
      await until(
        () => sending(table),
        ([row]) => row?.count === count,
      );
  } finally {
    await database.close();
  }
}

const LEASES = {
  attempt: { service: 'emission', due: 'next_action_at' },
  cancellation: { service: 'emission', due: 'next_action_at' },
  batch_line: { service: 'emission', due: 'due_at' },
  poll: { service: 'status-poller', due: 'due_at' },
} as const;

/** Ends the leases of the killed process. They last minutes, because the timeout of these tests is long. */
async function endLeases(table: keyof typeof LEASES): Promise<void> {
  const { service, due } = LEASES[table];
  const database = embeddedDatabase(dataDir, service);
  await database.query(`UPDATE ${table} SET ${due} = now() WHERE ${due} IS NOT NULL`);
  await database.close();
}

/** Kills the process while numbers are drawn and their documents cannot be committed; the answers of the calls. */
async function killedBeforeCommit<T>(submit: () => Promise<T>[]): Promise<T[]> {
  const database = embeddedDatabase(dataDir, 'emission');
  let answers: Promise<T>[] = [];
  let killed = false;
  const reserved = async () =>
    (await other.query<{ count: number }>('SELECT count(*)::int AS count FROM reserved_number')).rows;
  const other = embeddedDatabase(dataDir, 'emission');
  try {
    await database
      .transaction(async (tx) => {
        await tx.query('LOCK TABLE emission IN SHARE MODE');
        answers = submit();
        await until(reserved, ([row]) => (row?.count ?? 0) > 0);
        await running.end('SIGKILL');
        killed = true;
      })
      // The database ends with the process.
      .catch((error: unknown) => {
        if (!killed) throw error;
      });
  } finally {
    await Promise.all([database.close(), other.close()]);
  }
  return Promise.all(answers);
}

/** Waits for `count` cancellations in the simulator's ledger; those after the first are sorted by checksum. */
async function cancellations(client: Client, count: number) {
  for (const end = Date.now() + 60_000; ; await delay(50)) {
    const { body } = await client.control('GET', '/submissions?operation=anulacionrangos');
    const [first, ...rest] = body as { sha256: string }[];
    if (body.length === count) return [first, ...rest.sort((one, other) => (one.sha256 < other.sha256 ? -1 : 1))];
    if (Date.now() > end) throw new Error(`${body.length} cancellations arrived, not ${count}`);
  }
}

async function expectAllAcceptedOnce(client: Client, all: { invoice: object; encf: string }[]): Promise<void> {
  for (const { invoice, encf } of all) {
    await client.until('Aceptado', () => client.submit(invoice));
    expect((await client.ledger(encf)).map(({ effective }) => effective)).toEqual([true]);
  }
}

describe('documents in progress', () => {
  it('are resumed after a kill by the next process once their leases end', async () => {
    await fillDataFolder(dataDir);
    running = await startStandalone(dataDir, SETTINGS);
    const client = new Client(running);
    const noted = documents();
    const lost = documents();
    // Only submissions are delayed: queries to the authority do not use up these faults.
    for (const operation of ['recepcion', 'recepcionfc'])
      await client.fault({ operation, kind: 'slow', delay_ms: 120_000, times: noted.length / 2 });
    const answers = noted.map(({ invoice }) => client.submit(invoice).catch(() => null));
    await arrived(
      client,
      noted.map(({ encf }) => encf),
    );
    await client.fault({ operation: 'recepcion', kind: 'timeout' });
    await client.fault({ operation: 'recepcionfc', kind: 'timeout' });
    answers.push(...lost.map(({ invoice }) => client.submit(invoice).catch(() => null)));
    await client.fault({ operation: 'anulacionrangos', kind: 'slow', delay_ms: 120_000, times: 1 });
    answers.push(cancel(client, NOTED).catch(() => null));
    await cancellations(client, 1);
    await client.fault({ operation: 'anulacionrangos', kind: 'timeout', times: 1 });
    answers.push(cancel(client, UNNOTED).catch(() => null));
    await isSending({ attempt: noted.length + lost.length, cancellation: 2 });
    await running.end('SIGKILL');
    expect(await Promise.all(answers)).toEqual(answers.map(() => null));

    running = await startStandalone(dataDir, SETTINGS);
    const next = new Client(running);
    await endLeases('attempt');
    await arrived(
      next,
      [...noted, ...lost].map(({ encf }) => encf),
    );
    await expectAllAcceptedOnce(next, [...noted, ...lost]);
  });

  it('cancellations are resumed too: their numbers stay blocked, and a lost answer never counts as a refusal', async () => {
    const client = new Client(running);
    const list = async () => (await client.call('GET', '/anecf/?issuer_rnc=199999991')).body;
    expect((await list()).map((one: { authority_status: string }) => one.authority_status)).toEqual(
      Array(2).fill('submitted'),
    );
    for (const number of [NOTED, UNNOTED]) {
      const { invoice } = numbers.next('ecf-31', (ecf) => {
        ecf.Encabezado.IdDoc.eNCF = number;
      });
      expect(await client.submit(invoice)).toMatchObject({ status: 409, body: { code: 'encf_cancelled' } });
      expect((await cancel(client, number)).body).toMatchObject({ code: 'encf_in_use' });
    }
    await endLeases('cancellation');
    const alarmed = async () => (await client.admin('GET', '/cancellations/doubtful')).body.cancellations;
    for (const end = Date.now() + 60_000; ; await delay(100)) {
      const [unnoted] = await list();
      const [doubtful] = await alarmed();
      if (unnoted.authority_status === 'Aceptado' && doubtful !== undefined) break;
      if (Date.now() > end) throw new Error(JSON.stringify([unnoted, doubtful]));
    }
    const [unnoted, noted] = await list();
    expect(noted).toMatchObject({ authority_status: 'submitted', sent_to_authority: true, sent_at: noted.created_at });
    expect(await alarmed()).toMatchObject([{ id: noted.id, alarm: 'cancellation-open', numbers: NOTED }]);
    expect(await cancellations(client, 3)).toMatchObject([
      { sha256: noted.xml_checksum, effective: true },
      ...[noted.xml_checksum, unnoted.xml_checksum].sort().map((sha256) => ({ sha256 })),
    ]);
  });

  it('lines of a batch continue after each kill, though its key is deleted, and none is sent twice', async () => {
    let client = new Client(running);
    // The oldest account is that of the demo.
    const [account] = (await client.admin('GET', '/accounts')).body;
    const keys = `/accounts/${account.id}/api-keys`;
    const key = (await client.admin('POST', keys, { name: 'batches', environments: ['TesteCF'] })).body;
    const all = Array.from({ length: 120 }, () => numbers.next('ecf-31'));
    const sent = await new Client(running, key.key).call('POST', '/batches', {
      body: all.map(({ invoice }) => `${JSON.stringify(invoice)}\n`).join(''),
      headers: { 'content-type': 'application/x-ndjson' },
    });
    expect([sent.status, sent.body.total]).toEqual([202, all.length]);
    expect((await client.admin('DELETE', `${keys}/${key.id}`)).status).toBe(204);
    const batch = async () => (await client.call('GET', sent.body.status_url)).body;
    const untilSubmitted = (lines: number) => until(batch, ({ pending }) => pending <= all.length - lines);
    for (const submitted of [0, 20, 60]) {
      await untilSubmitted(submitted);
      await running.end('SIGKILL');
      running = await startStandalone(dataDir, SETTINGS);
      client = new Client(running);
      for (const table of ['attempt', 'batch_line', 'poll'] as const) await endLeases(table);
    }
    expect(await until(batch, ({ status }) => status === 'done')).toMatchObject({
      total: all.length,
      accepted: all.length,
    });
    for (const { encf } of all) expect((await client.ledger(encf)).map(({ effective }) => effective)).toEqual([true]);
    const { events } = (await client.call('GET', '/events?types=batch.done')).body;
    expect(events).toMatchObject([{ data: { batch_id: sent.body.batch_id, accepted: all.length } }]);
  });

  it('numbers are given once and without a gap, though the process is killed between draw and commit', async () => {
    let client = new Client(running);
    const [account] = (await client.admin('GET', '/accounts')).body;
    const ranges = `/accounts/${account.id}/taxpayers/199999991/ranges`;
    const range = { env: 'TesteCF', ecf_type: '43', from: 'E430000000001', to: 'E430000000099', expires: '2099-12-31' };
    expect((await client.admin('PUT', ranges, [range])).status).toBe(200);
    const open = () =>
      numbers.next('ecf-43', (ecf) => {
        delete ecf.Encabezado.IdDoc.eNCF;
        delete ecf.Encabezado.IdDoc.FechaVencimientoSecuencia;
      }).invoice;
    const [single, lines] = [Array.from({ length: 8 }, open), Array.from({ length: 12 }, open)];
    const submit = (index: number) => client.submit(single[index], { 'idempotency-key': `single ${index}` });
    // Shortly after a start, a call may get 503 before it draws a number.
    const drawn = async (index: number) => {
      for (;;) {
        const answer = await submit(index).catch(() => null);
        if (answer?.status !== 503) return answer;
      }
    };
    const sent = await client.call('POST', '/batches', {
      body: lines.map((invoice) => `${JSON.stringify(invoice)}\n`).join(''),
      headers: { 'content-type': 'application/x-ndjson', 'idempotency-key': 'open numbers' },
    });
    expect(sent.status).toBe(202);
    for (const round of [0, 1]) {
      const answers = await killedBeforeCommit(() => single.map((_, index) => drawn(index)));
      if (round === 0) expect(answers).toEqual(single.map(() => null));
      running = await startStandalone(dataDir, SETTINGS);
      client = new Client(running);
      for (const table of ['attempt', 'batch_line', 'poll'] as const) await endLeases(table);
    }
    const given = await Promise.all(single.map((_, index) => client.until('Aceptado', () => submit(index))));
    const batch = async () => (await client.call('GET', sent.body.status_url)).body;
    await until(batch, ({ status }) => status === 'done');
    const { results } = (await client.call('GET', `${sent.body.status_url}/results`)).body;
    const encfs = [...given.map(({ body }) => body.encf), ...results.map((line: { encf: string }) => line.encf)];
    const count = single.length + lines.length;
    expect(encfs.sort()).toEqual(Array.from({ length: count }, (_, index) => encf('43', index + 1)));
    for (const number of encfs) expect((await client.ledger(number)).map(({ effective }) => effective)).toEqual([true]);
    const left = { next: encf('43', count + 1), remaining: 99 - count };
    expect((await client.admin('GET', ranges)).body).toEqual([{ ...range, ...left }]);
    await client.admin('PUT', `${ranges}?remove=true`, []);
  });

  it('are answered before the process stops on SIGTERM', async () => {
    const client = new Client(running);
    await client.fault({ operation: 'recepcion', kind: 'slow', delay_ms: 1_500 });
    await client.fault({ operation: 'recepcionfc', kind: 'slow', delay_ms: 1_500 });
    const all = documents();
    const answers = all.map(({ invoice }) => client.submit(invoice));
    await arrived(
      client,
      all.map(({ encf }) => encf),
    );
    expect(await running.end('SIGTERM')).toBe(0);
    for (const { status, body } of await Promise.all(answers)) {
      expect(status).toBe(200);
      expect(['EnProceso', 'Aceptado']).toContain(body.status);
    }
    running = await startStandalone(dataDir, SETTINGS);
    await expectAllAcceptedOnce(new Client(running), all);
    expect(await running.end('SIGINT')).toBe(0);
  });
});
