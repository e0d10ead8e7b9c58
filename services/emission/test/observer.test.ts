import { createMetrics } from '@ecf/service-kit/telemetry';
import { silentLogger } from '@ecf/service-kit/testing';
import { expect, it } from '@jest/globals';
import type { Attempt } from '../src/core/attempt/attempt.js';
import { createEmissionMetrics } from '../src/observer.js';

it('counts documents that wait for another one, and those that are never sent', async () => {
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
