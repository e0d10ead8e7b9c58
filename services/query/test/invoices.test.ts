import {
  type InvoiceList,
  invoiceAggregateSchema,
  invoiceCountSchema,
  invoiceListSchema,
  invoiceSchema,
  LISTING_SORTS,
  TOPICS,
  trackIdListSchema,
} from '@ecf/contracts';
import { toIsoDominican } from '@ecf/domain';
import { columnOf } from '@ecf/http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type IssuedInvoice, issuedInvoice } from '../src/invoices/issued-invoice.js';
import { createPostgresOutcomes, createPostgresProjection } from '../src/invoices/projection.postgres.js';
import {
  ACCOUNT,
  BUYER,
  encf,
  event,
  FOREIGN_ISSUER,
  ISSUER,
  invoice,
  invoiceEvent,
  OTHER_ACCOUNT,
  OTHER_ISSUER,
  taxpayer,
  taxpayerEvent,
} from './support/events.js';
import { seeded } from './support/random.js';
import { startWorld, type World } from './support/world.js';

const YEAR = { 'rnc-issuing': ISSUER, 'start-date': '01-01-2026', 'end-date': '31-12-2026' };
const day = (date: string) => ({ 'rnc-issuing': ISSUER, 'start-date': date, 'end-date': date });

let world: World;

beforeAll(async () => {
  world = await startWorld();
  await world.publish(
    taxpayerEvent(taxpayer({ rnc: OTHER_ISSUER, account_id: OTHER_ACCOUNT })),
    // 23:30 on 9 June in Santo Domingo is 10 June in UTC. The fiscal date does not decide the day of creation.
    invoiceEvent(invoice({ sequence: 1, created_at: '2026-06-09T23:30:00-04:00', date_issued: '2026-05-31' })),
    invoiceEvent(
      invoice({ sequence: 2, created_at: '2026-06-10T00:00:00-04:00', total_amount: '100.50', total_itbis: '15.33' }),
    ),
    invoiceEvent(
      invoice({
        sequence: 3,
        ecf_type: '34',
        created_at: '2026-07-01T08:00:00-04:00',
        total_amount: '18.00',
        total_itbis: '2.75',
        modified_encf: encf('31', 1),
        submitted_by: 'key-of-the-test',
        request_id: 'caja-7',
        reference: 'order-4711',
        state: 'conditional',
        code: '4',
        messages: [{ codigo: '1934', valor: 'No cuadra' }],
      }),
    ),
    invoiceEvent(
      invoice({ sequence: 4, created_at: '2026-07-01T08:00:00-04:00', state: 'rejected-reusable', code: '2' }),
    ),
    invoiceEvent(
      invoice({
        sequence: 5,
        ecf_type: '32',
        route: 'rfce',
        track_id: null,
        buyer_rnc: null,
        buyer_name: 'Cualquiera',
        created_at: '2026-07-02T08:00:00-04:00',
        total_amount: '7.00',
        total_itbis: '1.07',
      }),
    ),
    invoiceEvent(invoice({ sequence: 1, env: 'eCF' })),
    invoiceEvent(invoice({ sequence: 1, issuer_rnc: OTHER_ISSUER })),
  );
});
afterAll(() => world.stop());

describe('GET /invoices/', () => {
  it('lists newest first by creation, then id, as the specification shapes it', async () => {
    const { status, body } = await world.get('/invoices/', YEAR);
    expect(status).toBe(200);
    expect(invoiceListSchema.strict().parse(body)).toEqual(body);
    const { invoices, ...rest } = body;
    expect(rest).toEqual({
      count: 5,
      total: 5,
      issuer_rnc: ISSUER,
      start_date: '01-01-2026',
      end_date: '31-12-2026',
      env: 'TesteCF',
      limit: 200,
      offset: 0,
      next_cursor: null,
    });
    expect(invoices.map(({ encf: number }: { encf: string }) => number)).toEqual([
      encf('32', 5),
      encf('31', 4),
      encf('34', 3),
      encf('31', 2),
      encf('31', 1),
    ]);
    expect(invoices[2]).toEqual({
      id: 3,
      encf: encf('34', 3),
      ecf_type: '34',
      env: 'TesteCF',
      issuer_rnc: ISSUER,
      buyer_rnc: BUYER,
      buyer_name: 'Comprador de prueba',
      date_issued: '2026-06-15',
      created_at: '2026-07-01T08:00:00-04:00',
      signed_at: '2026-06-15T10:00:00-04:00',
      total_amount: '18.00',
      total_itbis: '2.75',
      status: 'AceptadoCondicional',
      code: '4',
      messages: [{ codigo: '1934', valor: 'No cuadra' }],
      track_id: '00000000-0000-4000-8000-000000000003',
      security_code: 'aB+/9z',
      qr_url: expect.stringContaining('ConsultaTimbre'),
      route: 'ecf',
      sequence_used: true,
      delivery_status: 'pending',
      approval_status: 'pending',
      approval_confirmed: false,
      xml_storage_path: expect.stringContaining(`TesteCF/ecf/${ISSUER}/issued/`),
      xml_checksum: '0'.repeat(64),
      modified_encf: encf('31', 1),
      submitted_by: 'key-of-the-test',
      request_id: 'caja-7',
      reference: 'order-4711',
      run: 1,
      superseded: false,
    });
    expect(invoices[0]).toMatchObject({
      track_id: null,
      route: 'rfce',
      delivery_status: 'not_required',
      approval_status: null,
    });
    expect(invoices[1]).toMatchObject({ status: 'Rechazado', sequence_used: false, delivery_status: 'not_required' });
  });

  it('filters by the Dominican day of creation or by the date of issue, both ends included', async () => {
    const on = async (date: string) => (await world.get('/invoices', day(date))).body;
    expect((await on('09-06-2026')).invoices).toMatchObject([{ encf: encf('31', 1), date_issued: '2026-05-31' }]);
    expect((await on('10-06-2026')).invoices).toMatchObject([{ encf: encf('31', 2) }]);
    expect(await on('31-05-2026')).toMatchObject({ count: 0, total: 0, invoices: [] });
    const issued = async (date: string) => (await world.get('/invoices?period=issued', day(date))).body;
    expect(await issued('31-05-2026')).toMatchObject({ total: 1, invoices: [{ encf: encf('31', 1) }] });
    expect(await issued('15-06-2026')).toMatchObject({ count: 4, total: 4 });
    expect(await issued('09-06-2026')).toMatchObject({ count: 0, total: 0, invoices: [] });
    const sums = (path: string) => world.get(`/invoices/${path}/?period=issued`, day('31-05-2026'));
    expect((await sums('count')).body.total_invoices).toBe(1);
    expect((await sums('aggregate')).body).toMatchObject({
      total_invoices: 1,
      counted: 1,
      total_amount: '118.00',
      by_month: [{ month: '2026-05', count: 1 }],
      top_clients: [{ buyer_rnc: BUYER, buyer_name: 'Comprador de prueba', count: 1 }],
    });
    expect((await world.get('/invoices/count/?period=signed', YEAR)).status).toBe(422);
  });

  it('returns pages; a page beyond the end is empty', async () => {
    const page = async (query: string) => (await world.get(`/invoices/?${query}`, YEAR)).body;
    expect(await page('limit=2&offset=1')).toMatchObject({
      count: 2,
      total: 5,
      limit: 2,
      offset: 1,
      invoices: [{ encf: encf('31', 4) }, { encf: encf('34', 3) }],
    });
    expect(await page('limit=1000&offset=5')).toMatchObject({ count: 0, total: 5, invoices: [] });
    for (const offset of ['2147483647', '2147483648', '9'.repeat(30)])
      expect(await page(`offset=${offset}`)).toMatchObject({ count: 0, total: 5, invoices: [] });
  });

  describe('with criteria, sorts and cursors', () => {
    const random = seeded(7);
    const amounts = ['0.00', '3.09', '3.10', '5.00', '6.50', '7.00', '7.01', '118.00'];
    const many = Array.from({ length: 300 }, (_, index) =>
      issuedInvoice(
        invoice({
          sequence: 20_000 + index,
          env: 'eCF',
          ecf_type: random.pick(['31', '33', '34']),
          state: random.pick(['accepted', 'rejected-reusable', 'processing']),
          buyer_rnc: random.pick([BUYER, FOREIGN_ISSUER, null]),
          buyer_name: random.pick(['Ferretería Ñáñez, SRL', 'FERRETERÍA del 100%', 'Almacén', null]),
          reference: random.pick(['order 1', 'order=2', null]),
          modified_encf: random.pick([encf('31', 7), null]),
          total_amount: random.pick(amounts),
          created_at: new Date(Date.UTC(2025, 0, 1 + random.between(0, 39), 12)).toISOString(),
          date_issued: `2025-0${random.between(1, 9)}-01`,
        }),
      ),
    );
    const of2025 = { ...YEAR, 'start-date': '01-01-2025', 'end-date': '31-12-2025', env: 'eCF' };
    const sorts = {
      created_at: (one: IssuedInvoice, other: IssuedInvoice) =>
        one.createdAt.getTime() - other.createdAt.getTime() || one.id - other.id,
      total_amount: (one: IssuedInvoice, other: IssuedInvoice) =>
        Number(one.totalAmount) - Number(other.totalAmount) || one.id - other.id,
    };
    const reports = new Map(
      many.flatMap(({ encf: number }) => {
        const delivery_status = random.pick([
          'delivered',
          'failed',
          'refused',
          'pending',
          'not_required',
          null,
        ] as const);
        return delivery_status === null ? [] : [[number, delivery_status] as const];
      }),
    );
    /** The state of the delivery that the answer shows. */
    const deliveryOf = ({ encf: number, buyerRnc, status }: IssuedInvoice) =>
      reports.get(number) ?? (buyerRnc === null || status === 'Rechazado' ? 'not_required' : 'pending');
    beforeAll(async () => {
      await createPostgresProjection(world.database).keepInvoices(many);
      await createPostgresOutcomes(world.database).keepDeliveries(
        [...reports].map(([number, delivery_status]) => ({
          ...{ env: 'eCF', issuer_rnc: ISSUER, encf: number, buyer_rnc: BUYER, revision: 1, delivery_status },
        })),
      );
    });

    it.each([
      ['', () => true],
      ['status=aceptado', ({ status }: IssuedInvoice) => status === 'Aceptado'],
      ['ecf_type=34&status=EnProceso', (one: IssuedInvoice) => one.ecfType === '34' && one.status === 'EnProceso'],
      [`buyer_rnc=${BUYER}`, ({ buyerRnc }: IssuedInvoice) => buyerRnc === BUYER],
      ['reference=order%201', ({ reference }: IssuedInvoice) => reference === 'order 1'],
      [
        'reference=order%3D2&status=Aceptado',
        (one: IssuedInvoice) => one.reference === 'order=2' && one.status === 'Aceptado',
      ],
      [
        'buyer_name=ferreteria',
        ({ buyerName }: IssuedInvoice) => buyerName?.startsWith('Ferr') || /^FERR/.test(buyerName ?? ''),
      ],
      ['buyer_name=%C3%91%C3%81%C3%91', ({ buyerName }: IssuedInvoice) => buyerName?.startsWith('Ferr') ?? false],
      [
        'buyer_name=nan%CC%83ez&status=Aceptado',
        (one: IssuedInvoice) => (one.buyerName?.startsWith('Ferr') ?? false) && one.status === 'Aceptado',
      ],
      ['buyer_name=100%25', ({ buyerName }: IssuedInvoice) => buyerName?.endsWith('100%') ?? false],
      ['buyer_name=_', () => false],
      ['delivery_status=failed,refused', (one: IssuedInvoice) => ['failed', 'refused'].includes(deliveryOf(one))],
      ['delivery_status=delivered&period=issued', (one: IssuedInvoice) => deliveryOf(one) === 'delivered'],
      ['delivery_status=pending,failed', (one: IssuedInvoice) => ['pending', 'failed'].includes(deliveryOf(one))],
      ['delivery_status=not_required', (one: IssuedInvoice) => deliveryOf(one) === 'not_required'],
      [`modified_encf=${encf('31', 7)}`, ({ modifiedEncf }: IssuedInvoice) => modifiedEncf !== null],
      ['period=issued', () => true],
      ['period=issued&status=aceptado', ({ status }: IssuedInvoice) => status === 'Aceptado'],
      ['min_amount=3.1&max_amount=7', ({ totalAmount: sum }: IssuedInvoice) => Number(sum) >= 3.1 && Number(sum) <= 7],
      ['max_amount=5.00&ecf_type=31', (one: IssuedInvoice) => Number(one.totalAmount) <= 5 && one.ecfType === '31'],
    ])('returns the pages of "%s" in every order without gap or repeat', async (criteria, matches) => {
      for (const sort of LISTING_SORTS) {
        const ascending = [...many].filter(matches).sort(sorts[columnOf(sort)]);
        const expected = (sort.startsWith('-') ? ascending.reverse() : ascending).map(({ id }) => id);
        const found: number[] = [];
        for (let cursor: string | null = ''; cursor !== null; ) {
          const { body }: { body: InvoiceList } = await world.get(
            `/invoices?${criteria}&sort=${sort}&limit=41${cursor && `&cursor=${cursor}`}`,
            of2025,
          );
          expect([body.total, body.count]).toEqual([expected.length, body.invoices.length]);
          found.push(...body.invoices.map(({ id }) => id));
          cursor = body.next_cursor;
        }
        expect(found).toEqual(expected);
      }
    });

    it('names the place where the next page begins, also at an offset', async () => {
      const page = async (query: string) => (await world.get(`/invoices?${query}`, of2025)).body;
      const first = await page('limit=10&offset=20');
      expect(await page(`limit=10&cursor=${first.next_cursor}`)).toMatchObject({
        invoices: (await page('limit=10&offset=30')).invoices,
      });
    });

    it('neither repeats nor hides a row of the next page when documents arrive meanwhile', async () => {
      const at = (sequence: number, time: string) =>
        invoiceEvent(invoice({ sequence, env: 'eCF', created_at: `2024-07-01T${time}:00-04:00` }));
      const on = { ...day('01-07-2024'), env: 'eCF' };
      await world.publish(at(29_000, '08:00'), at(29_001, '09:00'), at(29_002, '10:00'));
      const first = (await world.get('/invoices?limit=2', on)).body;
      await world.publish(at(29_003, '09:30'), at(29_004, '11:00'), at(29_005, '08:30'));
      const rest = (await world.get(`/invoices?limit=2&cursor=${first.next_cursor}`, on)).body;
      const ids = [...first.invoices, ...rest.invoices].map(({ id }) => id);
      expect([ids, rest.total, rest.next_cursor]).toEqual([[29_002, 29_001, 29_005, 29_000], 6, null]);
    });

    it('finds what changed since an instant: status, delivery and approval', async () => {
      const on = { ...day('01-08-2024'), env: 'eCF' };
      const of = (sequence: number, change: object = {}) =>
        invoiceEvent(invoice({ sequence, env: 'eCF', created_at: '2024-08-01T08:00:00-04:00', ...change }));
      const outcome = (sequence: number, topic: string, type: string, data: object) =>
        event(topic, type, `eCF:${ISSUER}:${encf('31', sequence)}`, {
          ...{ env: 'eCF', issuer_rnc: ISSUER, encf: encf('31', sequence), buyer_rnc: BUYER, revision: 1, ...data },
        });
      const delivered = (sequence: number) =>
        outcome(sequence, TOPICS.deliveries.name, 'delivery.changed', { delivery_status: 'delivered' });
      const approved = {
        direction: 'received',
        approval_status: 'approved',
        approval_datetime: '2024-08-02T09:00:00-04:00',
      };
      const instant = async () => {
        const { rows } = await world.database.query<{ at: Date }>(
          "SELECT date_trunc('milliseconds', clock_timestamp()) + interval '1 millisecond' AS at FROM pg_sleep(0.002)",
        );
        return (rows[0] as { at: Date }).at.toISOString();
      };
      const since = async (at: string, rest = '') => {
        const { status, body } = await world.get(`/invoices?sort=created_at&updated_since=${at}${rest}`, on);
        expect([status, body.total]).toEqual([200, body.count]);
        return body.invoices.map(({ id }: { id: number }) => id);
      };
      const before = await instant();
      await world.publish(...[30_000, 30_001, 30_002, 30_003].map((sequence) => of(sequence, { state: 'processing' })));
      const all = [30_000, 30_001, 30_002, 30_003];
      expect(await since(before)).toEqual(all);
      const after = await instant();
      expect(await since(after)).toEqual([]);
      const change = of(30_001, { state: 'accepted', revision: 2 });
      await world.publish(
        change,
        delivered(30_002),
        outcome(30_003, TOPICS.approvals.name, 'approval.changed', approved),
      );
      expect(await since(after)).toEqual([30_001, 30_002, 30_003]);
      expect(await since(after, '&status=Aceptado')).toEqual([30_001]);
      expect(await since(before)).toEqual(all);
      const offset = `${new Date(Date.parse(after) - 4 * 3_600_000).toISOString().slice(0, -1)}-04:00`;
      expect(await since(offset)).toEqual([30_001, 30_002, 30_003]);
      expect(await since(`${after.slice(0, -1)}+00:00`)).toEqual([30_001, 30_002, 30_003]);
      expect(await since('0001-01-01T00:00:00Z')).toEqual(all);
      expect(await since('9999-12-31T23:59:59Z')).toEqual([]);
      const pages = await world.get(`/invoices?updated_since=${after}&limit=2`, on);
      const { next_cursor: cursor } = pages.body;
      const rest = await world.get(`/invoices?updated_since=${after}&limit=2&cursor=${cursor}`, on);
      expect([pages.body.total, rest.body.total, rest.body.count]).toEqual([3, 3, 1]);
      expect((await world.get(`/invoices?updated_since=${before}&cursor=${cursor}`, on)).status).toBe(422);
      // Repeated and late events do not change the document.
      const last = await instant();
      await world.publish(change, of(30_000, { state: 'processing' }), delivered(30_002));
      expect(await since(last)).toEqual([]);
      await world.publish(delivered(30_004));
      const known = await instant();
      await world.publish(of(30_004));
      expect(await since(known)).toEqual([30_004]);
    });

    it.each([
      ['updated_since=2026-06-15', 'updated_since', 'instant'],
      ['updated_since=2026-06-15T10:00:00', 'updated_since', 'instant'],
      ['updated_since=2026-02-30T10:00:00-04:00', 'updated_since', 'instant'],
      ['status=Pagado', 'status', 'enum'],
      ['ecf_type=99', 'ecf_type', 'enum'],
      ['buyer_rnc=12', 'buyer_rnc', 'rnc'],
      [`buyer_name=${'x'.repeat(151)}`, 'buyer_name', 'buyer_name'],
      ['buyer_name=a%00', 'buyer_name', 'buyer_name'],
      ['delivery_status=failed,lost', 'delivery_status', 'enum'],
      ["message_code='", 'message_code', 'message_code'],
      ['modified_encf=31', 'modified_encf', 'modified_encf'],
      ['min_amount=-1', 'min_amount', 'amount'],
      ['max_amount=1.005', 'max_amount', 'amount'],
      ['min_amount=10&max_amount=9.99', 'max_amount', 'amount_range'],
      ['sort=buyer', 'sort', 'enum'],
      ['sort=created_at&sort=total_amount', 'sort', 'enum'],
      ['cursor=x', 'cursor', 'cursor'],
      [`cursor=${Buffer.from('["2026-01-01T00:00:00.000Z",-1,1,"x"]').toString('base64url')}`, 'cursor', 'cursor'],
      [`cursor=${Buffer.from('["1; DROP TABLE invoice",1,1,"x"]').toString('base64url')}`, 'cursor', 'cursor'],
    ])('refuses %s', async (query, name, type) => {
      const { status, body } = await world.get(`/invoices?${query}`, of2025);
      expect(status).toBe(422);
      expect(body.detail).toMatchObject([{ loc: ['query', name], type }]);
    });

    it('refuses the cursor of another listing', async () => {
      const { next_cursor: cursor } = (await world.get('/invoices?limit=1', of2025)).body;
      const of = async (query: string, headers: Record<string, string> = of2025) =>
        (await world.get(`/invoices?cursor=${cursor}${query}`, headers)).status;
      expect(await of('&limit=7')).toBe(200);
      expect(await of('&sort=created_at')).toBe(422);
      expect(await of('&sort=total_amount')).toBe(422);
      expect(await of('&status=Aceptado')).toBe(422);
      expect(await of('', { ...of2025, 'end-date': '30-12-2025' })).toBe(422);
      expect(await of('', { ...of2025, env: 'CerteCF' })).toBe(422);
      expect(await of('&offset=1')).toBe(422);
    });

    it.each([
      ['-created_at', '0000-01-01T00:00:00.000Z', 422],
      ['-created_at', '0001-01-01T00:00:00.000Z', 200],
      ['created_at', '9999-12-31T23:59:59.999Z', 200],
      ['created_at', '1.00', 422],
      ['total_amount', '999999999999999999999999999999.9999999999', 200],
      ['-total_amount', '-1', 200],
      ['total_amount', 'NaN', 422],
    ])('answers a made-up cursor of the listing by %s at %s with %i', async (sort, value, expected) => {
      const { next_cursor: cursor } = (await world.get(`/invoices?limit=1&sort=${sort}`, of2025)).body;
      const [, id, total, mark] = JSON.parse(Buffer.from(cursor, 'base64url').toString());
      for (const made of [
        [value, id, total, mark],
        [value, Number.MAX_SAFE_INTEGER, 0, mark],
      ]) {
        const text = Buffer.from(JSON.stringify(made)).toString('base64url');
        const { status } = await world.get(`/invoices?sort=${sort}&cursor=${text}`, of2025);
        expect([made, status]).toEqual([made, expected]);
      }
    });
  });

  it('finds the same rows at far offsets as at near ones', async () => {
    const projection = createPostgresProjection(world.database);
    const many = Array.from({ length: 2_600 }, (_, index) =>
      issuedInvoice(
        invoice({
          sequence: 10_000 + index,
          env: 'CerteCF',
          created_at: new Date(Date.UTC(2026, 0, 1 + (index % 37), 12, 0, index % 50)).toISOString(),
        }),
      ),
    );
    for (let at = 0; at < many.length; at += 1_000) await projection.keepInvoices(many.slice(at, at + 1_000));
    const expected = [...many]
      .sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime() || b.id - a.id)
      .map(({ id }) => id);
    for (const offset of [999, 1_000, 1_001, 1_750, 2_500, 2_599, 2_600, 9_999]) {
      const { body } = await world.get(`/invoices?limit=40&offset=${offset}`, { ...YEAR, env: 'CerteCF' });
      expect([offset, body.total]).toEqual([offset, 2_600]);
      expect(body.invoices.map(({ id }: { id: number }) => id)).toEqual(expected.slice(offset, offset + 40));
    }
  });

  it('accepts periods without an end', async () => {
    const forever = { ...YEAR, 'start-date': '01-01-1000', 'end-date': '31-12-9999' };
    expect((await world.get('/invoices/', forever)).body).toMatchObject({ count: 5, total: 5 });
    expect((await world.get('/invoices/?offset=1500', forever)).body).toMatchObject({ count: 0, total: 5 });
    expect((await world.get('/invoices/aggregate', forever)).body).toMatchObject({ total_invoices: 5 });
    const before = { ...YEAR, 'start-date': '01-01-1000', 'end-date': '31-12-1500' };
    expect((await world.get('/invoices/', before)).body).toMatchObject({ count: 0, total: 0 });
  });

  it.each([
    [{ 'rnc-issuing': '' }, ['header', 'rnc-issuing'], 'missing'],
    [{ 'start-date': '' }, ['header', 'start-date'], 'missing'],
    [{ 'end-date': '' }, ['header', 'end-date'], 'missing'],
    [{ 'rnc-issuing': '12345' }, ['header', 'rnc-issuing'], 'rnc'],
    [{ 'rnc-issuing': "1' OR '1'='1" }, ['header', 'rnc-issuing'], 'rnc'],
    [{ 'rnc-issuing': `${ISSUER}, ${ISSUER}` }, ['header', 'rnc-issuing'], 'rnc'],
    [{ 'start-date': '2026-01-01' }, ['header', 'start-date'], 'date'],
    [{ 'start-date': '1-1-2026' }, ['header', 'start-date'], 'date'],
    [{ 'end-date': '31-02-2026' }, ['header', 'end-date'], 'date'],
    [{ 'end-date': '29-02-2026' }, ['header', 'end-date'], 'date'],
    [{ 'end-date': '31-12-2025' }, ['header', 'end-date'], 'date_range'],
  ])('answers 422 for the headers %j', async (change, loc, type) => {
    for (const path of ['/invoices/', '/invoices/count/', '/invoices/aggregate/']) {
      const { status, body } = await world.get(path, { ...YEAR, ...change });
      expect([status, body.code]).toEqual([422, 'validation_error']);
      expect(body.detail).toEqual([{ loc, msg: expect.any(String), type }]);
      expect(body.request_id).toEqual(expect.any(String));
    }
  });

  it.each(['limit=0', 'limit=1001', 'limit=-1', 'limit=x', 'limit=1.5', 'limit=1&limit=2', 'offset=-1', 'offset=1e3'])(
    'answers 422 for %s',
    async (query) => {
      const { status, body } = await world.get(`/invoices/?${query}`, YEAR);
      expect([status, body.detail[0].loc[0]]).toEqual([422, 'query']);
    },
  );

  it('names several errors in one answer', async () => {
    const { body } = await world.get('/invoices/?limit=0');
    expect(body.detail.map(({ loc }: { loc: string[] }) => loc[1]).sort()).toEqual([
      'end-date',
      'limit',
      'rnc-issuing',
      'start-date',
    ]);
  });

  it('answers 404 for an RNC of another account and for an unknown one', async () => {
    for (const rnc of [OTHER_ISSUER, FOREIGN_ISSUER])
      for (const path of [
        '/invoices/',
        '/invoices/count/',
        '/invoices/aggregate/',
        `/invoices/${encf('31', 1)}`,
        `/trackids/${encf('31', 1)}`,
      ])
        expect(await world.get(path, { ...YEAR, 'rnc-issuing': rnc })).toMatchObject({
          status: 404,
          body: { code: 'taxpayer_not_found' },
        });
  });
});

describe('GET /invoices/count/ and /invoices/aggregate/', () => {
  it('count all documents that match', async () => {
    const { status, body } = await world.get('/invoices/count/', YEAR);
    expect(status).toBe(200);
    expect(body).toEqual({
      total_invoices: 5,
      issuer_rnc: ISSUER,
      start_date: '01-01-2026',
      end_date: '31-12-2026',
      env: 'TesteCF',
    });
    expect(invoiceCountSchema.strict().parse(body)).toEqual(body);
    expect((await world.get('/invoices/count', day('01-07-2026'))).body.total_invoices).toBe(2);
    expect((await world.get('/invoices/count', day('01-01-2026'))).body.total_invoices).toBe(0);
  });

  it('sum accepted documents, with credit notes as negative amounts', async () => {
    const { body } = await world.get('/invoices/aggregate/', YEAR);
    expect(invoiceAggregateSchema.strict().parse(body)).toEqual(body);
    expect(body).toEqual({
      issuer_rnc: ISSUER,
      start_date: '01-01-2026',
      end_date: '31-12-2026',
      env: 'TesteCF',
      total_invoices: 5,
      counted: 4,
      total_amount: '207.50',
      total_itbis: '31.65',
      by_month: [
        { month: '2026-06', count: 2, total_amount: '218.50', total_itbis: '33.33' },
        { month: '2026-07', count: 2, total_amount: '-11.00', total_itbis: '-1.68' },
      ],
      by_type: [
        { ecf_type: '31', count: 2, total_amount: '218.50', total_itbis: '33.33' },
        { ecf_type: '32', count: 1, total_amount: '7.00', total_itbis: '1.07' },
        { ecf_type: '34', count: 1, total_amount: '-18.00', total_itbis: '-2.75' },
      ],
      by_status: [
        { status: 'Aceptado', count: 3, total_amount: '225.50' },
        { status: 'AceptadoCondicional', count: 1, total_amount: '-18.00' },
        { status: 'Rechazado', count: 1, total_amount: '118.00' },
      ],
      top_clients: [
        { buyer_rnc: BUYER, buyer_name: 'Comprador de prueba', count: 3, total_amount: '200.50' },
        { buyer_rnc: null, buyer_name: null, count: 1, total_amount: '7.00' },
      ],
      by_day: [
        { day: '2026-06-09', status: 'Aceptado', count: 1 },
        { day: '2026-06-10', status: 'Aceptado', count: 1 },
        { day: '2026-07-01', status: 'AceptadoCondicional', count: 1 },
        { day: '2026-07-01', status: 'Rechazado', count: 1 },
        { day: '2026-07-02', status: 'Aceptado', count: 1 },
      ],
      by_hour: null,
      by_code: [],
    });
  });

  it('count the documents of one day by the Dominican hour of their creation', async () => {
    const hours = async (path: string, date: string) => (await world.get(path, day(date))).body.by_hour;
    expect(await hours('/invoices/aggregate', '09-06-2026')).toEqual([{ hour: 23, count: 1 }]);
    expect(await hours('/invoices/aggregate', '01-07-2026')).toEqual([{ hour: 8, count: 2 }]);
    expect(await hours('/invoices/aggregate?period=issued', '15-06-2026')).toEqual([
      { hour: 0, count: 1 },
      { hour: 8, count: 3 },
    ]);
  });

  it("count rejected documents by the authority's code, and list those with one code", async () => {
    const on = { ...day('01-09-2024'), env: 'eCF' };
    const again = { sequence: 40_002, env: 'eCF', created_at: '2024-09-01T08:00:02-04:00' } as const;
    const said = (sequence: number, codes: string[], state: 'rejected-used' | 'conditional' = 'rejected-used') => {
      const messages = codes.map((codigo) => ({ codigo, valor: `Dice ${codigo} en ${sequence}` }));
      return invoiceEvent(
        invoice({ sequence, env: 'eCF', state, messages, created_at: `2024-09-01T08:00:0${sequence % 10}-04:00` }),
      );
    };
    await world.publish(
      said(40_001, ['1209', '1209', '2096']),
      said(40_002, ['2096']),
      said(40_003, ['2096', '33']),
      said(40_004, ['1209'], 'conditional'),
      said(40_005, []),
    );
    expect((await world.get('/invoices/aggregate', on)).body.by_code).toEqual([
      { code: '2096', count: 3, message: expect.stringMatching(/^Dice 2096 en 4000\d$/) },
      { code: '1209', count: 1, message: 'Dice 1209 en 40001' },
      { code: '33', count: 1, message: 'Dice 33 en 40003' },
    ]);
    await world.publish(invoiceEvent(invoice({ ...again, revision: 2, state: 'accepted', messages: [] })));
    expect((await world.get('/invoices/aggregate', on)).body.by_code).toMatchObject([
      { code: '2096', count: 2 },
      { code: '1209', count: 1 },
      { code: '33', count: 1 },
    ]);
    const list = (await world.get('/invoices?message_code=1209', on)).body;
    expect([list.total, list.invoices.map(({ id }: { id: number }) => id)]).toEqual([1, [40_001]]);
    expect((await world.get('/invoices?message_code=9', on)).body.total).toBe(0);
  });

  it('answer zeros for an empty period', async () => {
    const { status, body } = await world.get('/invoices/aggregate', day('01-01-2026'));
    expect(status).toBe(200);
    expect(body).toMatchObject({
      total_invoices: 0,
      counted: 0,
      total_amount: '0.00',
      total_itbis: '0.00',
      by_month: [],
      by_type: [],
      by_status: [],
      top_clients: [],
      by_day: [],
      by_hour: [],
      by_code: [],
    });
  });

  it('accept a top_clients_limit from 1 to 50', async () => {
    expect((await world.get('/invoices/aggregate?top_clients_limit=1', YEAR)).body.top_clients).toHaveLength(1);
    for (const limit of ['0', '51', 'x'])
      expect((await world.get(`/invoices/aggregate?top_clients_limit=${limit}`, YEAR)).status).toBe(422);
  });
});

describe('GET /invoices/{encf} and /trackids/{encf}', () => {
  const mine = { 'rnc-issuing': ISSUER };

  it('return one invoice, whether the eNCF is in upper or lower case', async () => {
    for (const number of [encf('31', 2), encf('31', 2).toLowerCase()]) {
      const { status, body } = await world.get(`/invoices/${number}/`, mine);
      expect([status, body.encf, body.status]).toEqual([200, encf('31', 2), 'Aceptado']);
      expect(invoiceSchema.strict().parse(body)).toEqual(body);
    }
    expect((await world.get(`/invoices/${encf('31', 1)}`, { ...mine, env: 'eCF' })).body.env).toBe('eCF');
  });

  it('answer 404 for unknown numbers and for numbers without any submission', async () => {
    for (const number of [encf('31', 999)])
      for (const path of [`/invoices/${number}`, `/trackids/${number}`, `/trackids/${number}/raw`])
        expect(await world.get(path, mine)).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });

  it('answer 422 for a malformed eNCF and for a missing header', async () => {
    for (const number of ['E31', 'F310000000001', 'E3100000000011', "E31000000000'", 'count%20'])
      expect(await world.get(`/invoices/${number}`, mine)).toMatchObject({
        status: 422,
        body: { detail: [{ loc: ['path', 'encf'] }] },
      });
    expect(await world.get(`/invoices/${encf('31', 2)}`)).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['header', 'rnc-issuing'], type: 'missing' }] },
    });
  });

  it('list every attempt of a number, oldest first, with the authority’s answer', async () => {
    const attempt = (number: number, state: string, track: string) => ({
      ...invoice({ state }).attempts[0],
      attempt: number,
      track_id: track,
    });
    const attempts = [attempt(1, 'rejected-reusable', 'first'), attempt(2, 'accepted', 'second')];
    await world.publish(
      invoiceEvent(invoice({ sequence: 7, created_at: '2025-02-01T00:00:00-04:00', attempts: attempts as never })),
    );
    const { status, body } = await world.get(`/trackids/${encf('31', 7)}`, mine);
    expect(status).toBe(200);
    expect(trackIdListSchema.strict().parse(body)).toEqual(body);
    expect(body).toMatchObject({
      encf: encf('31', 7),
      issuer_rnc: ISSUER,
      env: 'TesteCF',
      count: 2,
      track_ids: [
        { attempt: 1, track_id: 'first', status: 'Rechazado', final: true },
        { attempt: 2, track_id: 'second', status: 'Aceptado', sequence_used: true, final: true },
      ],
    });

    const raw = (operation: string, text: string) => ({
      operation,
      at: '2026-06-15T10:00:01-04:00',
      outcome: 'verdict',
      http_status: 200,
      content_type: 'application/json',
      body: text,
    });
    world.owners.rawAnswers = [
      { attempt: 1, ...raw('submitDocument', '{"trackId":"first"}') },
      { attempt: 2, ...raw('submitDocument', '{"trackId":"second"}') },
      { attempt: 2, ...raw('queryResult', '{"estado":"Aceptado"}') },
    ];
    const answers = (await world.get(`/trackids/${encf('31', 7)}/raw`, mine)).body;
    expect(answers).toEqual({
      ...body,
      track_ids: [
        { ...body.track_ids[0], raw: [raw('submitDocument', '{"trackId":"first"}')] },
        {
          ...body.track_ids[1],
          raw: [raw('submitDocument', '{"trackId":"second"}'), raw('queryResult', '{"estado":"Aceptado"}')],
        },
      ],
    });
    world.owners.away = true;
    expect(await world.get(`/trackids/${encf('31', 7)}/raw`, mine)).toMatchObject({
      status: 503,
      body: { code: 'service_unavailable' },
    });
    world.owners.away = false;
  });

  it('list, count and explain a note that was withdrawn', async () => {
    const number = encf('34', 8);
    const period = { ...mine, 'start-date': '03-02-2025', 'end-date': '03-02-2025' };
    const change = {
      sequence: 8,
      ecf_type: '34' as const,
      created_at: '2025-02-03T00:00:00-04:00',
      track_id: null,
      attempts: [],
      code: null,
    };
    await world.publish(invoiceEvent(invoice({ ...change, state: 'held' })));
    expect((await world.get('/invoices/count', period)).body.total_invoices).toBe(1);
    const messages = [{ codigo: '', valor: `${encf('31', 8)} was not accepted` }];
    await world.publish(invoiceEvent(invoice({ ...change, revision: 2, state: 'withdrawn', messages })));
    const shown = { encf: number, status: 'Rechazado', code: null, sequence_used: false, messages };
    expect(await world.get(`/invoices/${number}`, mine)).toMatchObject({ status: 200, body: shown });
    expect((await world.get('/invoices/', period)).body).toMatchObject({ count: 1, total: 1, invoices: [shown] });
    expect((await world.get('/invoices/count', period)).body.total_invoices).toBe(1);
    expect((await world.get('/invoices/aggregate', period)).body).toMatchObject({
      total_invoices: 1,
      by_status: [{ status: 'Rechazado', count: 1 }],
    });
    expect((await world.get(`/trackids/${number}`, mine)).body).toMatchObject({ count: 0, track_ids: [] });
  });

  it('show delivery and approval once their events arrive, before or after the document', async () => {
    const number = encf('31', 9);
    const key = `TesteCF:${ISSUER}:${number}`;
    const document = { env: 'TesteCF', issuer_rnc: ISSUER, encf: number, buyer_rnc: BUYER };
    const delivery = (revision: number, delivery_status: string) =>
      event(TOPICS.deliveries.name, 'delivery.changed', key, { ...document, revision, delivery_status });
    await world.publish(delivery(2, 'delivered'), delivery(1, 'pending'));
    await world.publish(invoiceEvent(invoice({ sequence: 9, created_at: '2025-02-01T00:00:00-04:00' })));
    expect((await world.get(`/invoices/${number}`, mine)).body).toMatchObject({
      delivery_status: 'delivered',
      approval_status: 'pending',
    });
    const decision = {
      ...document,
      revision: 1,
      approval_status: 'rejected',
      approval_confirmed: false,
      approval_datetime: '2026-06-16T09:00:00-04:00',
    };
    await world.publish(event(TOPICS.approvals.name, 'approval.changed', key, { direction: 'received', ...decision }));
    // A decision that the account gave on a received document with the same number does not count.
    await world.publish(
      event(TOPICS.approvals.name, 'approval.changed', key, {
        direction: 'given',
        ...decision,
        revision: 2,
        approval_status: 'approved',
      }),
    );
    expect((await world.get(`/invoices/${number}`, mine)).body).toMatchObject({
      approval_status: 'rejected',
      approval_confirmed: false,
    });
    // The answer of a known signer replaces that of a stranger.
    const confirmed = { direction: 'received', ...decision, revision: 2, approval_confirmed: true };
    await world.publish(event(TOPICS.approvals.name, 'approval.changed', key, confirmed));
    const { body } = await world.get('/invoices/', { ...mine, 'start-date': '01-02-2025', 'end-date': '01-02-2025' });
    expect(body.invoices[0]).toMatchObject({ encf: number, delivery_status: 'delivered', approval_confirmed: true });
  });
});

describe('access of an account', () => {
  it('is refused without an identity', async () => {
    for (const path of [
      '/invoices/',
      `/invoices/${encf('31', 1)}`,
      `/${encf('31', 1)}/xml`,
      '/directory/taxpayers',
      '/monitoring/status',
    ])
      expect((await fetch(`${world.url}${path}`, { headers: YEAR })).status).toBe(401);
    for (const path of ['/internal/rebuild', '/internal/rebuild/state']) {
      const response = await fetch(`${world.url}${path}`, {
        method: 'POST',
        body: '{}',
        headers: { 'content-type': 'application/json' },
      });
      expect(response.status).toBe(401);
    }
  });

  it('includes a taxpayer that the gateway has just registered', async () => {
    const fresh = taxpayer({ rnc: FOREIGN_ISSUER, account_id: 'account-3' });
    world.gateway.set('account-3', [fresh]);
    const headers = { ...YEAR, 'rnc-issuing': FOREIGN_ISSUER };
    const account = { account_id: 'account-3', taxpayers_revision: fresh.revision };
    expect((await world.get('/invoices/count', headers, account)).body).toMatchObject({ total_invoices: 0 });
    expect((await world.get('/invoices/count', headers, { account_id: ACCOUNT })).status).toBe(404);
    world.gateway.get = () => {
      throw new Error('the gateway is unreachable');
    };
    expect((await world.get('/invoices/count', headers, account)).status).toBe(200);
    const newer = { account_id: ACCOUNT, taxpayers_revision: 1_000_000 };
    for (const place of ['/invoices/count', `/${encf('31', 999)}/xml`])
      expect((await world.get(place, headers, newer)).body.code).toBe('service_unavailable');
    world.gateway.get = Map.prototype.get;
  });
});

it('The metric of the documents of today counts those of all issuers and of the present Dominican day only.', async () => {
  const today = toIsoDominican(new Date());
  await world.publish(
    invoiceEvent(invoice({ sequence: 9_001, created_at: today })),
    invoiceEvent(invoice({ sequence: 9_002, created_at: today, issuer_rnc: OTHER_ISSUER })),
  );
  const metrics = await world.metrics.render();
  expect(metrics.split('\n').filter((line) => line.startsWith('ecf_documents_today'))).toEqual([
    'ecf_documents_today{env="TesteCF",status="Aceptado"} 2',
  ]);
});
