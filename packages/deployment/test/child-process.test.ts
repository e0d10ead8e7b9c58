import type { ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { stablePorts } from '@ecf/deployment/postgres';
import { afterAll, describe, expect, it } from '@jest/globals';
import { foreignProgram, type KeptProcess, keepRunning, nodeProgram } from '../src/child-process.js';
import { waitFor } from '../src/servers/ports.js';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'ecf-kept-'));
const kept: KeptProcess[] = [];
afterAll(async () => {
  for (const one of kept) await one.stop();
  fs.rmSync(folder, { recursive: true, force: true });
});

/** A program that reports that it is up, and then runs `rest`. */
function program(name: string, rest: string): string {
  const file = path.join(folder, `${name}.mjs`);
  fs.writeFileSync(file, `process.stdout.write('up\\n');\n${rest}\n`);
  return file;
}

const up = (child: ChildProcess) => new Promise<void>((resolve) => child.stdout?.once('data', () => resolve()));
const alive = (pid: number | undefined) => pid !== undefined && fs.existsSync(`/proc/${pid}`);

async function keep(name: string, begin: () => ChildProcess, changes: string[] = []): Promise<KeptProcess> {
  const one = await keepRunning({ name, begin, ready: up, onChange: (what) => changes.push(what) });
  kept.push(one);
  return one;
}

describe('a program that is kept running', () => {
  it('is started again whenever it ends, until it is stopped', async () => {
    const changes: string[] = [];
    const file = program('lives', 'setInterval(() => {}, 1000);');
    const one = await keep('lives', () => nodeProgram(file, process.env, []), changes);
    const first = one.pid() as number;
    process.kill(first, 'SIGKILL');
    const isBack = () => one.pid() !== undefined && one.pid() !== first && changes.includes('lives is there again');
    await waitFor(async () => isBack(), 60_000, 'the program');
    expect(changes[0]).toBe('lives ended (SIGKILL).; starting it again');
    const second = one.pid();
    await one.stop();
    await delay(300);
    expect([alive(first), alive(second), one.pid()]).toEqual([false, false, undefined]);
  });

  it('that ends before it is up is reported with its last output', async () => {
    const file = program('broken', "process.stderr.write('no such thing'); process.exitCode = 3;");
    const never = () => new Promise<void>(() => undefined);
    await expect(
      keepRunning({
        name: 'broken',
        begin: () => nodeProgram(file, process.env, []),
        ready: never,
        onChange: () => undefined,
      }),
    ).rejects.toMatchObject({
      name: 'StartError',
      message: expect.stringMatching(/broken ended \(exit code 3\).*no such thing/),
    });
  });

  it('is killed if it ignores SIGTERM', async () => {
    const file = program('stubborn', "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000);");
    const one = await keep('stubborn', () => nodeProgram(file, process.env, []));
    const pid = one.pid();
    await delay(100);
    await one.stop(200);
    expect(alive(pid)).toBe(false);
  });

  it('may be a program that is not part of the gateway', async () => {
    const one = await keep('sleep', () => foreignProgram('sh', ['-c', 'echo up; exec sleep 60']));
    const pid = one.pid();
    expect(alive(pid)).toBe(true);
    await one.stop();
    expect(alive(pid)).toBe(false);
  });
});

describe('ports that are kept', () => {
  it('are free, differ, and are none that outgoing connections get or that fetch refuses', async () => {
    const ports = await stablePorts(16);
    expect(new Set(ports).size).toBe(16);
    for (const port of ports) {
      expect(port).toBeLessThan(32_768);
      expect(port).toBeGreaterThan(10_080);
    }
  });
});
