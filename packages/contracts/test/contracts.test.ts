import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import * as contracts from '../src/index.js';
import {
  documentKey,
  ERROR_CODES,
  type ErrorCodeEntry,
  newRangesSchema,
  newWebhookSchema,
  OPERATIONS,
  type Operation,
  type ServiceName,
  TOPICS,
  type Topic,
  topicOf,
} from '../src/index.js';

describe('error codes', () => {
  it('have a status, a meaning and a remedy, and Retry-After if a repeat can help', () => {
    for (const [code, entry] of Object.entries<ErrorCodeEntry>(ERROR_CODES)) {
      expect(code).toMatch(/^[a-z0-9]+(_[a-z0-9]+)*$/);
      expect(entry.status).toBeGreaterThanOrEqual(400);
      expect(entry.meaning).toMatch(/\.$/);
      expect(entry.remedy).toMatch(/\.$/);
      const needsPerson = ['certificate_missing', 'certificate_expired', 'certificate_unusable', 'status_key_missing'];
      const waits = [408, 429, 503].includes(entry.status) && !needsPerson.includes(code);
      expect([code, entry.retryAfter !== undefined]).toEqual([code, waits]);
    }
  });
});

const SERVICES = fileURLToPath(new URL('../../../services/', import.meta.url));

/** Topics that the sources of a service name in events that it creates and in subscriptions. */
function namedBy(service: string): { producer: string[]; consumer: string[] } {
  const folder = path.join(SERVICES, service, 'src');
  const named = { producer: new Set<string>(), consumer: new Set<string>() };
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts') || file.startsWith('generated')) continue;
    const source = readFileSync(path.join(folder, file), 'utf8');
    for (const [, made, topic] of source.matchAll(/(\btopic: )?\bTOPICS\.(\w+)/g))
      named[made === undefined ? 'consumer' : 'producer'].add(topic as string);
    // This test would miss a topic that is not named through the contracts.
    expect([file, /\btopics?: *\[? *['"`]|['"][a-z-]+\.v\d+['"]/.exec(source)?.[0]]).toEqual([file, undefined]);
  }
  return { producer: [...named.producer].sort(), consumer: [...named.consumer].sort() };
}

describe('topics', () => {
  it.each(readdirSync(SERVICES))('are published and consumed by %s as declared', (service) => {
    const of = (role: (topic: Topic) => boolean) =>
      Object.entries(TOPICS as Readonly<Record<string, Topic>>)
        .filter(([, topic]) => role(topic))
        .map(([name]) => name)
        .sort();
    expect(namedBy(service)).toEqual({
      producer: of(({ producers }) => producers.includes(service as ServiceName)),
      consumer: of(({ consumers }) => (consumers as readonly string[]).includes(service)),
    });
  });

  it('are found by name, versioned, and consumed by others than their producer', () => {
    for (const topic of Object.values(TOPICS) as Topic[]) {
      expect(topicOf(topic.name)).toBe(topic);
      expect(topic.name).toMatch(/^[a-z-]+\.v\d+$/);
      for (const producer of topic.producers) expect(topic.consumers).not.toContain(producer);
      expect(topic.partitions).toBeGreaterThan(0);
      for (const type of Object.keys(topic.events)) expect(type).toMatch(/^[a-z_]+\.[a-z_]+$/);
    }
    expect(topicOf('unknown.v1')).toBeUndefined();
    expect(documentKey({ env: 'eCF', issuer_rnc: '131000001', encf: 'E310000000001' })).toBe(
      'eCF:131000001:E310000000001',
    );
  });

  it('have schemas that can be written down as JSON Schema', () => {
    for (const topic of Object.values(TOPICS) as Topic[])
      for (const schema of Object.values(topic.events))
        expect(Object.keys(z.toJSONSchema(schema)).length).toBeGreaterThan(1);
  });
});

describe('operations', () => {
  it('are unique by id and by method and path', () => {
    const operations: readonly Operation[] = OPERATIONS;
    expect(new Set(operations.map(({ id }) => id)).size).toBe(operations.length);
    expect(new Set(operations.map(({ method, path }) => `${method} ${path}`)).size).toBe(operations.length);
    for (const { path } of operations) expect(path).toMatch(/^(\/[\w.-]+|\/\{\w+\})+$/);
  });

  it('open to everyone are exactly the four of a receiver', () => {
    expect(
      OPERATIONS.filter(({ access }) => access === 'public').map(({ method, path }) => `${method} ${path}`),
    ).toEqual([
      'POST /fe/recepcion/api/ecf',
      'GET /fe/autenticacion/api/semilla',
      'POST /fe/autenticacion/api/validacioncertificado',
      'POST /fe/aprobacioncomercial/api/ecf',
    ]);
  });
});

describe('HTTP schemas', () => {
  it('refuse the number of a run that a database could not hold', () => {
    const decision = { env: 'CerteCF', issuer_rnc: '101010101', encf: 'E310000000001', action: 'resend' };
    expect(contracts.resolutionSchema.safeParse({ ...decision, run: 1_000_000 }).success).toBe(true);
    for (const run of [0, 1_000_001, Number.MAX_SAFE_INTEGER])
      expect(contracts.resolutionSchema.safeParse({ ...decision, run }).error?.issues[0]?.path).toEqual(['run']);
  });

  it('can be written down as JSON Schema, for the interface’s own description', () => {
    const schemas = Object.entries(contracts).filter(
      ([name, value]) => name.endsWith('Schema') && value instanceof z.ZodType,
    );
    expect(schemas.length).toBeGreaterThan(20);
    for (const [name, schema] of schemas) {
      const json = z.toJSONSchema(schema as z.ZodType, { io: 'input', unrepresentable: 'throw' });
      expect([name, Object.keys(json).length > 0]).toEqual([name, true]);
    }
  });

  it('refuse operator text that cannot be stored unchanged, instead of altering it', () => {
    const settled = { id: 1, outcome: 'accepted' };
    for (const [text, taken] of [
      [' M. Peña 🙂 ', true],
      ['a\0b', false],
      ['a\ud800b', false],
    ] as const) {
      expect(contracts.settlementSchema.safeParse({ ...settled, note: text }).success).toBe(taken);
      expect(contracts.approvalSettlementSchema.safeParse({ ...settled, note: text }).success).toBe(taken);
    }
  });

  it('accept as trackId only text that can be stored and queried', () => {
    const document = { env: 'CerteCF', issuer_rnc: '199999991', encf: 'E310000000001', action: 'adopt' };
    for (const [track_id, adopted] of [
      ['d2b6e27c-3908-46f3-afaa-2207b9501b4b', true],
      [' d2b6e27c_1 ', true],
      ['not a uuid!', false],
      ['~any/form?', false],
      ['A'.repeat(65), false],
    ] as const)
      expect([track_id, contracts.resolutionSchema.safeParse({ ...document, track_id }).success]).toEqual([
        track_id,
        adopted,
      ]);
    const { request: question } = contracts.FOLLOW_UP_OPERATIONS.findSubmission;
    for (const [track_id, taken] of [
      ['d2b6e27c-3908-46f3-afaa-2207b9501b4b', true],
      ['~any/form?', true],
      ['', false],
      ['a b', false],
      ['a\0b', false],
      ['a\ud800b', false],
      ['Peña', false],
      ['A'.repeat(101), false],
      ['A'.repeat(100_000), false],
    ] as const) {
      if (!taken) expect(contracts.resolutionSchema.safeParse({ ...document, track_id }).success).toBe(false);
      expect([track_id, question.safeParse({ env: 'CerteCF', track_id }).success]).toEqual([track_id, taken]);
    }
  });

  it('find ranges that overlap though others lie between them', () => {
    const range = (from: number, to: number) => ({
      env: 'TesteCF',
      ecf_type: '31',
      from: `E31${String(from).padStart(10, '0')}`,
      to: `E31${String(to).padStart(10, '0')}`,
    });
    expect(newRangesSchema.safeParse([range(1, 10), range(11, 20), range(21, 30)]).success).toBe(true);
    expect(newRangesSchema.safeParse([range(1, 100), range(2, 3), range(50, 60)]).success).toBe(false);
    expect(newRangesSchema.safeParse([range(5, 5), range(5, 5)]).success).toBe(false);
    expect(newRangesSchema.safeParse([range(1, 10), { ...range(1, 10), env: 'CerteCF' }]).success).toBe(true);
  });
});

describe('the address of a webhook', () => {
  it.each([
    'https://erp.example.do/events?token=1',
    'http://127.0.0.1:8080',
    'https://ñandú.do/',
    'https://[2606:4700::1]/',
  ])('may be %j', (url) => {
    expect(newWebhookSchema.parse({ url })).toMatchObject({ url });
  });

  it.each([
    ...[
      '',
      'erp.example.do',
      '//erp.example.do/',
      '/events',
      'https://',
      'https://a:99999/',
      'https://[::1',
      'http://%00/',
    ],
    ...['ftp://a.do/', 'ws://a.do/', 'file:///etc/passwd', 'javascript:alert(1)', 'data:,x'],
    ...['https://user@a.do/', 'https://user:secret@a.do/', 'https://a.do/#part', 'https://a.do/#'],
    ...[
      'https://a.do/\u0000',
      'https://a.do/\n',
      'https://a\t.do/',
      ' https://a.do/',
      'https://a.do/x y',
      'https://a.do/\ud800',
    ],
    `https://a.do/${'x'.repeat(2_000)}`,
  ])('is not %j', (url) => {
    expect(newWebhookSchema.safeParse({ url }).success).toBe(false);
  });
});
