import type { CertificateNotice, NumberRange, RangeNotice, TaxpayerState } from '@ecf/contracts';
import { toIsoDominican } from '@ecf/domain';
import { createMetrics } from '@ecf/kit/telemetry';
import type { Database } from '@ecf/postgres';
import { createTaxpayerReplica } from '@ecf/taxpayer-replica/postgres';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createEndsMetrics } from '../src/metrics.js';
import { createNotices } from '../src/notices/notices.postgres.js';
import { openEmissionDatabase } from './support/database.js';
import { encf, ISSUER } from './support/documents.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

let database: Database;
let now = new Date('2026-06-15T12:00:00-04:00');
let revision = 0;
let taxpayer: TaxpayerState;

beforeAll(async () => {
  database = await openEmissionDatabase();
});
afterAll(() => database.close());
beforeEach(async () => {
  await database.query(
    'TRUNCATE taxpayers, accounts, notice, emission, cancelled_range, number_position, outbox CASCADE',
  );
  await change({ ranges: [], fingerprint: null, certificate_facts: null, active: true });
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

async function use(first: number, last: number): Promise<void> {
  await database.query(
    `INSERT INTO emission (env, issuer_rnc, encf, account_id, ecf_type, attempt, created_at)
     SELECT 'TesteCF', '${ISSUER}', encf_of('31', n), 'account-1', '31', 1, now() FROM generate_series($1::bigint, $2::bigint) n`,
    [first, last],
  );
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
  return rows.map(({ event }) => event);
}
const types = async () => (await published()).map(({ type }) => type);

/** Publishes what is due, on this many instances at the same time. */
async function look(instances = 1): Promise<string[]> {
  await Promise.all(Array.from({ length: instances }, () => createNotices(database).publish(null, now)));
  return types();
}

/** The fields of a taxpayer with a certificate that ends then. */
const certificate = (fingerprint: string, notAfter: Date) => ({
  fingerprint,
  certificate_facts: {
    subject: 'CN=Juana',
    serial_number: '01',
    not_before: toIsoDominican(new Date(0)),
    not_after: toIsoDominican(notAfter),
    fingerprint,
  },
});

describe('a range that is low', () => {
  it.each([
    [9, 0],
    [20, 2],
    [10_000, 1_000],
    [5_000_000, 1_000],
  ])('has 10 %% or 1,000 of its numbers left, whichever is less: of %i, it has %i', async (size, left) => {
    await change({ ranges: [range(1, size)] });
    await database.query(`INSERT INTO cancelled_range VALUES ('TesteCF', '${ISSUER}', '31', 1, ${size - left - 1}, 1)`);
    expect(await look()).toEqual([]);
    await database.query('UPDATE cancelled_range SET last_number = last_number + 1');
    expect(await look()).toEqual(['range.low']);
  });

  it('is published once, by all instances and after a restart, also if the caller names the numbers', async () => {
    await change({ ranges: [range(1, 20), range(101, 200)] });
    await use(1, 17);
    expect(await look()).toEqual([]);
    await use(18, 18);
    await look(3);
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

  it('is not published again when numbers become free, but is for a new registration with another last number', async () => {
    await change({ ranges: [range(1, 20)] });
    await use(1, 18);
    expect(await look()).toEqual(['range.low']);
    await database.query('DELETE FROM emission WHERE encf = $1', [encf('31', 18)]);
    await use(18, 18);
    expect(await look()).toEqual(['range.low']);
    await change({ ranges: [range(1, 1_000)] });
    expect(await look()).toEqual(['range.low']);
    await use(19, 900);
    expect(await look()).toEqual(['range.low', 'range.low']);
    expect((await published())[1]?.data).toMatchObject({ range: { to: encf('31', 1_000) }, remaining: 100 });
  });

  it('of one taxpayer is published without the others', async () => {
    await change({ ranges: [range(1, 10)] });
    await use(1, 10);
    await createNotices(database).publish('101000001', now);
    expect(await types()).toEqual([]);
    await createNotices(database).publish(ISSUER, now);
    expect(await types()).toEqual(['range.low']);
  });
});

describe('a range that ends', () => {
  it('is published 30 days before its end, once for each day of expiry, and not after its end', async () => {
    const expires = '2026-07-31';
    await change({ ranges: [range(1, 100, { expires }), range(201, 300, { expires: '2026-01-31' })] });
    now = new Date('2026-06-30T23:00:00-04:00');
    expect(await look()).toEqual([]);
    now = new Date('2026-07-01T00:30:00-04:00');
    await look(2);
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
  it('is published 30 days before its end, once for each certificate', async () => {
    now = new Date('2026-06-15T12:00:00-04:00');
    const first = certificate('1'.repeat(64), new Date(now.getTime() + 30 * DAY + HOUR));
    const second = certificate('2'.repeat(64), new Date(now.getTime() + 365 * DAY));
    await change(first);
    expect(await look()).toEqual([]);
    now = new Date(now.getTime() + 2 * HOUR);
    await look(3);
    expect(await published()).toMatchObject([
      {
        type: 'certificate.expiring',
        data: {
          issuer_rnc: ISSUER,
          certificate: { fingerprint: first.fingerprint, not_after: '2026-07-15T13:00:00-04:00' },
        },
      },
    ]);
    await change({ name: 'Otro nombre' });
    expect(await look()).toHaveLength(1);
    await change(second);
    expect(await look()).toHaveLength(1);
    now = new Date(now.getTime() + 340 * DAY);
    expect(await look()).toHaveLength(2);
  });

  it('is not published after its end', async () => {
    now = new Date('2026-06-15T12:00:00-04:00');
    await change(certificate('1'.repeat(64), new Date(now.getTime() - HOUR)));
    expect(await look()).toEqual([]);
  });
});

describe('the metrics of what ends', () => {
  const metrics = createMetrics();
  const count = createEndsMetrics(metrics);
  async function shown(): Promise<string[]> {
    count(await createNotices(database).backlog(now));
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
    await change(certificate('3'.repeat(64), new Date(now.getTime() + 10 * DAY)));
    expect(await shown()).toEqual(lines(1));
    now = new Date(now.getTime() + 20 * DAY);
    expect(await shown()).toEqual(lines(1));
    await change(certificate('4'.repeat(64), new Date(now.getTime() + 365 * DAY)));
    expect(await shown()).toEqual(lines(0));
  });
});
