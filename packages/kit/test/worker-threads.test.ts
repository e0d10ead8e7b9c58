import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startBoundedWorkers, TaskTooCostly } from '../src/worker-threads/bounded-workers.js';
import { compiledWorker, NoThread, runTask, startWorkerThreads } from '../src/worker-threads/start-worker-threads.js';

describe('worker threads', () => {
  // require() of an ES module in a thread that ends meanwhile aborts the process.
  it('never read an ES module by require()', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'ecf-workers-'));
    const file = path.join(folder, 'worker.mjs');
    await writeFile(file, 'export default () => process.features.require_module ?? false;');
    const pool = startWorkerThreads({ worker: pathToFileURL(file), maxThreads: 1, idleTimeout: 1_000 });
    expect(await pool.run(null)).toBe(false);
    await pool.destroy();
    await rm(folder, { recursive: true });
  });

  it('find the compiled worker from source and from compiled code', () => {
    const at = (url: string) => compiledWorker({ url } as ImportMeta, 'worker').href;
    expect(at('file:///src/app/services/emission/src/outbound/deep/pool.ts')).toBe(
      'file:///src/app/services/emission/dist/outbound/deep/worker.js',
    );
    expect(at('file:///src/app/services/emission/dist/outbound/pool.js')).toBe(
      'file:///src/app/services/emission/dist/outbound/worker.js',
    );
  });
});

describe('a task', () => {
  it('that gets no thread from the system is not aborted later, when its rejection would end the process', async () => {
    const signals: AbortSignal[] = [];
    const pool: Parameters<typeof runTask>[0] = {
      run(_task, options) {
        signals.push(options?.signal as AbortSignal);
        throw Object.assign(new Error('EAGAIN'), { code: 'ERR_WORKER_INIT_FAILED' });
      },
    };
    await expect(runTask(pool, null, { name: 'default', timeoutMs: 1 })).rejects.toThrow(NoThread);
    await delay(20);
    expect(signals).toEqual([expect.objectContaining({ aborted: false })]);
  });
});

describe('bounded workers', () => {
  let folder: string;
  let worker: URL;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'ecf-workers-'));
    const file = path.join(folder, 'worker.mjs');
    await writeFile(
      file,
      `export default async ({ what }) => {
        if (what === 'loop') for (;;);
        if (what === 'hoard') for (const kept = []; ; ) kept.push(new Array(100_000).fill(0.5));
        if (what === 'fail') throw new RangeError('not this one');
        return what;
      };`,
    );
    worker = pathToFileURL(file);
  });
  afterAll(() => rm(folder, { recursive: true }));

  const start = (limits: { worker?: URL; timeoutMs?: number; maxWaiting?: number } = {}) => {
    const depths: (() => number)[] = [];
    const workers = startBoundedWorkers({
      worker,
      maxThreads: 1,
      timeoutMs: 60_000,
      maxWaiting: 2,
      queue: 'tasks',
      watchQueue: ({ depth }) => depths.push(depth),
      ...limits,
    });
    return { workers, waiting: () => depths[0]?.() };
  };

  it('give the result of a task, and the error that it throws', async () => {
    const { workers } = start();
    expect(await workers.run({ what: 'result' })).toBe('result');
    await expect(workers.run({ what: 'fail' })).rejects.toThrow('not this one');
    await workers.close();
  });

  it('end a task that takes too long, and count its time from its start', async () => {
    const { workers } = start({ timeoutMs: 2_000 });
    const tasks = ['loop', 'loop', 'result'].map((what) => workers.run({ what }).catch((error: unknown) => error));
    expect(await Promise.all(tasks)).toEqual([expect.any(TaskTooCostly), expect.any(TaskTooCostly), 'result']);
    await workers.close();
  });

  it('end a task that takes too much memory, and do the next one', async () => {
    const { workers } = start();
    await expect(workers.run({ what: 'hoard' })).rejects.toThrow(TaskTooCostly);
    expect(await workers.run({ what: 'result' })).toBe('result');
    await workers.close();
  });

  it('answer 503 while no thread can start, and do the next task', async () => {
    const later = path.join(folder, 'later.mjs');
    await writeFile(later, 'throw new Error("not yet");');
    const { workers } = start({ worker: pathToFileURL(later) });
    const unavailable = { status: 503, code: 'service_unavailable', headers: { 'retry-after': expect.any(String) } };
    await expect(workers.run('first')).rejects.toMatchObject(unavailable);
    await writeFile(later, 'export default (what) => what;');
    expect(await workers.run('second')).toBe('second');
    await workers.close();
  });

  it('refuse a task while too many wait, and the caller may repeat it', async () => {
    const { workers, waiting } = start();
    const running = ['loop', 'loop', 'loop'].map((what) => workers.run({ what }).catch((error: unknown) => error));
    expect(waiting()).toBe(2);
    await expect(workers.run({ what: 'result' })).rejects.toMatchObject({
      status: 503,
      code: 'overloaded',
      headers: { 'retry-after': '5' },
    });
    await workers.close();
    const unavailable = expect.objectContaining({ status: 503, code: 'service_unavailable' });
    expect(await Promise.all(running)).toEqual([unavailable, unavailable, unavailable]);
    await expect(workers.run({ what: 'result' })).rejects.toMatchObject({ code: 'service_unavailable' });
  });

  it('do background work last, however much of it waits, and do not refuse other tasks for it', async () => {
    const { workers, waiting } = start({ maxWaiting: 1 });
    const order: string[] = [];
    const run = async (what: string, background: boolean) => {
      await workers.run({ what }, { background });
      order.push(what);
    };
    const first = run('first', true);
    const lines = ['line 1', 'line 2', 'line 3'].map((what) => run(what, true));
    const call = run('call', false);
    expect(waiting()).toBe(1);
    await expect(run('one too many', false)).rejects.toMatchObject({ code: 'overloaded' });
    await Promise.all([first, ...lines, call]);
    expect(order).toEqual(['first', 'call', 'line 1', 'line 2', 'line 3']);
    await workers.close();
  });

  it('let the owners of tasks take turns, and none of them fills the queue alone', async () => {
    const { workers } = start({ maxWaiting: 12 });
    const order: string[] = [];
    const run = async (what: string, owner: string) => {
      await workers.run({ what }, { owner });
      order.push(what);
    };
    const [first, ...others] = ['A', 'A1', 'A2', 'A3'].map((what) => run(what, 'A'));
    await expect(run('A4', 'A')).rejects.toMatchObject({ status: 503, code: 'overloaded' });
    others.push(run('B1', 'B'), run('B2', 'B'), run('C1', 'C'));
    await first;
    await Promise.all([...others, run('A4', 'A')]);
    expect(order).toEqual(['A', 'A1', 'B1', 'C1', 'A2', 'B2', 'A3', 'A4']);
    await workers.close();
  });
});
