import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { SERVICE_NAMES } from '@ecf/contracts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Submitted } from '../support/agreement/chaos.js';
import { StoredEverywhere } from '../support/agreement/stored-everywhere.js';
import { Client } from '../support/client.js';
import {
  DEPLOYMENT,
  describeDistributed,
  type Standalone,
  startStandalone,
} from '../support/deployment/standalone-process.js';
import { FaultyDeployment, SETTINGS } from '../support/faults/faulty-deployment.js';
import { type Fault, ObservedDeployment } from '../support/faults/observed-deployment.js';
import type { Line, LineFault } from '../support/faults/switchboard.js';
import { until } from '../support/until.js';

/** `ECF_FAULTS_FULL=true` also breaks lines and fills disks, and submits more invoices. */
const FULL = process.env.ECF_FAULTS_FULL === 'true';
const ROUND = FULL ? 24 : 8;
const LASTS_MS = FULL ? 5_000 : 2_000;
const KINDS: readonly LineFault[] = ['cut', 'silent', 'slow'];
const itFull = FULL ? it : it.skip;
const HOUR_MS = 3_600_000;
/** Documents of these types can be looked up at the authority. */
const LOOKED_UP = ['ecf-31', 'ecf-41', 'ecf-43', 'ecf-44', 'ecf-45', 'ecf-46', 'ecf-47'];

// The standalone deployment has no lines between its services. Its own faults are tested in the same run.
const describeFaults = DEPLOYMENT === 'distributed' ? describeDistributed : describe.skip;

/** Submits during the fault, and waits until everything is whole, which it times. */
async function whole(what: string, observed: ObservedDeployment, fault: Fault): Promise<Submitted[]> {
  const { all, endedAt } = await observed.through(fault, LASTS_MS, ROUND);
  await observed.expectWhole();
  note(what, all, endedAt);
  return all;
}

/** Compares everything; then prints the times. */
async function agree(observed: ObservedDeployment): Promise<void> {
  const times = noted.splice(0);
  await observed.expectAgreement();
  process.stderr.write(times.join(''));
}

async function survive(what: string, observed: ObservedDeployment, fault: Fault): Promise<Submitted[]> {
  const all = await whole(what, observed, fault);
  await agree(observed);
  return all;
}

const noted: string[] = [];

function note(what: string, all: readonly Submitted[], endedAt: number): void {
  const seconds = ((performance.now() - endedAt) / 1_000).toFixed(1);
  const calls = all.reduce((sum, one) => sum + one.calls, 0);
  noted.push(`fault: ${what}; ${all.length} invoices, ${calls} calls, whole ${seconds} s after its end\n`);
}

describeFaults('a deployment of six services loses nothing and sends nothing twice', () => {
  let world: FaultyDeployment;

  beforeAll(async () => {
    world = await FaultyDeployment.start();
  });
  afterAll(() => world?.stop());

  const line = (kind: LineFault, hits: (line: Line) => boolean): Fault => ({
    begin: () => world.board.break(kind, hits),
    end: () => world.board.break(null),
  });

  /** Whether a line leads to a part; `services` are all services together. */
  function leadsTo(target: string, { port }: Line): boolean {
    const ports = world.ports();
    return target === 'services' ? SERVICE_NAMES.some((name) => ports[name] === port) : ports[target] === port;
  }

  it.each(FULL ? ['emptied', 'stopped'] : ['stopped'])('when Redis is %s', async (what) => {
    const begin = async () => {
      await world.cache.control?.kill();
      if (what === 'emptied') await world.cache.control?.restart();
    };
    const end = () => (what === 'stopped' ? world.cache.control?.restart() : undefined);
    await survive(`Redis ${what}`, world.observed, { begin, end });
  });

  it.each(['errors', 'old'] as const)('while the storage answers with %s', async (fault) => {
    const begin = () => world.storage.fail(fault);
    await survive(`storage ${fault}`, world.observed, { begin, end: () => world.storage.fail(null) });
  });

  it.each([
    ['ahead', HOUR_MS],
    ['behind', -HOUR_MS],
  ])('and signs with the true time, while the clocks of all services are an hour %s', async (what, aheadMs) => {
    const set = (ms: number) => {
      for (const service of SERVICE_NAMES) world.board.setClock(service, ms);
    };
    const fault = { begin: () => set(aheadMs), end: () => set(0) };
    for (const { answer } of await survive(`clocks an hour ${what}`, world.observed, fault)) {
      const [, day, month, year, time] = /<FechaHoraFirma>(\d+)-(\d+)-(\d+) ([\d:]+)</.exec(answer.body.xml) ?? [];
      const signedAt = Date.parse(`${year}-${month}-${day}T${time}-04:00`);
      expect(Math.abs(signedAt - Date.now())).toBeLessThan(HOUR_MS / 4);
    }
  });

  it('when the broker loses its log with events that no consumer has read, once the loss is recorded', async () => {
    const lostAt = new Date();
    world.board.break('silent', (one) => one.service !== 'emission' && leadsTo('kafka', one));
    const all = await world.observed.submit(ROUND);
    await until(
      () => world.observed.openWork(),
      (work) => work['outbox of emission'] === 0,
    );
    await world.broker.control?.kill();
    world.board.break(null);
    await world.broker.control?.restartEmpty();
    const endedAt = performance.now();
    await world.recordRestore(lostAt, { ofOthers: true });
    await world.restartServices();
    await world.observed.expectWhole();
    note('broker lost its log', all, endedAt);
    await agree(world.observed);
  });

  it('when the database fails over to a synchronous replica', async () => {
    await world.postgres.replicate({ synchronous: true });
    const fault = { begin: () => undefined, end: () => world.failOver() };
    await survive('fail-over, synchronous', world.observed, fault);
  });

  it('when the database fails over to a replica that lacks the last second, once that is recorded', async () => {
    await world.postgres.replicate({ synchronous: false });
    await world.postgres.disconnectReplica();
    const lostAt = new Date();
    const lost = await world.observed.submit(ROUND, LOOKED_UP);
    await world.failOver();
    const endedAt = performance.now();
    await world.recordRestore(lostAt, { ofOthers: false });
    await world.restartServices();
    const client = new Client(world.running);
    for (const { invoice, answer } of lost) {
      const again = await until(
        () => client.submit(invoice),
        ({ status }) => status === 200,
      );
      // The authority has the document, so the gateway signs the same again.
      expect(again.body.xml).toBe(answer.body.xml);
    }
    await world.observed.expectWhole();
    note('fail-over, last second lost', lost, endedAt);
    await agree(world.observed);
  });

  itFull.each(['postgresql', 'kafka', 'redis', 'storage', 'authority', 'services'])(
    'while the lines of all services to %s are cut, silent and slow',
    async (target) => {
      for (const kind of KINDS)
        await whole(
          `${target} ${kind}`,
          world.observed,
          line(kind, (one) => leadsTo(target, one)),
        );
      await agree(world.observed);
    },
  );

  itFull.each(SERVICE_NAMES)(
    'while each line of %s is cut, silent and slow',
    async (service) => {
      for (const [target, port] of Object.entries(world.ports()).filter(([, port]) =>
        world.board.has({ service, port }),
      ))
        for (const kind of KINDS)
          await whole(
            `${service} to ${target} ${kind}`,
            world.observed,
            line(kind, (one) => one.service === service && one.port === port),
          );
      await agree(world.observed);
    },
    3_600_000,
  );
});

const mountSmall = (folder: string, size: string) =>
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=755`, 'ecf', folder], { stdio: 'ignore' });
const unmount = (folder: string) => execFileSync('umount', ['-l', folder]);

/** Whether this machine lets the test mount a file system. */
function canMount(): boolean {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'ecf-mount-'));
  try {
    mountSmall(folder, '1m');
    unmount(folder);
    return true;
  } catch {
    process.stderr.write('This machine mounts no file system. The tests of full disks are skipped.\n');
    return false;
  } finally {
    fs.rmdirSync(folder);
  }
}

const describeFullDisk = FULL && DEPLOYMENT === 'distributed' && canMount() ? describe : describe.skip;

describeFullDisk('a standalone deployment loses nothing and sends nothing twice', () => {
  const dataDir = path.join(os.tmpdir(), `ecf-full-disk-${process.pid}`);
  const archive = path.join(dataDir, 'xml');
  let running: Standalone;
  let observed: ObservedDeployment;

  beforeAll(async () => {
    fs.mkdirSync(dataDir);
    mountSmall(dataDir, '500m');
    fs.mkdirSync(archive);
    mountSmall(archive, '4m');
    // The small disks have less than the default reserve from the beginning.
    running = await startStandalone(dataDir, { ...SETTINGS, MIN_FREE_BYTES: '0' });
    observed = new ObservedDeployment(running, () => new StoredEverywhere(dataDir, {}));
  });
  afterAll(async () => {
    await running?.end('SIGTERM');
    for (const folder of [archive, dataDir]) unmount(folder);
    fs.rmdirSync(dataDir);
  });

  it.each([
    ['the archive', archive],
    ['the databases', dataDir],
  ])('while the disk of %s is full', async (what, folder) => {
    const filler = path.join(folder, 'filler');
    // It ends with an error when the disk is full.
    const begin = () => void spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=64k']);
    await survive(`full disk of ${what}`, observed, { begin, end: () => fs.rmSync(filler) });
  });
});
