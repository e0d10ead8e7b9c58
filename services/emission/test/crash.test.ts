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
  /** What makes the instance come to that step, where it does not by itself. */
  fault?: Record<string, unknown>;
  /** Nothing was committed yet: the caller has to repeat. */
  leavesNothing?: boolean;
}

const CRASHES: Crash[] = [
  { step: 'stored', name: 'ecf-31', leavesNothing: true },
  { step: 'committed', name: 'ecf-31' },
  { step: 'sent', name: 'ecf-31' },
  { step: 'recorded', name: 'ecf-31' },
  { step: 'claimed', name: 'ecf-31' },
  { step: 'looked-up', name: 'ecf-31', fault: { operation: 'recepcion', kind: 'reset-after', times: 1 } },
  { step: 'resend-committed', name: 'ecf-31', fault: { operation: 'recepcion', kind: 'down', times: 1 } },
  { step: 'committed', name: 'ecf-32' },
  { step: 'sent', name: 'ecf-32' },
  { step: 'looked-up', name: 'ecf-32', fault: { operation: 'recepcionfc', kind: 'reset-after', times: 1 } },
];

/** Further behind than anything here waits: nothing is due to an instance whose clock is, and nobody dead. */
const BEHIND_MS = 600_000;

describe('killed at any step, a restart or the instance beside it brings the document to its end, sent effectively once', () => {
  it.each(CRASHES)(
    '$name at "$step"',
    async ({ step, name, fault, leavesNothing = false }) => {
      const world = await World.create({ settings: { STATUS_WAIT_MS: '0' } });
      try {
        const document = example(name, 1);
        const number = encf(name === 'ecf-31' ? '31' : '32', 1);
        if (fault !== undefined) await world.fault(fault);
        await crash(world, step, document);

        const before = await world.row(number);
        expect(before === null).toBe(leavesNothing);
        let behind = 0;
        const restarted = await world.start({ clock: () => new Date(Date.now() - behind) });
        if (leavesNothing) {
          expect(await world.ledger(number)).toEqual([]);
          expect((await world.submit(restarted, document)).status).toBe(200);
        }
        const { row, ledger } = await endsOnce(world, number);
        if (before !== null) expect([row.xml_sha256, row.attempt]).toEqual([before.xml_sha256, 1]);

        const again = await world.submit(restarted, document);
        expect(again).toMatchObject({ status: 200, body: { status: 'Aceptado', encf: number } });
        expect(await world.ledger(number)).toHaveLength(ledger.length);

        // The same with that instance running beside the one that dies, to which its work is left until then.
        const next = encf(name === 'ecf-31' ? '31' : '32', 2);
        if (fault !== undefined) await world.fault(fault);
        behind = BEHIND_MS;
        await crash(world, step, example(name, 2));
        const left = await world.row(next);
        expect(left === null).toBe(leavesNothing);
        behind = 0;
        // Its caller turns to the other at once.
        expect((await world.submit(restarted, example(name, 2))).status).toBe(200);
        const taken = await endsOnce(world, next);
        if (left !== null) expect([taken.row.xml_sha256, taken.row.attempt]).toEqual([left.xml_sha256, 1]);
        expect(readdirSync(path.join(world.folder, 'xml', '.incoming'))).toEqual([]);
      } finally {
        await world.stop();
      }
    },
    60_000,
  );
});

/** Waits until the document is accepted: one submission counted, and whatever arrived were its very bytes. */
async function endsOnce(world: World, number: string) {
  const row = await world.reaches(number, ['accepted']);
  const ledger = await world.ledger(number);
  expect(ledger.filter(({ effective }) => effective)).toHaveLength(1);
  const sent = row.route === 'ecf' ? row.xml_sha256 : row.rfce_sha256;
  expect(new Set(ledger.map(({ sha256 }) => sha256))).toEqual(new Set([sent]));
  return { row, ledger };
}

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
