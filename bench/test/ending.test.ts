import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { createInterface } from 'node:readline';
import { describe, expect, it } from '@jest/globals';
import { descendantsOf, isRunning } from '../src/harness/processes.js';

const ENDING = new URL('../dist/harness/ending.js', import.meta.url).href;

/** A bench with one child that never ends; it prints a line every 25 ms. */
const BENCH = `
  import { spawn } from 'node:child_process';
  import { benchFolder, endAfter, endWithChildren } from '${ENDING}';
  endWithChildren();
  process.on('SIGUSR1', () => endAfter(0.05));
  process.on('SIGUSR2', () => { throw new Error('a fault of the bench'); });
  spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
  console.log(benchFolder());
  setInterval(() => console.log('one more figure'), 25);
`;

describe('a bench that is interrupted', () => {
  it.each([
    ['SIGINT', 130, (bench: ChildProcess) => bench.kill('SIGINT')],
    ['SIGTERM', 143, (bench: ChildProcess) => bench.kill('SIGTERM')],
    ['a closed pipe', 141, (bench: ChildProcess) => bench.stdout?.destroy()],
    ['its time limit', 1, (bench: ChildProcess) => bench.kill('SIGUSR1')],
    ['an uncaught error', 1, (bench: ChildProcess) => bench.kill('SIGUSR2')],
  ])('ends with its children and its folder; cause: %s, exit code %d', async (_, code, disturb) => {
    const bench = spawn(process.execPath, ['--input-type=module', '--eval', BENCH], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const failed = once(bench, 'exit').then(([status]) => Promise.reject(new Error(`the bench ended with ${status}`)));
    const [folder] = (await Promise.race([once(createInterface(bench.stdout), 'line'), failed])) as [string];
    failed.catch(() => undefined);
    const children = descendantsOf(bench.pid as number);
    expect([fs.existsSync(folder), children.map(isRunning)]).toEqual([true, [true]]);

    disturb(bench);

    expect(await once(bench, 'exit')).toEqual([code, null]);
    expect([fs.existsSync(folder), children.map(isRunning)]).toEqual([false, [false]]);
  });
});
