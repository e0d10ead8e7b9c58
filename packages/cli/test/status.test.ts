import http from 'node:http';
import type { DeploymentStateBody } from '@ecf/contracts';
import { expect, it } from '@jest/globals';
import { ecf } from './ecf.js';
import { useGateway } from './gateway.js';

const CALM: DeploymentStateBody = {
  unreachable: [],
  alarms: [],
  queues: [
    { queue: 'undecided_documents', waiting: 12_345, oldest_seconds: 4_000 },
    { queue: 'held_documents', waiting: 0, oldest_seconds: null },
  ],
  documents_today: [{ env: 'TesteCF', status: 'AceptadoCondicional', count: 1_204 }],
  authority: [{ env: 'eCF', reachable: true }],
  services: [
    {
      service: 'emission',
      version: '1.0.0',
      node: '24.11.1',
      postgres: '18.4',
      migration: null,
      clocks: [],
      storage: null,
    },
  ],
};
const TROUBLED: DeploymentStateBody = {
  ...CALM,
  unreachable: ['status-poller'],
  alarms: [
    {
      alarm: 'EcfConsumerDisconnected',
      severity: 'page',
      labels: { topic: 'taxpayers.v1', group: 'emission' },
      value: 0,
      limit: 0,
      runbook: '/docs/guide/runbooks/events#ecfconsumerdisconnected',
    },
  ],
  authority: [{ env: 'eCF', reachable: false }],
};

let state = CALM;
useGateway(
  http.createServer((_req, res) => res.setHeader('content-type', 'application/json').end(JSON.stringify(state))),
  'ADMIN_TOKEN',
);

it('the overview shows the documents of today, queues with their age, the authority and the services', async () => {
  state = CALM;
  const { code, stdout } = await ecf(['status', '--text']);
  expect(code).toBe(0);
  const [title, ...lines] = stdout.split('\n');
  expect(title).toMatch(/^e-CF gateway, \d{4}-\d\d-\d\d \d\d:\d\d:\d\d Dominican time$/);
  expect(lines).toEqual([
    '',
    'documents today',
    '    TesteCF AceptadoCondicional      1,204',
    '',
    'alarms',
    '    none fires',
    '',
    'waiting',
    '    undecided documents             12,345  the oldest for 67 min',
    '    held documents                       0',
    '',
    'authority',
    '    eCF                     no failure known',
    '',
    'services',
    '    emission                1.0.0',
    '',
  ]);
});

it('the overview marks what needs a person, and then ends with 1', async () => {
  state = TROUBLED;
  const { code, stdout } = await ecf(['status', '--text']);
  expect(code).toBe(1);
  const marked = stdout.split('\n').filter((line) => line.startsWith('  !'));
  expect(marked).toEqual([
    '  ! EcfConsumerDisconnected (page) taxpayers.v1, emission: 0, limit 0',
    '  ! eCF                     does not answer; documents wait',
    '  ! status-poller           does not answer',
  ]);
  expect(stdout).toContain('      /docs/guide/runbooks/events#ecfconsumerdisconnected\n');
  expect(JSON.parse((await ecf(['status', '--json'])).stdout)).toEqual(TROUBLED);
});
