import { randomUUID } from 'node:crypto';
import { type BusEvent, createInProcessBus, withDeadLetters } from '@ecf/bus';
import { makeEvent } from '@ecf/bus/events';
import { MAX_EVENT_BYTES } from '@ecf/contracts';
import { type Database, openDatabase } from '@ecf/postgres';
import { memoryDeadLetters, silentLogger } from '@ecf/test-support/services';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Attempt, documentKey } from '../src/attempt/attempt.js';
import { afterReceipt, afterResult } from '../src/attempt/authority-answers.js';
import { BACKLOG, createPostgresEmissionStore } from '../src/attempt/emission.postgres.js';
import type { EmissionStore, RecordedExchange } from '../src/attempt/ports.js';
import { beginAttempt, postponed } from '../src/attempt/transitions.js';
import { subscribeToEvents } from '../src/events.kafka.js';
import { createPostgresPublishedDocuments, PAGE_OF_AWAITED } from '../src/published/published-documents.postgres.js';
import { at, fresh, NOW, receipt, result } from './support/attempts.js';
import { emissionDatabaseUrl } from './support/database.js';
import { createInMemoryEmissionStore } from './support/emission-store.in-memory.js';

const describeAttempt = (attempt: Attempt): BusEvent => ({
  id: randomUUID(),
  type: 'invoice.changed',
  source: 'emission',
  time: NOW.toISOString(),
  subject: attempt.encf,
  topic: 'invoices.v1',
  key: documentKey(attempt),
  data: { encf: attempt.encf, state: attempt.state, revision: attempt.revision },
});

const EXCHANGE: RecordedExchange = {
  operation: 'submitDocument',
  at: NOW,
  outcome: 'verdict',
  httpStatus: 200,
  contentType: 'application/json',
  body: '{"trackId":"\u0000\ud800 ñ"}',
};

interface Subject {
  store: EmissionStore;
  /** A second instance over the same data. */
  other: EmissionStore;
  events(encf: string): Promise<{ state: string; revision: number }[]>;
  exchanges(emissionId: number): Promise<number>;
}

let sequence = 0;

const numbers = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, index) => first + index);

/** The contract of every emission store, run against both adapters. */
function contract(name: string, subject: () => Subject) {
  describe(`the emission store ${name}`, () => {
    const unique = () => {
      sequence += 1;
      return `E31${String(sequence).padStart(10, '0')}`;
    };
    async function begun(change: Parameters<typeof fresh>[0] = {}, leaseMs = 60_000): Promise<Attempt> {
      const { store } = subject();
      const attempt = beginAttempt(fresh({ encf: unique(), ...change }), null, await store.nextId(), at(0), {
        owner: 'me',
        leaseMs,
        held: false,
      });
      expect(await store.begin(attempt, null, [])).toBe(true);
      return attempt;
    }

    it('returns the committed attempt', async () => {
      const attempt = await begun({
        rfce: { path: 'a/b.xml', sha256: '1'.repeat(64) },
        modifies: 'x',
        modifiedAttempt: 3,
        hasOwnCertificate: true,
      });
      expect(await subject().store.find(attempt)).toEqual(attempt);
      expect(await subject().store.find({ ...attempt, env: 'eCF' })).toBeNull();
    });

    it('commits one of two attempts for a number, from one instance or two', async () => {
      const encf = unique();
      const { store, other } = subject();
      const attempts = await Promise.all(
        [store, other, store, other].map(async (each, index) => {
          const attempt = beginAttempt(fresh({ encf, contentHash: String(index) }), null, await each.nextId(), at(0), {
            owner: 'me',
            leaseMs: 1,
            held: false,
          });
          return { attempt, begun: await each.begin(attempt, Buffer.from('sealed'), []) };
        }),
      );
      const winners = attempts.filter(({ begun }) => begun);
      expect(winners).toHaveLength(1);
      expect((await store.find({ ...fresh(), encf }))?.contentHash).toBe(winners[0]?.attempt.contentHash);
      expect(await subject().events(encf)).toHaveLength(1);
    });

    it('replaces an attempt only without a concurrent change, and publishes each change once', async () => {
      const attempt = await begun();
      const processing = afterReceipt(attempt, receipt('t-1'), at(10)) as Attempt;
      const { store, other } = subject();
      const outcomes = await Promise.all([
        store.save(attempt, processing, [EXCHANGE]),
        other.save(attempt, processing, [EXCHANGE]),
      ]);
      expect(outcomes.sort()).toEqual([false, true]);
      expect(await store.find(attempt)).toEqual(processing);
      const waiting = postponed(processing, at(20));
      expect(await store.save(processing, waiting, [])).toBe(true);
      const accepted = afterResult(waiting, result('Aceptado'), at(30)) as Attempt;
      expect(await store.save(waiting, accepted, [EXCHANGE, EXCHANGE])).toBe(true);
      expect((await subject().events(attempt.encf)).map(({ state, revision }) => [state, revision])).toEqual([
        ['sending', 1],
        ['processing', 2],
        ['accepted', 4],
      ]);
      expect(await subject().exchanges(attempt.emissionId)).toBe(3);
    });

    it('stores each of many attempts that begin and change together with what belongs to it', async () => {
      const { store } = subject();
      const attempts = await Promise.all(
        numbers(1, 40).map(async (number) =>
          beginAttempt(fresh({ encf: unique(), contentHash: `hash ${number}` }), null, await store.nextId(), at(0), {
            owner: 'me',
            leaseMs: 60_000,
            held: false,
          }),
        ),
      );
      expect(new Set(attempts.map(({ emissionId }) => emissionId)).size).toBe(40);
      const sealed = (index: number) => (index % 3 === 0 ? Buffer.from([index]) : null);
      await Promise.all(attempts.map((attempt, index) => store.begin(attempt, sealed(index), [])));
      const processing = attempts.map(
        (attempt, index) => afterReceipt(attempt, receipt(`t-${index}`), at(1)) as Attempt,
      );
      const saved = await Promise.all(
        processing.map((after, index) =>
          // Every fourth change names an outdated revision.
          store.save({ ...(attempts[index] as Attempt), revision: index % 4 === 0 ? 7 : 1 }, after, [EXCHANGE]),
        ),
      );
      expect(saved).toEqual(attempts.map((_, index) => index % 4 !== 0));
      for (const [index, attempt] of attempts.entries()) {
        const isSaved = index % 4 !== 0;
        expect(await store.find(attempt)).toEqual(isSaved ? processing[index] : attempt);
        expect(await subject().exchanges(attempt.emissionId)).toBe(isSaved ? 1 : 0);
        expect((await subject().events(attempt.encf)).length).toBe(isSaved ? 2 : 1);
        const certificate = await store.sealedCertificate(attempt);
        expect(certificate === null ? null : [...certificate]).toEqual(index % 3 === 0 ? [index] : null);
      }
    });

    it('begins a further attempt only after the latest one', async () => {
      const first = await begun();
      const { store, other } = subject();
      const rejected = afterResult(
        afterReceipt(first, receipt('t-1'), at(1)) as Attempt,
        result('Rechazado', { sequenceUsed: false }),
        at(2),
      ) as Attempt;
      expect(await store.save(first, { ...rejected, revision: 2 }, [])).toBe(true);
      const latest = (await store.find(first)) as Attempt;
      const second = (hash: string) =>
        beginAttempt(fresh({ encf: first.encf, contentHash: hash }), latest, 0, at(3), {
          owner: 'me',
          leaseMs: 1,
          held: false,
        });
      const outcomes = await Promise.all([store.begin(second('a'), null, []), other.begin(second('b'), null, [])]);
      expect(outcomes.sort()).toEqual([false, true]);
      const present = (await store.find(first)) as Attempt;
      expect(present).toMatchObject({ attempt: 2, emissionId: first.emissionId, state: 'sending' });
      expect(present.past).toMatchObject([{ attempt: 1, trackId: 't-1', state: 'rejected-reusable' }]);
    });

    it('keeps the first and the latest submissions with an attempt, and returns all of them', async () => {
      const { store } = subject();
      const TIMES = 65;
      let attempt = await begun();
      for (let time = 1; time <= TIMES; time += 1) {
        const processing = afterReceipt(attempt, receipt(`t-${time}`), at(0)) as Attempt;
        const refused = afterResult(processing, result('Rechazado', { sequenceUsed: false }), at(0)) as Attempt;
        expect(await store.save(attempt, refused, [])).toBe(true);
        if (time === TIMES) break;
        attempt = beginAttempt(fresh({ encf: refused.encf }), refused, 0, at(0), {
          owner: 'me',
          leaseMs: 1,
          held: false,
        });
        expect(await store.begin(attempt, null, [])).toBe(true);
      }
      const present = (await store.find(attempt)) as Attempt;
      expect(present.past.map(({ trackId }) => trackId)).toEqual(
        [...numbers(1, 10), ...numbers(TIMES - 40, TIMES - 1)].map((time) => `t-${time}`),
      );
      expect(present.past.map(({ omittedBefore }) => omittedBefore).filter(Boolean)).toEqual([TIMES - 51]);
      const whole = await store.submissionHistory(present);
      expect(whole.map(({ trackId, attempt: number }) => [trackId, number])).toEqual(
        numbers(1, TIMES - 1).map((time) => [`t-${time}`, time]),
      );
      expect(whole.every(({ state, submittedAt }) => state === 'rejected-reusable' && submittedAt !== null)).toBe(true);
      expect(whole.slice(0, 10)).toEqual(present.past.slice(0, 10));
    });

    it.each([
      ['31', 'Aceptado', true],
      ['31', 'Rechazado', false],
      ['43', 'Aceptado', false],
    ] as const)(
      'keeps a certificate that came with a document of type %s until it is %s, or longer for its delivery: %s',
      async (...args) => {
        const [ecfType, verdict, kept] = args;
        const { store } = subject();
        const prepared = fresh({ encf: unique(), ecfType, hasOwnCertificate: true });
        const attempt = beginAttempt(prepared, null, await store.nextId(), at(0), {
          owner: 'me',
          leaseMs: 1,
          held: false,
        });
        await store.begin(attempt, Buffer.from([0, 1, 255]), []);
        expect([...((await store.sealedCertificate(attempt)) as Uint8Array)]).toEqual([0, 1, 255]);
        const processing = afterReceipt(attempt, receipt('t'), at(1)) as Attempt;
        await store.save(attempt, processing, []);
        expect(await store.sealedCertificate(attempt)).not.toBeNull();
        await store.save(processing, afterResult(processing, result(verdict), at(2)) as Attempt, []);
        expect((await store.sealedCertificate(attempt)) !== null).toBe(kept);
        expect((await store.find(attempt))?.hasOwnCertificate).toBe(kept);
        await store.eraseCertificate(attempt);
        expect(await store.sealedCertificate(attempt)).toBeNull();
        expect((await store.find(attempt))?.hasOwnCertificate).toBe(false);
      },
    );

    it('leases due attempts, each to one of the instances that claim at the same moment', async () => {
      const attempts = await Promise.all(Array.from({ length: 9 }, () => begun({}, -1)));
      const { store, other } = subject();
      const claim = (owner: string) => ({ now: NOW, until: at(60_000).now, owner, limit: 5 });
      const claimed = (await Promise.all([store.claimDue(claim('a')), other.claimDue(claim('b'))])).flat();
      const mine = claimed.filter(({ encf }) => attempts.some((attempt) => attempt.encf === encf));
      expect(new Set(mine.map(({ encf }) => encf)).size).toBe(mine.length);
      const rest = [...mine, ...(await store.claimDue(claim('a')))];
      expect(new Set(rest.map(({ encf }) => encf))).toEqual(new Set(attempts.map(({ encf }) => encf)));
      expect(mine.every(({ owner, revision }) => ['a', 'b'].includes(owner ?? '') && revision === 2)).toBe(true);
    });

    it('leases an attempt to the request that begins it, then to the instance that claims it', async () => {
      const { store } = subject();
      const attempt = await begun({}, 60_000);
      const claim = { now: at(59_999).now, until: at(120_000).now, owner: 'next', limit: 100 };
      const encfs = async (now: Date) => (await store.claimDue({ ...claim, now })).map(({ encf }) => encf);
      expect(await encfs(at(59_999).now)).not.toContain(attempt.encf);
      expect(await encfs(at(60_000).now)).toContain(attempt.encf);
      expect(await encfs(at(119_999).now)).not.toContain(attempt.encf);
      expect(await store.find(attempt)).toMatchObject({ owner: 'next', nextActionAt: at(120_000).now });
    });

    it('makes a held note due when the document it modifies is decided, and lists notes', async () => {
      const { store } = subject();
      const original = await begun();
      const modifies = documentKey(original);
      const note = beginAttempt(fresh({ encf: unique(), modifies }), null, await store.nextId(), at(0), {
        owner: 'me',
        leaseMs: 1,
        held: true,
      });
      await store.begin(note, null, []);
      expect(await store.notesOn(original)).toEqual({
        notes: [{ encf: note.encf, ecfType: '31', state: 'held', totalAmount: '11430.00' }],
        attempts: 1,
      });
      // A note whose check did not find this one has to be checked again, on whatever instance.
      const { other } = subject();
      const next = beginAttempt(fresh({ encf: unique(), modifies }), null, await store.nextId(), at(0), {
        owner: 'me',
        leaseMs: 1,
        held: true,
      });
      expect(await other.begin(next, null, [], 0)).toBe(false);
      expect(await other.find(next)).toBeNull();
      expect(await other.begin(next, null, [], 1)).toBe(true);
      const processing = afterReceipt(original, receipt('t'), at(1)) as Attempt;
      await store.save(original, processing, []);
      const before = (await store.find(note))?.nextActionAt as Date;
      await store.save(processing, afterResult(processing, result('Aceptado'), at(2)) as Attempt, []);
      const after = (await store.find(note))?.nextActionAt as Date;
      expect(after.getTime()).not.toBe(before.getTime());
      // A check that found the document undecided before does not postpone the note.
      expect(await store.save(note, postponed(note, at(3)), [])).toBe(false);
      expect((await store.find(note))?.nextActionAt).toEqual(after);
      await store.save(
        (await store.find(note)) as Attempt,
        { ...note, state: 'withdrawn', revision: 9, nextActionAt: null },
        [],
      );
    });

    it('counts the backlog', async () => {
      const { store } = subject();
      const attempt = await begun();
      await store.save(attempt, postponed(attempt, at(0), null, 'no-certificate'), []);
      const backlog = await store.backlog();
      expect(backlog.undecided.find(({ state }) => state === 'sending')?.count).toBeGreaterThan(0);
      expect(backlog.alarms).toContainEqual({ kind: 'no-certificate', count: 1 });
      expect(backlog.oldestCommittedAt).toEqual(NOW);

      // The status poller queries these documents; they are never due here, but undecided.
      const old = beginAttempt(fresh({ encf: unique() }), null, await store.nextId(), at(-7_200_000), {
        owner: 'me',
        leaseMs: 1,
        held: false,
      });
      await store.begin(old, null, []);
      const sent = afterReceipt(old, receipt('t-old'), at(0)) as Attempt;
      const waiting = (present: typeof backlog) => present.undecided.find(({ state }) => state === 'processing')?.count;
      const before = waiting(await store.backlog()) ?? 0;
      await store.save(old, sent, []);
      const later = await store.backlog();
      expect([waiting(later), later.oldestCommittedAt]).toEqual([before + 1, old.committedAt]);
      await store.save(sent, afterResult(sent, result('Aceptado'), at(1)) as Attempt, []);
      const decided = await store.backlog();
      expect([waiting(decided) ?? 0, decided.oldestCommittedAt]).toEqual([before, NOW]);

      await store.resume('000000000');
      expect((await store.find(attempt))?.nextActionAt?.getTime()).toBeGreaterThan(NOW.getTime());
      // A background worker that found no certificate does not postpone the document.
      const alarmed = (await store.find(attempt)) as Attempt;
      const claimed: Attempt = { ...alarmed, state: 'committed', owner: 'me', revision: alarmed.revision + 1 };
      expect(await store.save(alarmed, claimed, [])).toBe(true);
      await store.resume(attempt.issuerRnc);
      expect(await store.save(claimed, postponed(claimed, at(0), null, 'no-certificate'), [])).toBe(false);
      expect((await store.find(attempt))?.nextActionAt).not.toEqual(postponed(attempt, at(0)).nextActionAt);
    });

    it('resumes a document that is late, which may wait for the certificate too', async () => {
      const { store } = subject();
      const attempt = await begun({ issuerRnc: '131888888' });
      const late = { ...postponed(attempt, at(73 * 3_600_000)), state: 'committed' as const };
      expect([late.alarm, await store.save(attempt, late, [])]).toEqual(['overdue', true]);
      await store.resume('131888888');
      expect((await store.find(attempt))?.nextActionAt).not.toEqual(late.nextActionAt);
    });
  });
}

describe('in memory', () => {
  const store = createInMemoryEmissionStore(describeAttempt);
  contract('in memory', () => ({
    store,
    other: store,
    events: async (encf) =>
      store.events
        .map(({ data }) => data as { encf: string; state: string; revision: number })
        .filter((data) => data.encf === encf),
    exchanges: async (emissionId) => store.exchanges.filter((exchange) => exchange.emissionId === emissionId).length,
  }));
});

describe('over PostgreSQL', () => {
  let databases: Database[] = [];
  let stores: EmissionStore[] = [];
  beforeAll(async () => {
    const url = await emissionDatabaseUrl();
    databases = [openDatabase(url, { max: 4 }), openDatabase(url, { max: 4 })];
    stores = databases.map((database) =>
      createPostgresEmissionStore({ database, describe: describeAttempt, timeoutMs: 1_000 }),
    );
  });
  afterAll(() => Promise.all(databases.map((database) => database.close())));
  contract('over PostgreSQL', () => ({
    store: stores[0] as EmissionStore,
    other: stores[1] as EmissionStore,
    async events(encf) {
      const { rows } = await (databases[0] as Database).query<{ event: BusEvent }>(
        "SELECT event FROM outbox WHERE event->'data'->>'encf' = $1 ORDER BY position",
        [encf],
      );
      return rows.map(({ event }) => event.data as { state: string; revision: number });
    },
    async exchanges(emissionId) {
      const { rowCount } = await (databases[0] as Database).query('SELECT 1 FROM exchange WHERE emission_id = $1', [
        emissionId,
      ]);
      return rowCount;
    },
  }));

  it('does not commit an event that is too large for a broker, or the attempt with it', async () => {
    const database = databases[0] as Database;
    const store = createPostgresEmissionStore({
      database,
      describe: (attempt) => ({
        ...describeAttempt(attempt),
        data: attempt.accountId === 'large' ? 'x'.repeat(MAX_EVENT_BYTES) : {},
      }),
      timeoutMs: 1_000,
    });
    const outcomes = await Promise.allSettled(
      ['small', 'large', 'small'].map(async (accountId, index) => {
        const attempt = fresh({ encf: `E32999999999${index}`, accountId });
        const life = { owner: 'me', leaseMs: 1, held: false };
        return store.begin(beginAttempt(attempt, null, await store.nextId(), at(0), life), null, []);
      }),
    );
    expect(outcomes).toMatchObject([{ value: true }, { reason: expect.any(RangeError) }, { value: true }]);
  });

  it('lists documents that the authority has to decide, in pages', async () => {
    const [store, published] = [stores[0] as EmissionStore, createPostgresPublishedDocuments(databases[0] as Database)];
    const life = { owner: 'me', leaseMs: 1, held: false };
    const issued = async (number: number, until: 'sending' | 'processing' | 'accepted') => {
      const attempt = beginAttempt(fresh({ encf: `E32888888888${number}` }), null, await store.nextId(), at(0), life);
      await store.begin(attempt, null, []);
      const sent = afterReceipt(attempt, receipt(`t-${number}`), at(0)) as Attempt;
      if (until !== 'sending') await store.save(attempt, sent, []);
      if (until === 'accepted') await store.save(sent, afterResult(sent, result('Aceptado'), at(1)) as Attempt, []);
      return attempt.emissionId;
    };
    const [first] = [await issued(0, 'sending'), await issued(1, 'accepted')];
    const ids = [await issued(2, 'processing'), await issued(3, 'processing'), await issued(4, 'processing')];
    const page = async (after: number) => (await published.awaited(after, 2)).map(({ emissionId }) => emissionId);
    expect([await page(first as number), await page(ids[1] as number)]).toEqual([ids.slice(0, 2), ids.slice(2)]);
  });

  it('lists all documents in pages, and continues after a page whose documents are in a detached month', async () => {
    const database = databases[0] as Database;
    const { page } = createPostgresPublishedDocuments(database);
    await database.query('ALTER TABLE attempt DETACH PARTITION attempt_default');
    const detached = await page(0, 2);
    await database.query('ALTER TABLE attempt ATTACH PARTITION attempt_default DEFAULT');
    const [first, second] = [await page(0, 2), await page(detached.next as number, 2)];
    expect(detached).toEqual({ attempts: [], next: first.attempts[1]?.emissionId });
    expect(first.attempts).toHaveLength(2);
    expect(first.attempts[0]).not.toHaveProperty('numberId');
    expect(second.attempts[0]?.emissionId).toBeGreaterThan(detached.next as number);
    expect(await page(second.attempts[1]?.emissionId as number, 1_000)).toMatchObject({ next: null });
  });

  it.each([
    ['the backlog is counted', BACKLOG, []],
    ['documents that the authority has to decide are listed', PAGE_OF_AWAITED, [0, 100]],
  ] as const)('does not read decided documents when %s', async (_, { text }, params) => {
    const { url } = databases[0] as Database;
    const database = openDatabase(url, { max: 1, settings: { enable_seqscan: 'off' } });
    const { rows } = await database.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${text}`, [...params]);
    await database.close();
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toContain('attempt_default_emission_id_idx');
    expect(plan).not.toContain('Seq Scan');
  });

  it('finds only the cancellation of a cancelled number that was never issued', async () => {
    const [store, database] = [stores[0] as EmissionStore, databases[0] as Database];
    await database.query(`INSERT INTO cancelled_range (env, issuer_rnc, ecf_type, first_number, last_number, cancellation_id)
      VALUES ('TesteCF', '131999999', '31', 8000000001, 8000000009, 77)`);
    const never = { env: 'TesteCF', issuerRnc: '131999999', encf: 'E318000000005' } as const;
    expect(await store.findNumber(never)).toEqual({ attempt: null, isDetached: false, cancelledBy: 77, run: 1 });
    expect(await store.find(never)).toBeNull();
    expect(await createPostgresPublishedDocuments(database).find('TesteCF', [never])).toEqual([]);
  });
});

describe('events whose effect needs the database', () => {
  it('wait longer than a request while it is unavailable, and do not become dead letters', async () => {
    const database = openDatabase('postgresql://ecf:x@127.0.0.1:1/none');
    const store = createPostgresEmissionStore({ database, describe: describeAttempt, timeoutMs: 10 });
    const deadLetters = memoryDeadLetters();
    const retry = { attempts: 1, firstDelayMs: 1 };
    const bus = withDeadLetters(createInProcessBus({ logger: silentLogger, retry }), deadLetters);
    await subscribeToEvents(bus, {
      replica: { apply: () => Promise.reject(new Error('no taxpayer changed')) },
      emissions: store,
      publishNotices: () => Promise.resolve(),
      async applyStatus({ env, issuer_rnc, encf }) {
        await store.find({ env, issuerRnc: issuer_rnc, encf });
      },
    });
    const about = { env: 'TesteCF', issuer_rnc: '199999991', encf: 'E310000000001' } as const;
    const delivered = { ...about, buyer_rnc: '188888885', revision: 1, delivery_status: 'delivered', final: true };
    const decided = {
      ...about,
      account_id: 'account-1',
      track_id: 't',
      revision: 1,
      status: 'Aceptado',
      final: true,
      code: '1',
      messages: [],
      sequence_used: null,
      date_received: null,
      asked_at: '2026-06-15T10:00:00-04:00',
      answer: { http_status: 200, content_type: null, body: '{}' },
    };
    const of = (topic: string, type: string, data: unknown): BusEvent =>
      makeEvent(
        { topic, type, source: 'test', subject: about.encf, key: about.encf, data },
        { id: randomUUID(), time: NOW },
      );
    await expect(bus.publish([of('deliveries.v1', 'delivery.changed', delivered)])).rejects.toThrow();
    await expect(bus.publish([of('invoice-status.v1', 'invoice_status.changed', decided)])).rejects.toThrow();
    expect(deadLetters.kept).toEqual([]);
    await bus.close();
    await database.close();
  });
});
