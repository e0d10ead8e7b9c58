import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Server } from 'node:http';
import { freePort } from '@ecf/test-servers';
import { expect, it, jest } from '@jest/globals';
import { createCleaning } from '../src/cleaning.js';
import { runHttpService } from '../src/run-http-service.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

it('a service leaves the time limit of a body to the gateway', async () => {
  const config = { HOST: '127.0.0.1', PORT: await freePort(), LOG_LEVEL: 'silent' };
  const none = async () => undefined;
  const before = SIGNALS.map((signal) => process.listeners(signal));
  let server: Server | undefined;
  const seen = (message: unknown) => {
    server = (message as { server: Server }).server;
  };
  subscribe('http.server.request.start', seen);
  try {
    await runHttpService(
      'probe',
      () => config,
      () => ({ app: (_, res) => void res.end(), start: none, stop: none }),
    );
    await fetch(`http://127.0.0.1:${config.PORT}`);
    expect(server?.requestTimeout).toBe(0);
  } finally {
    unsubscribe('http.server.request.start', seen);
    server?.close().closeAllConnections();
    for (const [index, signal] of SIGNALS.entries())
      for (const listener of process.listeners(signal))
        if (!before[index]?.includes(listener)) process.off(signal, listener);
  }
});

it('cleans every hour, not at the start, also after a failure, and not after the stop', async () => {
  jest.useFakeTimers();
  let [cleaned, failures] = [0, 0];
  const cleaning = createCleaning({
    async clean() {
      cleaned += 1;
      if (cleaned === 1) throw new Error('no database');
    },
    clock: () => new Date(),
    failed: () => {
      failures += 1;
    },
  });
  try {
    cleaning.start();
    await jest.advanceTimersByTimeAsync(3_599_000);
    expect(cleaned).toBe(0);
    await jest.advanceTimersByTimeAsync(2 * 3_600_000);
    await cleaning.stop();
    await jest.advanceTimersByTimeAsync(2 * 3_600_000);
    expect([cleaned, failures]).toEqual([2, 1]);
  } finally {
    jest.useRealTimers();
  }
});
