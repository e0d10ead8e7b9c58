import { randomUUID } from 'node:crypto';
import type { Database } from '@ecf/postgres';
import type { Caller } from '@ecf/taxpayer-replica';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { type Attempt, documentKey } from '../src/attempt/attempt.js';
import { createPostgresEmissionStore } from '../src/attempt/emission.postgres.js';
import { beginAttempt } from '../src/attempt/transitions.js';
import { createPostgresBatchStore } from '../src/batches/batches.postgres.js';
import { createPostgresNumberStore } from '../src/numbers/numbers.postgres.js';
import { at, fresh, NOW } from './support/attempts.js';
import { openEmissionDatabase } from './support/database.js';
import { encf } from './support/documents.js';

let database: Database;
beforeAll(async () => {
  database = await openEmissionDatabase();
});
afterAll(() => database.close());
afterEach(() => database.query('DROP INDEX IF EXISTS unexpected'));

/** A constraint that the code does not expect: two rows never have the same value. */
const forbidRepeated = (table: string, columns: string, where = '') =>
  database.query(`CREATE UNIQUE INDEX unexpected ON ${table} (${columns}) ${where}`);

const UNEXPECTED = { code: '23505', constraint: 'unexpected' };

const batches = () =>
  createPostgresBatchStore({
    database,
    timeoutMs: 1_000,
    describe: () => {
      throw new Error('no batch ends here');
    },
  });

function beginBatch(idempotencyKey: string) {
  const caller = { accountId: 'account-1' } as Caller;
  return batches().begin({
    env: 'TesteCF',
    caller,
    idempotencyKey,
    validate: false,
    mayWait: false,
    refusesWarnings: false,
    createdAt: NOW,
  });
}

it('a batch finds the first one under its idempotency key, and only that constraint means a repeat', async () => {
  const [first, same, other] = [await beginBatch('a'), await beginBatch('a'), await beginBatch('b')];
  expect(await batches().receive({ id: first, total: 1, contentHash: 'first', sha256: '1' }, [], NOW)).toBeNull();
  expect(await batches().receive({ id: same, total: 2, contentHash: 'first', sha256: '2' }, [], NOW)).toMatchObject({
    id: first,
  });
  await forbidRepeated('batch', 'total', 'WHERE received');
  await expect(
    batches().receive({ id: other, total: 1, contentHash: 'first', sha256: '1' }, [], NOW),
  ).rejects.toMatchObject(UNEXPECTED);
});

const RANGE = { env: 'TesteCF', ecf_type: '31', from: encf('31', 1), to: encf('31', 99), expires: null } as const;

const draw = (idempotencyKey: string) =>
  createPostgresNumberStore(database, 1_000).draw({
    accountId: 'account-1',
    env: 'TesteCF',
    issuerRnc: '199999991',
    ecfType: '31',
    idempotencyKey,
    token: randomUUID(),
    ranges: [RANGE],
  });

it('a draw is busy only if another call holds its idempotency key, not if another constraint is violated', async () => {
  const draws = await Promise.all(Array.from({ length: 6 }, () => draw('same key')));
  expect(draws.map(({ outcome }) => outcome).sort()).toEqual([...Array(5).fill('busy'), 'drawn']);
  await forbidRepeated('reserved_number', 'account_id');
  await expect(draw('another key')).rejects.toMatchObject(UNEXPECTED);
});

it('a document loses its drawn number only if its idempotency key was used, not if another constraint is violated', async () => {
  const store = createPostgresEmissionStore({
    database,
    timeoutMs: 1_000,
    describe: (attempt: Attempt) => ({
      id: randomUUID(),
      type: 'invoice.changed',
      source: 'emission',
      time: NOW.toISOString(),
      subject: attempt.encf,
      topic: 'invoices.v1',
      key: documentKey(attempt),
      data: {},
    }),
  });
  async function begin(number: string, token: string, idempotencyKey: string) {
    const options = { owner: 'me', leaseMs: 60_000, held: false };
    const attempt = beginAttempt(fresh({ encf: number }), null, await store.nextId(), at(0), options);
    return store.begin(attempt, null, [], null, { token, idempotencyKey, contentHash: 'hash', run: 1 });
  }
  async function reserve(number: string) {
    const token = randomUUID();
    const values = [number, token];
    await database.query(
      `INSERT INTO reserved_number (env, issuer_rnc, encf, token, until, account_id)
        VALUES ('TesteCF', '199999991', $1, $2, 'infinity', 'account-1')`,
      values,
    );
    return token;
  }
  const numbers = [encf('31', 201), encf('31', 202), encf('31', 203)] as const;
  expect(await begin(numbers[0], await reserve(numbers[0]), 'key-1')).toBe(true);
  expect(await begin(numbers[1], await reserve(numbers[1]), 'key-1')).toBe(false);
  await forbidRepeated('submission_key', 'content_hash');
  await expect(begin(numbers[2], await reserve(numbers[2]), 'key-2')).rejects.toMatchObject(UNEXPECTED);
});
