import { describe, expect, it } from '@jest/globals';
import { retry } from '../src/retry.js';

function failing(times: number): () => Promise<string> {
  let calls = 0;
  return async () => {
    calls += 1;
    if (calls <= times) throw new Error(`failure ${calls}`);
    return `call ${calls}`;
  };
}

describe('retry', () => {
  it('repeats work with doubled pauses up to the longest until it resolves', async () => {
    const pauses: number[] = [];
    const sleep = async (ms: number) => pauses.push(ms);
    expect(await retry(failing(4), { firstMs: 100, longestMs: 300, sleep })).toBe('call 5');
    expect(pauses).toEqual([100, 200, 300, 300]);
  });

  it('waits as long as onFailure returns', async () => {
    const pauses: number[] = [];
    const sleep = async (ms: number) => pauses.push(ms);
    await retry(failing(2), { firstMs: 100, sleep, onFailure: (_, failures) => (failures === 1 ? 7_000 : undefined) });
    expect(pauses).toEqual([7_000, 200]);
  });

  it('rejects with the error that onFailure throws', async () => {
    const onFailure = (error: unknown, failures: number) => {
      if (failures === 3) throw new Error('given up', { cause: error });
    };
    await expect(retry(failing(5), { sleep: async () => undefined, onFailure })).rejects.toThrow('given up');
  });

  it('ends its pause and rejects with the last error when the signal is aborted', async () => {
    const stopping = new AbortController();
    const onFailure = () => void setImmediate(() => stopping.abort());
    const repeated = retry(failing(5), {
      firstMs: 3_600_000,
      longestMs: 3_600_000,
      signal: stopping.signal,
      onFailure,
    });
    await expect(repeated).rejects.toThrow('failure 1');
  });
});
