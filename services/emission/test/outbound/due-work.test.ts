import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Database, migrate, openDatabase } from '@ecf/service-kit/postgres';
import { startTestPostgres } from '@ecf/test-servers/postgres';
import { afterAll, beforeAll, beforeEach, describe } from '@jest/globals';
import { describeDueWorkStore } from '../../../../packages/service-kit/test/due-work-contract.js';
import type { Attempt } from '../../src/core/attempt/attempt.js';
import { beginAttempt } from '../../src/core/attempt/transitions.js';
import type { Cancellation } from '../../src/core/cancellation/cancellation.js';
import { createPostgresCancellationStore } from '../../src/outbound/cancellations/cancellation-store.postgres.js';
import { cancellationEvent, invoiceEvent } from '../../src/outbound/changed-events.js';
import { createPostgresEmissionStore } from '../../src/outbound/emission-store.postgres.js';
import { at, fresh, NOW } from '../support/attempts.js';
import { encf } from '../support/documents.js';

const MIGRATIONS = path.join(path.dirname(fileURLToPath(import.meta.url)), '../../prisma/migrations');

let database: Database;
let sequence = 0;

beforeAll(async () => {
  const url = await (await startTestPostgres()).createDatabase();
  await migrate(url, MIGRATIONS);
  database = openDatabase(url, { max: 8 });
});
afterAll(() => database.close());
beforeEach(async () => {
  await database.query('UPDATE attempt SET next_action_at = NULL');
  await database.query('UPDATE cancellation SET next_action_at = NULL');
});

describe('attempts as due work', () => {
  describeDueWorkStore<Attempt>(async () => {
    const store = createPostgresEmissionStore({
      database,
      describe: (attempt) => invoiceEvent(attempt, NOW),
      timeoutMs: 1_000,
    });
    return {
      store: { claimDue: (request) => store.claimDue({ ...request, owner: randomUUID() }) },
      async add(dueAt) {
        sequence += 1;
        const options = { owner: 'request', leaseMs: 1, held: false };
        const document = fresh({ encf: encf('31', sequence) });
        const attempt = beginAttempt(document, null, await store.nextId(), at(0), options);
        await store.begin({ ...attempt, nextActionAt: dueAt }, null, []);
        return attempt.encf;
      },
      keyOf: (attempt) => attempt.encf,
    };
  });
});

describe('cancellations as due work', () => {
  describeDueWorkStore<Cancellation>(async () => {
    const store = createPostgresCancellationStore({
      database,
      describe: (cancellation) => cancellationEvent(cancellation, NOW),
      timeoutMs: 1_000,
    });
    return {
      store: { claimDue: (request) => store.claimDue({ ...request, inFlight: [] }) },
      async add(dueAt) {
        sequence += 1;
        const added = await store.add(
          {
            env: 'TesteCF',
            issuerRnc: '101010101',
            accountId: 'account-1',
            contentHash: String(sequence).padStart(64, '0'),
            version: '1.0',
            reason: null,
            total: 1,
            generatedAt: NOW,
            createdAt: NOW,
            xml: { path: `${sequence}.xml`, sha256: String(sequence).padStart(64, '0') },
            lines: [{ type: '31', total: 1, ranges: [sequence, sequence] }],
          },
          Buffer.from('<ANECF/>'),
          dueAt,
        );
        if ('taken' in added) throw new Error('the number is taken');
        return String(added.added.id);
      },
      keyOf: ({ id }) => String(id),
    };
  });
});
