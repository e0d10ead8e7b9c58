import { randomUUID } from 'node:crypto';
import { makeEvent } from '@ecf/bus/events';
import { type AuditAct, type AuditEntry, type ReportedAct, type ServiceName, TOPICS } from '@ecf/contracts';
import { createServiceKeys } from '@ecf/http/identity';
import { ApiError, createAuditCheck } from '@ecf/kit';
import { type Database, openDatabase } from '@ecf/postgres';
import { silentLogger } from '@ecf/test-support/services';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { createKeyUses } from '../src/access/key-uses.postgres.js';
import { createActProofs } from '../src/audit/act-proofs.js';
import { appendAudit } from '../src/audit/audit-log.postgres.js';
import { createSignInFailures } from '../src/audit/sign-in-failures.http.js';
import { type GatewayUnderTest, makeAccount, startGateway } from './gateway-under-test.js';

let under: GatewayUnderTest;
beforeAll(async () => {
  under = await startGateway();
});
afterAll(() => under.stop());

const page = async (query = ''): Promise<{ entries: AuditEntry[]; next: number | null }> =>
  (await under.admin('GET', `/admin/audit${query}`)).body;
const whole = (entries: readonly AuditEntry[]) => {
  const check = createAuditCheck();
  return entries.map((entry) => check.next(entry)).filter((fault) => fault !== null);
};

type Told = readonly [source: ServiceName, act: Pick<ReportedAct, 'action' | 'actor' | 'proof'>];

/** What the gateway adds to a request of an administrator to another service. */
const proven = (by: Pick<AuditAct, 'actor' | 'request_id'>) => ({
  ...by,
  proof: createActProofs(createServiceKeys('gateway', under.config)).prove(by),
});

/** Delivers the event of an act about `/told`. */
function tell([source, named]: Told): Promise<void> {
  const act = { at: '2026-06-23T17:45:47-04:00', request_id: null, ...named, target: '/told', details: {} };
  const draft = { topic: TOPICS.audit.name, type: 'act.recorded', source, subject: act.target, key: source, data: act };
  return under.tell(makeEvent(draft, { id: randomUUID(), time: new Date(act.at) }));
}

describe('the audit log', () => {
  it('has every act of the administration, by actor, action, target and request', async () => {
    const { id, key, keyId } = await makeAccount(under, '131000601');
    const account = `/accounts/${id}`;
    await under.admin('PATCH', `/admin${account}`, { active: true });
    await under.admin('PATCH', `/admin${account}/taxpayers/131000601`, { active: false });
    const range = { env: 'TesteCF', ecf_type: '31', from: 'E310000000001', to: 'E310000000009', expires: null };
    await under.admin('PUT', `/admin${account}/taxpayers/131000601/ranges`, [range]);
    await under.admin('PATCH', `/admin${account}/api-keys/${keyId}`, { refuse_warnings: true });
    const rotated = await under.admin('POST', `/admin${account}/api-keys/${keyId}/rotate`, { overlap_hours: 1 });
    await under.admin('DELETE', `/admin${account}/api-keys/${keyId}`);
    await under.admin('DELETE', `/admin${account}/api-keys/${keyId}`);
    const ana = await under.admin('POST', '/admin/administrators', { name: 'Ana', role: 'operator' });
    const asAna = {
      authorization: `Bearer ${ana.body.token}`,
      'content-type': 'application/json',
      'x-request-id': 'r-1',
    };
    await under.call('PATCH', `/admin${account}`, { headers: asAna, body: '{"active":true}' });
    await under.call('POST', '/admin/administrators', { headers: asAna, body: '{"name":"x","role":"owner"}' });
    await under.admin('DELETE', `/admin/administrators/${ana.body.id}`);

    const { entries } = await page(`?target=${account}`);
    expect(entries.map(({ action, target, actor }) => [action, target, actor])).toEqual([
      ['account.create', account, 'ADMIN_TOKEN'],
      ['taxpayer.create', `${account}/taxpayers/131000601`, 'ADMIN_TOKEN'],
      ['api_key.create', `${account}/api-keys/${keyId}`, 'ADMIN_TOKEN'],
      ['account.update', account, 'ADMIN_TOKEN'],
      ['taxpayer.update', `${account}/taxpayers/131000601`, 'ADMIN_TOKEN'],
      ['ranges.put', `${account}/taxpayers/131000601/ranges`, 'ADMIN_TOKEN'],
      ['api_key.update', `${account}/api-keys/${keyId}`, 'ADMIN_TOKEN'],
      ['api_key.rotate', `${account}/api-keys/${keyId}`, 'ADMIN_TOKEN'],
      ['api_key.delete', `${account}/api-keys/${keyId}`, 'ADMIN_TOKEN'],
      ['account.update', account, 'Ana'],
    ]);
    expect(entries.at(-1)).toMatchObject({ details: { active: true }, request_id: 'r-1' });
    expect(entries.find(({ action }) => action === 'api_key.rotate')?.details.new_key_id).toBe(rotated.body.id);
    expect((await page('?actor=Ana')).entries).toHaveLength(1);
    expect((await page('?action=administrator.create')).entries).toMatchObject([{ details: { role: 'operator' } }]);
    expect((await page('?action=administrator.delete')).entries).toMatchObject([{ details: { name: 'Ana' } }]);
    const text = JSON.stringify((await page()).entries);
    for (const secret of [key, rotated.body.key, ana.body.token]) expect(text).not.toContain(secret);
  });

  it('names each key once a day, and counts failed sign-ins for each actor', async () => {
    const { id, key, keyId } = await makeAccount(under, '131000602');
    for (const _ of [1, 2, 3]) await under.call('GET', '/obtain_token', { key });
    const target = `/accounts/${id}/api-keys/${keyId}`;
    const used = (await page(`?target=${target}&action=api_key.use`)).entries;
    expect(used).toMatchObject([{ actor: `api_key:${keyId}`, target, details: { name: 'tests' }, request_id: null }]);
    await under.admin('DELETE', `/admin${target}`);
    for (const _ of [1, 2, 3]) await under.call('GET', '/obtain_token', { key });
    await under.call('GET', '/obtain_token', { key: `ecf_test_${'A'.repeat(43)}` });
    await under.call('GET', '/admin/accounts', { headers: { authorization: 'Bearer nope' } });
    const { entries } = await page('?action=sign_in.fail');
    expect(entries.map(({ actor, target: at, details }) => [actor, at, details])).toEqual(
      expect.arrayContaining([
        [`api_key:${keyId}`, target, { what: 'api_key', reason: 'ended', count: 3 }],
        ['sender:127.0.0.1', '/accounts', { what: 'api_key', reason: 'unknown', count: 1 }],
        ['sender:127.0.0.1', '/administrators', { what: 'administrator', reason: 'unknown', count: 1 }],
      ]),
    );
    expect((await page(`?action=api_key.use&target=${target}`)).entries).toHaveLength(1);
  });

  it('remembers the last use of 10,000 keys, and stores a use of the key that it dropped once more', async () => {
    const { id, keyId: first } = await makeAccount(under, '131000603');
    const { keyId: last } = await makeAccount(under, '131000604');
    const database = openDatabase(under.config.DATABASE_URL, { max: 2 });
    try {
      const uses = createKeyUses({ database, logger: silentLogger });
      const use = (keyId: string, time: string) => uses.used(keyId, new Date(`2026-06-23T21:45:${time}Z`));
      use(first, '00');
      for (let n = 1; n < 10_000; n += 1) use(`unknown-${n}`, '00');
      await uses.flush();
      use(last, '00');
      await uses.flush();
      use(last, '01');
      use(first, '01');
      await uses.flush();
      const sql = 'SELECT id, last_used_at FROM api_keys WHERE id = ANY($1)';
      const { rows } = await database.query<{ id: string; last_used_at: Date }>(sql, [[first, last]]);
      expect(new Map(rows.map((row) => [row.id, row.last_used_at.toISOString()]))).toEqual(
        new Map([
          [first, '2026-06-23T21:45:01.000Z'],
          [last, '2026-06-23T21:45:00.000Z'],
        ]),
      );
      // The use of the day is in the audit log once.
      const target = `/accounts/${id}/api-keys/${first}`;
      expect((await page(`?target=${target}&action=api_key.use`)).entries).toHaveLength(1);
    } finally {
      await database.close();
    }
  });

  it('stores the uses of a key after a wrong clock noted one in the future', async () => {
    const { id, keyId } = await makeAccount(under, '131000605');
    const database = openDatabase(under.config.DATABASE_URL, { max: 2 });
    try {
      const uses = createKeyUses({ database, logger: silentLogger });
      for (const time of ['2026-09-23T21:45:00Z', '2026-06-23T21:45:00Z']) {
        uses.used(keyId, new Date(time));
        await uses.flush();
      }
      const sql = 'SELECT last_used_at FROM api_keys WHERE id = $1';
      const { rows } = await database.query<{ last_used_at: Date }>(sql, [keyId]);
      expect(rows[0]?.last_used_at).toEqual(new Date('2026-06-23T21:45:00Z'));
      const { entries } = await page(`?target=/accounts/${id}/api-keys/${keyId}&action=api_key.use`);
      expect(entries.map(({ details }) => details.day).sort()).toEqual(['2026-06-23', '2026-09-23']);
    } finally {
      await database.close();
    }
  });

  it('stores the uses of 1,000 different keys without waiting for the end of the second', async () => {
    const stored: number[] = [];
    const transaction = async (work: (tx: unknown) => Promise<unknown>) => {
      const query = async (sql: string, [ids]: [string[]]) => {
        if (sql.startsWith('UPDATE')) stored.push(ids.length);
        return { rows: [] };
      };
      await work({ query });
    };
    const uses = createKeyUses({ database: { transaction } as unknown as Database, logger: silentLogger });
    for (let n = 0; n < 1_000; n += 1) uses.used(`key-${n}`, new Date('2026-06-23T21:45:00Z'));
    await new Promise((resolve) => setImmediate(resolve));
    expect(stored).toEqual([1_000]);
  });

  it('collects the uses of 10,000 keys while the database does not answer, and stores a later use of the others', async () => {
    const stored = new Set<string>();
    let answer = () => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const transaction = async (work: (tx: unknown) => Promise<unknown>) => {
      await answered;
      const query = async (_: string, [ids]: [string[]]) => {
        for (const id of ids) stored.add(id);
        return { rows: [] };
      };
      await work({ query });
    };
    const uses = createKeyUses({ database: { transaction } as unknown as Database, logger: silentLogger });
    const use = (keyId: string) => uses.used(keyId, new Date('2026-06-23T21:45:00Z'));
    use('first');
    const first = uses.flush();
    await new Promise((resolve) => setImmediate(resolve));
    for (let n = 0; n < 10_001; n += 1) use(`key-${n}`);
    answer();
    await first;
    await uses.flush();
    expect([stored.size, stored.has('key-9999'), stored.has('key-10000')]).toEqual([10_001, true, false]);
    use('key-10000');
    await uses.flush();
    expect(stored.has('key-10000')).toBe(true);
  });

  it('keeps the counts of failed sign-ins until they are appended', async () => {
    const appended: AuditAct[] = [];
    let away = true;
    const failures = createSignInFailures({
      audit: {
        async append(acts) {
          if (away) throw new Error('the database is unreachable');
          appended.push(...acts);
        },
      },
      logger: silentLogger,
      clock: () => new Date('2026-06-23T21:45:47Z'),
    });
    const fail = (sender: string) => failures.failed({ what: 'api_key', reason: 'unknown', sender, known: null });
    for (const sender of ['203.0.113.7', '203.0.113.7', '203.0.113.8']) fail(sender);
    await failures.flush();
    fail('203.0.113.7');
    away = false;
    await failures.flush();
    await failures.flush();
    expect(appended.map(({ actor, details }) => [actor, details.count])).toEqual([
      ['sender:203.0.113.7', 3],
      ['sender:203.0.113.8', 1],
    ]);
  });

  it('appends the counts within a minute after the clock was set back', async () => {
    jest.useFakeTimers();
    try {
      let now = Date.parse('2026-06-24T00:45:47Z');
      let appended = 0;
      const failures = createSignInFailures({
        audit: {
          async append(acts) {
            appended += acts.length;
          },
        },
        logger: silentLogger,
        clock: () => new Date(now),
      });
      const fail = () => failures.failed({ what: 'api_key', reason: 'unknown', sender: '203.0.113.7', known: null });
      fail();
      await failures.flush();
      now -= 3 * 3_600_000;
      fail();
      await jest.advanceTimersByTimeAsync(60_000);
      expect(appended).toBe(2);
    } finally {
      jest.useRealTimers();
    }
  });

  it('has the entry of a rebuild before the rebuild begins, also of one that was refused', async () => {
    const before: number[] = [];
    const entries = async () => (await rebuilding.admin('GET', '/admin/audit?action=read_models.rebuild')).body.entries;
    const startRebuild = async () => {
      before.push((await entries()).length);
      if (before.length > 1) throw new ApiError(409, 'conflict', 'A rebuild is running.');
      return { building: true } as never;
    };
    const rebuilding = await startGateway(
      {},
      {
        operations: {
          resolution: null,
          deliveries: null,
          readModels: { startRebuild } as never,
          webhooks: null,
          archive: {},
          masterKeys: {},
          state: {},
        },
      },
    );
    try {
      expect((await rebuilding.admin('POST', '/admin/rebuilds/query')).status).toBe(200);
      expect((await rebuilding.admin('POST', '/admin/rebuilds/query')).status).toBe(409);
      expect(before).toEqual([1, 2]);
      expect((await entries()).map(({ details }: AuditEntry) => details)).toEqual([
        {},
        {},
        { not_started: 'conflict' },
      ]);
    } finally {
      await rebuilding.stop();
    }
  });

  it('is one chain without gaps, also under simultaneous acts, page by page and as an export', async () => {
    await Promise.all(
      Array.from({ length: 12 }, (_, index) => under.admin('POST', '/admin/accounts', { name: `chain ${index}` })),
    );
    const entries: AuditEntry[] = [];
    for (let after: number | null = 0; after !== null; ) {
      const part = await page(`?after=${after}&limit=5`);
      entries.push(...part.entries);
      after = part.next;
    }
    expect(entries.length).toBeGreaterThan(12);
    expect(whole(entries)).toEqual([]);
    const authorization = { authorization: 'Bearer a-token-for-administrators', accept: 'application/x-ndjson' };
    const exported = await under.call('GET', '/admin/audit', { headers: authorization });
    expect(exported.headers.get('content-type')).toContain('application/x-ndjson');
    expect(
      String(exported.body)
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(entries);
  });

  it('lists the newest first with order=desc, page by page, with every filter, and as an export', async () => {
    const { body: account } = await under.admin('POST', '/admin/accounts', { name: 'first' });
    const path = `/admin/accounts/${account.id}`;
    for (const active of [false, true, false, true]) await under.admin('PATCH', path, { active });
    const about = `target=/accounts/${account.id}`;
    const forward = (await page(`?${about}`)).entries;
    const backward: AuditEntry[] = [];
    for (let query = `?order=desc&${about}&limit=2`, next: number | null = 1; next !== null; ) {
      const part = await page(query);
      backward.push(...part.entries);
      next = part.next;
      query = `?order=desc&${about}&limit=2&after=${next}`;
    }
    expect(backward.map(({ action }) => action)).toEqual([...Array(4).fill('account.update'), 'account.create']);
    expect(backward).toEqual([...forward].reverse());
    const newest = (await page('?order=desc&limit=1')).entries[0] as AuditEntry;
    expect(newest.seq).toBe(backward[0]?.seq);
    expect((await page('?order=desc&after=1')).entries).toEqual([]);
    const headers = { authorization: 'Bearer a-token-for-administrators', accept: 'application/x-ndjson' };
    const exported = await under.call('GET', `/admin/audit?order=desc&${about}`, { headers });
    const lines = String(exported.body).trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).seq)).toEqual(backward.map(({ seq }) => seq));
    expect(await under.admin('GET', '/admin/audit?order=down')).toMatchObject({ status: 422 });
  });

  it('is exported by owners alone', async () => {
    const { body } = await under.admin('POST', '/admin/administrators', { name: 'Luis', role: 'operator' });
    const headers = { authorization: `Bearer ${body.token}` };
    expect((await under.call('GET', '/admin/audit', { headers })).status).toBe(200);
    const refused = await under.call('GET', '/admin/audit', {
      headers: { ...headers, accept: 'application/x-ndjson' },
    });
    expect(refused).toMatchObject({ status: 403, body: { code: 'missing_role' } });
    for (const query of ['?limit=0', '?limit=1001', '?after=-1'])
      expect((await under.admin('GET', `/admin/audit${query}`)).status).toBe(422);
  });

  it('only grows, and shows what somebody changed in spite of that', async () => {
    const database = openDatabase(under.config.DATABASE_URL, { max: 1 });
    try {
      for (const sql of [
        `UPDATE audit_entries SET actor = 'nobody' WHERE seq = 2`,
        'DELETE FROM audit_entries WHERE seq = 2',
        'TRUNCATE audit_entries',
      ])
        await expect(database.query(sql)).rejects.toThrow('the audit log only grows');
      await database.query('ALTER TABLE audit_entries DISABLE TRIGGER audit_entries_only_grow');
      await database.query(`UPDATE audit_entries SET actor = 'nobody' WHERE seq = 2`);
      expect(whole((await page('?limit=3')).entries)[0]).toBe('entry 2 was changed');
      await database.query('DELETE FROM audit_entries WHERE seq = 2');
      expect(whole((await page('?limit=3')).entries)[0]).toBe('entry 2 is missing');
    } finally {
      await database.close();
    }
  });

  it('appends the act of another service once, however often its event arrives', async () => {
    const act = {
      at: '2026-06-23T17:45:47-04:00',
      actor: 'Ana',
      action: 'approval.settle',
      target: '/approvals/7',
      details: { outcome: 'accepted', note: 'The portal shows it.' },
      request_id: 'r-2',
    };
    const draft = {
      topic: TOPICS.audit.name,
      type: 'act.recorded',
      source: 'approvals',
      subject: '7',
      key: '7',
      data: { ...act, ...proven(act) },
    };
    const event = makeEvent(draft, { id: '3f0c8c8e-3b0c-4c55-9a52-0d6f6c1f9a11', time: new Date(act.at) });
    for (const _ of [1, 2, 3]) await under.tell(event);
    // An attacker who writes to the brokers may repeat a signed event much later, also after a restart of the gateway.
    const database = openDatabase(under.config.DATABASE_URL, { max: 1 });
    await database.query(`UPDATE inbox SET handled_at = handled_at - interval '1 year'`);
    await database.close();
    await (await startGateway({ DATABASE_URL: under.config.DATABASE_URL })).stop();
    await under.tell(event);
    expect((await page('?target=/approvals/7')).entries).toMatchObject([act]);
  });

  it('refuses an act that the publishing service does not carry out, or reports in another name', async () => {
    const used = { action: 'certificate.use', actor: 'service:reception' };
    const resolved = { action: 'document.resolve', ...proven({ actor: 'Ana', request_id: null }) };
    const refused: Told[] = [
      ['emission', used],
      ['approvals', { ...used, actor: 'ADMIN_TOKEN' }],
      ['reception', { ...used, actor: 'Ana' }],
      ['reception', resolved],
      ['approvals', resolved],
      ['status-poller', resolved],
      ['emission', { ...resolved, proof: undefined }],
      ['emission', { ...resolved, actor: 'Eva' }],
      ['emission', { ...resolved, ...proven({ actor: 'service:gateway', request_id: null }) }],
      ['emission', { ...resolved, ...proven({ actor: 'api_key:1', request_id: null }) }],
      ['emission', { ...resolved, ...proven({ actor: 'sender:192.0.2.0/24', request_id: null }) }],
      ['emission', { action: 'account.create', actor: 'ADMIN_TOKEN' }],
      ['emission', { action: 'api_key.use', actor: 'api_key:1' }],
      ['emission', { action: 'sign_in.fail', actor: 'sender:192.0.2.0/24' }],
      ['emission', { action: 'to_string.constructor', actor: 'service:emission' }],
    ];
    for (const told of refused) await expect(tell(told)).rejects.toThrow(`${told[0]} may not report`);
    expect((await page('?target=/told')).entries).toEqual([]);
    await tell(['reception', used]);
    await tell(['emission', resolved]);
    expect((await page('?target=/told')).entries).toMatchObject([used, { action: resolved.action, actor: 'Ana' }]);
  });

  it('loses its entry with the transaction of the act', async () => {
    const database = openDatabase(under.config.DATABASE_URL, { max: 1 });
    const act = {
      at: '2026-06-23T17:45:47-04:00',
      actor: 'Ana',
      action: 'account.update',
      target: '/lost',
      details: {},
      request_id: null,
    };
    try {
      const undone = database.transaction(async (tx) => {
        await appendAudit(tx, [act]);
        throw new Error('undone');
      });
      await expect(undone).rejects.toThrow('undone');
      expect((await page('?target=/lost')).entries).toEqual([]);
    } finally {
      await database.close();
    }
  });
});
