import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { openFileDeadLetters } from '../src/bus/dead-letters/dead-letters.files.js';
import { createMemoryDeadLetters, type DeadLetter, type DeadLetters } from '../src/bus/dead-letters/dead-letters.js';
import { taxpayerEvent } from './sample-events.js';

const root = mkdtempSync(path.join(os.tmpdir(), 'ecf-dead-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

function deadLetter(group: string, time: string): DeadLetter {
  const event = taxpayerEvent('131000001');
  return { id: `${event.id}.${group}`, group, reason: 'Error: no', attempts: 3, time, event };
}

describe.each<[string, () => DeadLetters]>([
  ['in memory', createMemoryDeadLetters],
  ['in files', () => openFileDeadLetters(root)],
])('dead-letter messages %s', (_name, open) => {
  it('are kept, listed by topic, replaced and removed', async () => {
    const deadLetters = open();
    const [first, second] = [
      deadLetter('emission', '2026-01-01T00:00:00Z'),
      deadLetter('query', '2026-01-02T00:00:00Z'),
    ];
    await deadLetters.add(first);
    await deadLetters.add(second);
    await deadLetters.add({ ...second, attempts: 6 });
    expect(await deadLetters.list()).toEqual([first, { ...second, attempts: 6 }]);
    expect(await deadLetters.list('taxpayers.v1')).toHaveLength(2);
    expect(await deadLetters.list('invoices.v1')).toEqual([]);
    await deadLetters.remove(first.id);
    await deadLetters.remove('not there');
    expect(await deadLetters.list()).toEqual([{ ...second, attempts: 6 }]);
  });
});

it('dead-letter messages in files outlive the process, one readable file each', async () => {
  await openFileDeadLetters(root).add(deadLetter('../../etc', '2026-01-03T00:00:00Z'));
  expect(await openFileDeadLetters(root).list()).toHaveLength(2);
  expect(readdirSync(path.join(root, 'taxpayers.v1.dlq'))).toHaveLength(2);
  expect(await openFileDeadLetters(path.join(root, 'nothing')).list()).toEqual([]);
});
