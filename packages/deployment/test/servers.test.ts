import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { once } from '../src/servers/cache.js';
import { DRAWN_PORTS, freePort, reachable } from '../src/servers/ports.js';

const folder = mkdtempSync(path.join(os.tmpdir(), 'ecf-cache-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('a fetched server', () => {
  it('is created once if many start at the same time, and complete or not at all', async () => {
    const target = path.join(folder, 'server');
    let made = 0;
    const make = async (unfinished: string) => {
      made += 1;
      mkdirSync(unfinished);
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(existsSync(target)).toBe(false);
      writeFileSync(path.join(unfinished, 'program'), 'x');
    };
    expect(await Promise.all([once(target, make), once(target, make), once(target, make)])).toEqual(
      Array(3).fill(target),
    );
    expect(made).toBe(1);
    expect(readFileSync(path.join(target, 'program'), 'utf8')).toBe('x');
  });

  it('is tried again after a failure, and after a starter that died', async () => {
    const target = path.join(folder, 'other');
    await expect(once(target, () => Promise.reject(new Error('no network')))).rejects.toThrow('no network');
    mkdirSync(`${target}.lock`);
    writeFileSync(path.join(`${target}.lock`, 'pid'), '999999999');
    mkdirSync(`${target}.part`);
    expect(await once(target, async (unfinished) => mkdirSync(unfinished))).toBe(target);
    expect(existsSync(`${target}.lock`)).toBe(false);
  });
});

it('a free port has no listener', async () => {
  expect(await reachable(await freePort())).toBe(false);
});

it('a port that was drawn for another server, which does not listen yet, is not drawn again', async () => {
  const first = await freePort();
  const others = Array.from({ length: DRAWN_PORTS.last - DRAWN_PORTS.first + 1 }, (_, n) => DRAWN_PORTS.first + n);
  expect(await freePort(...others.filter((port) => port !== first))).toBe(first);
});
