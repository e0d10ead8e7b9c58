import type { CertificateNotice, NumberRange, RangeNotice, TaxpayerState } from '@ecf/contracts';
import { toCalendarDate } from '@ecf/domain';
import { type Database, openDatabase } from '@ecf/service-kit/postgres';
import { createMetrics } from '@ecf/service-kit/telemetry';
import { createTaxpayerReplica } from '@ecf/taxpayer-replica/postgres';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { describeDueWorkStore } from '../../../packages/service-kit/test/due-work-contract.js';
import { createEndsMetrics } from '../src/metrics.js';
import { createNoticeBackground } from '../src/notices/notice-background.js';
import { WATCH } from '../src/notices/notice-sql.postgres.js';
import { createPostgresNoticeStore } from '../src/notices/notice-store.postgres.js';
import { lowAt, type WatchedTaxpayer } from '../src/notices/notices.js';
import { createPostgresNumberStore } from '../src/numbers/numbers.postgres.js';
import { openEmissionDatabase } from './support/database.js';
import { encf, ISSUER } from './support/documents.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

let database: Database;
let now = new Date('2026-06-15T12:00:00-04:00');
let revision = 0;
let taxpayer: TaxpayerState;
/** The end of the certificate with each fingerprint. */
const ends = new Map<string, Date>();
const failures: unknown[] = [];

beforeAll(async () => {
  database = await openEmissionDatabase();
});
afterAll(() => database.close());
beforeEach(async () => {
  await database.query(
    'TRUNCATE taxpayers, accounts, taxpayer_watch, range_notice, emission, cancelled_range, number_position, recent_change, outbox CASCADE',
  );
  failures.length = 0;
  await change({ ranges: [], certificate: null, fingerprint: null, active: true });
});

/** The taxpayer as the gateway publishes it. */
async function change(fields: Partial<TaxpayerState>): Promise<void> {
  revision += 1;
  taxpayer = {
    ...{ rnc: ISSUER, account_id: 'account-1', account_active: true, name: 'Contribuyente', active: true },
    ...{ certificate: null, fingerprint: null, ranges: [], created_at: '2026-01-01T00:00:00-04:00' },
    ...taxpayer,
    ...fields,
    revision,
    previous_revision: 0,
  };
  await createTaxpayerReplica(database).apply(taxpayer);
}

const range = (first: number, last: number, more: Partial<NumberRange> = {}): NumberRange => ({
  env: 'TesteCF',
  ecf_type: '31',
  from: encf('31', first),
  to: encf('31', last),
  expires: null,
  ...more,
});

/** An instance of the service, as far as it tells of ends. */
function instance() {
  return createNoticeBackground(
    {
      notices: createPostgresNoticeStore(database),
      numbers: createPostgresNumberStore(database, 1_000),
      taxpayers: createTaxpayerReplica(database),
      observer: { failed: (_: string, error: unknown) => void failures.push(error) } as never,
      clock: () => now,
    },
    {
      unsealed: () => {
        const fingerprint = taxpayer.fingerprint as string;
        const notAfter = ends.get(fingerprint) as Date;
        const facts = { subject: 'CN=Juana', serialNumber: '01', notBefore: new Date(0), notAfter, fingerprint };
        return facts as never;
      },
    },
  );
}

async function use(first: number, last: number): Promise<void> {
  await database.query(
    `INSERT INTO emission (env, issuer_rnc, encf, account_id, ecf_type, attempt, created_at)
     SELECT 'TesteCF', '${ISSUER}', encf_of('31', n), 'account-1', '31', 1, now() FROM generate_series($1::bigint, $2::bigint) n`,
    [first, last],
  );
  await database.query(`INSERT INTO recent_change (issuer, encf, revision) VALUES ('TesteCF:${ISSUER}', $1, 1)`, [
    encf('31', last),
  ]);
}

interface Published {
  type: string;
  data: RangeNotice & CertificateNotice;
}

/** Every notice that was published so far. */
async function published(): Promise<Published[]> {
  const { rows } = await database.query<{ event: Published }>(
    "SELECT event FROM outbox WHERE topic = 'notices.v1' ORDER BY position",
  );
  expect(failures).toEqual([]);
  return rows.map(({ event }) => event);
}
const types = async () => (await published()).map(({ type }) => type);

/** A look at once, however lately the last one was. */
async function look(...instances: ReturnType<typeof instance>[]): Promise<string[]> {
  now = new Date(now.getTime() + 20_000);
  await Promise.all((instances.length === 0 ? [instance()] : instances).map((one) => one.runOnce()));
  return types();
}

describe('taxpayers as due work', () => {
  let sequence = 0;
  describeDueWorkStore<WatchedTaxpayer>(async () => {
    await database.query('TRUNCATE taxpayers, taxpayer_watch');
    return {
      store: createPostgresNoticeStore(database),
      async add(dueAt) {
        sequence += 1;
        const rnc = String(100_000_000 + sequence);
        await database.query("INSERT INTO taxpayers VALUES ($1, 'account-1', 1, '{}')", [rnc]);
        await database.query('INSERT INTO taxpayer_watch VALUES ($1, 1, $2)', [rnc, dueAt]);
        return rnc;
      },
      keyOf: ({ rnc }) => rnc,
    };
  });
});

describe('a range that is low', () => {
  it('has 10 % or 1,000 numbers left, whichever is less', () => {
    expect([range(1, 9), range(1, 20), range(1, 10_000), range(1, 5_000_000)].map(lowAt)).toEqual([0, 2, 1_000, 1_000]);
  });

  it('is published once, by all instances and after a restart, also if the caller names the numbers', async () => {
    await change({ ranges: [range(1, 20), range(101, 200)] });
    await use(1, 17);
    expect(await look()).toEqual([]);
    await use(18, 18);
    await look(instance(), instance(), instance());
    expect(await published()).toMatchObject([
      {
        type: 'range.low',
        data: {
          issuer_rnc: ISSUER,
          account_id: 'account-1',
          range: range(1, 20),
          next: encf('31', 19),
          remaining: 2,
          published_at: expect.stringMatching(/-04:00$/),
        },
      },
    ]);
    await use(19, 20);
    now = new Date(now.getTime() + 2 * HOUR);
    await look();
    await change({ name: 'Otro nombre' });
    expect(await look()).toEqual(['range.low']);
  });

  it('is published whichever numbers are used, cancelled or given', async () => {
    await change({ ranges: [range(1, 100), range(201, 300), range(401, 500)] });
    // Downwards, and a gap in the middle.
    await use(11, 100);
    await database.query(`INSERT INTO cancelled_range VALUES ('TesteCF', '${ISSUER}', '31', 205, 300, 1)`);
    await database.query(`INSERT INTO number_position VALUES ('TesteCF', '${ISSUER}', '31', 401, 492)`);
    await look();
    expect((await published()).map(({ data }) => [data.range.from, data.remaining])).toEqual([
      [encf('31', 1), 10],
      [encf('31', 201), 4],
      [encf('31', 401), 9],
    ]);
  });

  it('is not published again when numbers come back; it is when another registration gave it more', async () => {
    await change({ ranges: [range(1, 20)] });
    await use(1, 18);
    expect(await look()).toEqual(['range.low']);
    await database.query('DELETE FROM emission WHERE encf = $1', [encf('31', 18)]);
    await use(18, 18);
    expect(await look()).toEqual(['range.low']);
    // Longer, and still low.
    await change({ ranges: [range(1, 21)] });
    await use(19, 19);
    expect(await look()).toEqual(['range.low']);
    await change({ ranges: [range(1, 1_000)] });
    expect(await look()).toEqual(['range.low']);
    await use(20, 900);
    expect(await look()).toEqual(['range.low', 'range.low']);
    expect((await published())[1]?.data).toMatchObject({ range: { to: encf('31', 1_000) }, remaining: 100 });
  });

  it('is noticed within the hour if the change was not noted', async () => {
    await change({ ranges: [range(1, 10)] });
    await look();
    await use(1, 9);
    await database.query('TRUNCATE recent_change');
    expect(await look()).toEqual([]);
    now = new Date(now.getTime() + HOUR);
    expect(await look()).toEqual(['range.low']);
  });

  it('does not read changes that are older than a minute', async () => {
    const planner = openDatabase(database.url, { max: 1, settings: { enable_seqscan: 'off' } });
    const { rows } = await planner.query(`EXPLAIN ${WATCH.text}`, [now]);
    await planner.close();
    const plan = JSON.stringify(rows);
    expect(plan).toContain('recent_change_at_idx');
    expect(plan).not.toContain('Seq Scan on recent_change');
  });

  it('costs one look in ten seconds, however many documents come', async () => {
    await change({ ranges: [range(1, 10)] });
    const one = instance();
    expect(await one.runOnce()).toBe(1);
    await use(1, 1);
    expect(await one.runOnce()).toBe(0);
    now = new Date(now.getTime() + 10_000);
    expect([await one.runOnce(), await one.runOnce()]).toEqual([1, 0]);
  });
});

describe('a range that ends', () => {
  it('is published 30 days before, once for each day of its end; not once it is over', async () => {
    const expires = '2026-07-31';
    await change({ ranges: [range(1, 100, { expires }), range(201, 300, { expires: '2026-01-31' })] });
    now = new Date('2026-06-30T23:00:00-04:00');
    expect(await look()).toEqual([]);
    now = new Date('2026-07-01T00:30:00-04:00');
    await look(instance(), instance());
    expect(await published()).toMatchObject([
      {
        type: 'range.expiring',
        data: { range: { expires, from: encf('31', 1) }, next: encf('31', 1), remaining: 100 },
      },
    ]);
    now = new Date('2026-07-20T12:00:00-04:00');
    expect(await look()).toEqual(['range.expiring']);
    await change({ ranges: [range(1, 100, { expires: '2026-08-10' })] });
    expect(await look()).toEqual(['range.expiring', 'range.expiring']);
  });

  it('of an inactive taxpayer is published when it is active again', async () => {
    now = new Date('2026-07-20T12:00:00-04:00');
    await change({ ranges: [range(1, 100, { expires: '2026-08-10' })], active: false });
    expect(await look()).toEqual([]);
    await change({ active: true });
    expect(await look()).toEqual(['range.expiring']);
  });
});

describe('a certificate that ends', () => {
  it('is published 30 days before, once for each certificate', async () => {
    now = new Date('2026-06-15T12:00:00-04:00');
    const sealed = Buffer.from('sealed').toString('base64');
    const [first, second] = ['1'.repeat(64), '2'.repeat(64)];
    ends.set(first, new Date(now.getTime() + 30 * DAY + HOUR));
    ends.set(second, new Date(now.getTime() + 365 * DAY));
    await change({ certificate: sealed, fingerprint: first });
    expect(await look()).toEqual([]);
    now = new Date(now.getTime() + 2 * HOUR);
    await look(instance(), instance(), instance());
    expect(await published()).toMatchObject([
      {
        type: 'certificate.expiring',
        data: { issuer_rnc: ISSUER, certificate: { fingerprint: first, not_after: '2026-07-15T13:00:00-04:00' } },
      },
    ]);
    // Sealed anew.
    await change({ certificate: Buffer.from('anew').toString('base64') });
    expect(await look()).toHaveLength(1);
    await change({ fingerprint: second });
    expect(await look()).toHaveLength(1);
    now = new Date(now.getTime() + 340 * DAY);
    expect(await look()).toHaveLength(2);
    // It is over.
    now = new Date(now.getTime() + 40 * DAY);
    await change({ fingerprint: first });
    expect(await look()).toHaveLength(2);
  });
});

describe('the metrics of what ends', () => {
  const metrics = createMetrics();
  const count = createEndsMetrics(metrics);
  async function shown(): Promise<string[]> {
    count(await createPostgresNoticeStore(database).backlog(toCalendarDate(now)));
    return (await metrics.render())
      .split('\n')
      .filter((line) => /^ecf_(certificates_expiring|ranges_ending)/.test(line));
  }
  const lines = (certificates: number, ...ranges: string[]) => [`ecf_certificates_expiring ${certificates}`, ...ranges];
  const ending = 'ecf_ranges_ending{env="TesteCF"} 1';

  it('count a type while each of its ranges is low, ends soon or has ended, until another one is registered', async () => {
    now = new Date('2026-06-15T12:00:00-04:00');
    await change({ ranges: [range(1, 20), range(101, 200, { expires: '2026-01-31' })] });
    await look();
    expect(await shown()).toEqual(lines(0));
    await use(1, 18);
    await look();
    expect(await shown()).toEqual(lines(0, ending));
    await change({ ranges: [range(1, 20), range(201, 300, { expires: '2026-07-01' })] });
    await look();
    expect(await shown()).toEqual(lines(0, ending));
    await change({ ranges: [range(1, 20), range(201, 300, { expires: '2027-12-31' })] });
    await look();
    expect(await shown()).toEqual(lines(0));
    await change({ ranges: [range(1, 20)], active: false });
    expect(await shown()).toEqual(lines(0));
  });

  it('count a certificate from 30 days before its end until it is replaced', async () => {
    now = new Date('2026-06-15T12:00:00-04:00');
    const [first, second] = ['3'.repeat(64), '4'.repeat(64)];
    ends.set(first, new Date(now.getTime() + 10 * DAY));
    ends.set(second, new Date(now.getTime() + 365 * DAY));
    await change({ certificate: Buffer.from('sealed').toString('base64'), fingerprint: first });
    await look();
    expect(await shown()).toEqual(lines(1));
    now = new Date(now.getTime() + 20 * DAY);
    await look();
    expect(await shown()).toEqual(lines(1));
    await change({ fingerprint: second });
    await look();
    expect(await shown()).toEqual(lines(0));
  });
});
