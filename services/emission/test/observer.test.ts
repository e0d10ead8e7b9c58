import { createMetrics } from '@ecf/kit/telemetry';
import { silentLogger } from '@ecf/test-support/services';
import { expect, it } from '@jest/globals';
import type { Attempt } from '../src/attempt/attempt.js';
import { createBatchMetrics, createEmissionMetrics } from '../src/metrics.js';

it('the metrics count documents that wait for another one, and documents that are never sent', async () => {
  const metrics = createMetrics();
  const { observer, backlog } = createEmissionMetrics(metrics, silentLogger);
  backlog({ undecided: [{ state: 'held', count: 3 }], alarms: [], oldestCommittedAt: null }, new Date());
  const note = { ecfType: '34', route: 'ecf', env: 'TesteCF' } as Attempt;
  observer.decided({ ...note, state: 'withdrawn' });
  observer.decided({ ...note, state: 'rejected-used' });
  const text = await metrics.render();
  expect(text).toMatch(/^ecf_held_documents(\{[^}]*\})? 3$/m);
  expect(text).toMatch(/^ecf_withdrawn_documents_total\{.*ecf_type="34".*\} 1$/m);
  expect(text).toMatch(/^ecf_decisions_total\{.*status="Rechazado".*\} 1$/m);
  backlog({ undecided: [], alarms: [], oldestCommittedAt: null }, new Date());
  expect(await metrics.render()).toMatch(/^ecf_held_documents(\{[^}]*\})? 0$/m);
});

it('the metrics show the open work of batches, and its age', async () => {
  const metrics = createMetrics();
  const count = createBatchMetrics(metrics);
  const now = new Date('2026-06-15T12:00:00Z');
  count({ batches: 2, lines: 7, oldestCreatedAt: new Date('2026-06-15T11:00:00Z') }, now);
  const text = await metrics.render();
  expect(text).toMatch(/^ecf_open_batches(\{[^}]*\})? 2$/m);
  expect(text).toMatch(/^ecf_batch_lines_waiting(\{[^}]*\})? 7$/m);
  expect(text).toMatch(/^ecf_oldest_batch_line_seconds(\{[^}]*\})? 3600$/m);
  count({ batches: 0, lines: 0, oldestCreatedAt: null }, now);
  expect(await metrics.render()).toMatch(/^ecf_oldest_batch_line_seconds(\{[^}]*\})? 0$/m);
});
