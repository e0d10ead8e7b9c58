import { type ChildProcess, fork } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { encf, example } from './support/documents.js';
import { World } from './support/world.js';

const CHILD = path.join(path.dirname(fileURLToPath(import.meta.url)), 'support/crash-child.mjs');

interface Crash {
  step: string;
  name: 'ecf-31' | 'ecf-32';
  /** Who goes on: an instance that ran all the time, or one that is started afterwards. */
  survivor: 'beside' | 'restarted';
  /** What makes the instance come to that step, where it does not by itself. */
  fault?: Record<string, unknown>;
  /** Nothing was committed yet: the caller has to repeat. */
  leavesNothing?: boolean;
}

const CRASHES: Crash[] = [
  { step: 'stored', name: 'ecf-31', survivor: 'beside', leavesNothing: true },
  { step: 'committed', name: 'ecf-31', survivor: 'beside' },
  { step: 'sent', name: 'ecf-31', survivor: 'beside' },
  { step: 'recorded', name: 'ecf-31', survivor: 'beside' },
  { step: 'claimed', name: 'ecf-31', survivor: 'beside' },
  {
    step: 'looked-up',
    name: 'ecf-31',
    survivor: 'beside',
    fault: { operation: 'recepcion', kind: 'reset-after', times: 1 },
  },
  {
    step: 'resend-committed',
    name: 'ecf-31',
    survivor: 'beside',
    fault: { operation: 'recepcion', kind: 'down', times: 1 },
  },
  { step: 'committed', name: 'ecf-32', survivor: 'restarted' },
  { step: 'sent', name: 'ecf-32', survivor: 'restarted' },
  {
    step: 'looked-up',
    name: 'ecf-32',
    survivor: 'restarted',
    fault: { operation: 'recepcionfc', kind: 'reset-after', times: 1 },
  },
];

/** Further behind than anything here waits: nothing is due to an instance whose clock is, and nobody dead. */
const BEHIND_MS = 600_000;

describe('killed at any step, a restart or the instance beside it brings the document to its end, sent effectively once', () => {
  it.each(CRASHES)(
    '$name at "$step", taken up by one $survivor',
    async ({ step, name, survivor, fault, leavesNothing = false }) => {
      const world = await World.create({ settings: { STATUS_WAIT_MS: '0' } });
      try {
        const document = example(name, 1);
        const number = encf(name === 'ecf-31' ? '31' : '32', 1);
        if (fault !== undefined) await world.fault(fault);
        // Beside the one that dies runs another, to which nothing is due while its clock is behind.
        let behind = BEHIND_MS;
        const clock = () => new Date(Date.now() - behind);
        const beside = survivor === 'beside' ? await world.start({ clock }) : null;
        await crash(world, step, document);

        const before = await world.row(number);
        expect(before === null).toBe(leavesNothing);
        behind = 0;
        const other = beside ?? (await world.start());
        // The caller of a document that nobody has can only turn to the other instance.
        if (leavesNothing) {
          expect(await world.ledger(number)).toEqual([]);
          expect((await world.submit(other, document)).status).toBe(200);
        }
        const row = await world.reaches(number, ['accepted']);
        const ledger = await world.ledger(number);
        expect(ledger.filter(({ effective }) => effective)).toHaveLength(1);
        const sent = name === 'ecf-31' ? row.xml_sha256 : row.rfce_sha256;
        expect(new Set(ledger.map(({ sha256 }) => sha256))).toEqual(new Set([sent]));
        if (before !== null) expect([row.xml_sha256, row.attempt]).toEqual([before.xml_sha256, 1]);

        const again = await world.submit(other, document);
        expect(again).toMatchObject({ status: 200, body: { status: 'Aceptado', encf: number } });
        expect(await world.ledger(number)).toHaveLength(ledger.length);
        expect(readdirSync(path.join(world.folder, 'xml', '.incoming'))).toEqual([]);
      } finally {
        await world.stop();
      }
    },
    60_000,
  );
});

/** Runs an instance of its own, hands it the document, and waits until it has killed itself. */
async function crash(world: World, step: string, document: unknown): Promise<void> {
  const accountFile = path.join(world.folder, 'account.json');
  const account = { account_id: world.accountId, revision: world.revision, taxpayers: [...world.taxpayers.values()] };
  writeFileSync(accountFile, JSON.stringify(account));
  const child = fork(CHILD, [], {
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: { ...world.environment(), ACCOUNT_FILE: accountFile, CRASH_AT: step, NODE_OPTIONS: '' },
  });
  const ended = new Promise<string | null>((resolve) => child.once('exit', (_code, signal) => resolve(signal)));
  const url = await readyUrl(child);
  const instance = { emission: undefined as never, url, stop: async () => undefined };
  await world.submit(instance, document).catch(() => undefined);
  expect(await ended).toBe('SIGKILL');
}

function readyUrl(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('message', (message) => resolve((message as { url: string }).url));
    child.once('exit', (code) => reject(new Error(`the instance ended before it was ready (${code})`)));
  });
}
