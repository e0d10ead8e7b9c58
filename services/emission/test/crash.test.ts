import { type ChildProcess, fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { encf, example, ISSUER } from './support/documents.js';
import { until } from './support/until.js';
import { type Instance, World } from './support/world.js';

const CHILD = path.join(path.dirname(fileURLToPath(import.meta.url)), 'support/crash-child.mjs');

interface Crash {
  step: string;
  /** ecf-41 leaves its number to the service. */
  name: 'ecf-31' | 'ecf-32' | 'ecf-41';
  /** A fault that brings the instance to that step. */
  fault?: Record<string, unknown>;
  /** No document was committed, so the caller has to repeat. */
  leavesNothing?: boolean;
}

/**
 * One process holds a document at each of these steps and is killed at the last one. Its background stops at `claimed`, so
 * it does not query the result of the recorded document.
 */
const BESIDE: Crash[] = [
  { step: 'drawn', name: 'ecf-41', leavesNothing: true },
  { step: 'signed', name: 'ecf-31', leavesNothing: true },
  { step: 'committed', name: 'ecf-31' },
  { step: 'sent', name: 'ecf-31' },
  { step: 'looked-up', name: 'ecf-31', fault: { operation: 'recepcion', kind: 'reset-after', times: 1 } },
  { step: 'resend-committed', name: 'ecf-31', fault: { operation: 'recepcion', kind: 'down', times: 1 } },
  { step: 'claimed', name: 'ecf-31' },
  { step: 'recorded', name: 'ecf-31' },
];
const RESTARTED: Crash[] = [
  { step: 'committed', name: 'ecf-32' },
  { step: 'sent', name: 'ecf-32' },
  { step: 'looked-up', name: 'ecf-32', fault: { operation: 'recepcionfc', kind: 'reset-after', times: 1 } },
];

/** Longer than every pause and lease here, so an instance with a clock so far behind finds no due document. */
const BEHIND_MS = 600_000;

describe('a document whose instance is killed', () => {
  let world: World;
  beforeAll(async () => {
    world = await World.create({ settings: { STATUS_WAIT_MS: '0' } });
    const [from, to] = [encf('41', 1), encf('41', 9)];
    world.ranges(ISSUER, [{ env: 'TesteCF', ecf_type: '41', from, to, expires: '2099-12-31' }]);
  });
  afterAll(() => world.stop());

  describe.each([
    { survivor: 'that runs beside it', crashes: BESIDE },
    { survivor: 'that starts later', crashes: RESTARTED },
  ])('is finished by an instance $survivor and takes effect once', ({ crashes }) => {
    const before = new Map<string, Record<string, unknown> | null>();
    let other: Instance;

    beforeAll(async () => {
      // A second instance runs. It finds no due document while its clock is behind.
      let behind = BEHIND_MS;
      const clock = () => new Date(Date.now() - behind);
      const beside = crashes === BESIDE ? await world.start({ clock }) : null;
      await crash(world, crashes);
      for (const { step, name } of crashes) before.set(step, await world.row(numberOf(name, step)));
      behind = 0;
      other = beside ?? (await world.start());
    });
    afterAll(() => other?.stop());

    it.each(crashes)('($name at "$step")', async ({ step, name, leavesNothing = false }) => {
      const number = numberOf(name, step);
      const atTheEnd = before.get(step);
      expect(atTheEnd === null).toBe(leavesNothing);
      // The document was not stored, so the caller repeats the request at the other instance.
      if (leavesNothing) {
        expect(await world.ledger(number)).toEqual([]);
        expect((await world.submit(other, documentOf(name, step), keyOf(name))).status).toBe(200);
      }
      const row = await world.reaches(number, ['accepted']);
      const ledger = await world.ledger(number);
      expect(ledger.filter(({ effective }) => effective)).toHaveLength(1);
      const sent = name === 'ecf-32' ? row.rfce_sha256 : row.xml_sha256;
      expect(new Set(ledger.map(({ sha256 }) => sha256))).toEqual(new Set([sent]));
      if (atTheEnd) expect([row.xml_sha256, row.attempt]).toEqual([atTheEnd.xml_sha256, 1]);

      const again = await world.submit(other, documentOf(name, step), keyOf(name));
      expect(again).toMatchObject({ status: 200, body: { status: 'Aceptado', encf: number } });
      expect(await world.ledger(number)).toHaveLength(ledger.length);
      const file = path.join(world.folder, 'xml', row.xml_path as string);
      await until(() => existsSync(file));
      expect(createHash('sha256').update(readFileSync(file)).digest('hex')).toBe(row.xml_sha256);
      const leased = 'SELECT 1 FROM pending_document WHERE due_at < now()';
      // A killed instance may have claimed the document for the archive, for half a minute.
      await until(async () => (await world.database.query(leased)).rowCount === 0);
    });
  });
});

/** An idempotency-key for the document without number. */
const keyOf = (name: Crash['name']) => (name === 'ecf-41' ? { key: 'the only document without number' } : {});
const STEPS = [...new Set([...BESIDE, ...RESTARTED].map(({ step }) => step))];

function documentOf(name: Crash['name'], step: string): unknown {
  return example(name, 1 + STEPS.indexOf(step), ({ Encabezado: { IdDoc } }) => {
    if (name !== 'ecf-41') return;
    delete IdDoc.eNCF;
    delete IdDoc.FechaVencimientoSecuencia;
  });
}

function numberOf(name: Crash['name'], step: string): string {
  // The first number of the range, also for the repeat: the crash lost none.
  if (name === 'ecf-41') return encf('41', 1);
  return encf(name === 'ecf-31' ? '31' : '32', 1 + STEPS.indexOf(step));
}

/** Runs a separate instance, brings a document to each step, and waits until it has killed itself at the last one. */
async function crash(world: World, crashes: readonly Crash[]): Promise<void> {
  const accountFile = path.join(world.folder, 'account.json');
  const account = { account_id: world.accountId, revision: world.revision, taxpayers: [...world.taxpayers.values()] };
  writeFileSync(accountFile, JSON.stringify(account));
  const child = fork(CHILD, [], {
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: { ...world.environment(), ACCOUNT_FILE: accountFile, NODE_OPTIONS: '' },
  });
  const ended = new Promise<string | null>((resolve) => child.once('exit', (_code, signal) => resolve(signal)));
  const { url } = await nextMessage<{ url: string }>(child);
  const instance = { emission: undefined as never, url, stop: async () => undefined };
  for (const { step, name, fault } of crashes) {
    if (fault !== undefined) await world.fault(fault);
    const last = step === crashes.at(-1)?.step;
    child.send({ step, last });
    await nextMessage<{ waits: string }>(child);
    const reached = last ? ended : nextMessage<{ reached: string }>(child);
    // Without an answer: the process ends first.
    const submitted = world.submit(instance, documentOf(name, step), keyOf(name)).catch(() => undefined);
    if (last) await submitted;
    expect(await reached).toEqual(last ? 'SIGKILL' : { reached: step });
  }
}

/** The next message of the child. */
function nextMessage<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const gone = (code: number | null) => reject(new Error(`the instance ended before its time (${code})`));
    child.once('exit', gone);
    child.once('message', (message) => {
      child.off('exit', gone);
      resolve(message as T);
    });
  });
}
