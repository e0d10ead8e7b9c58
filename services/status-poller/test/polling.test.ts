import { randomUUID } from 'node:crypto';
import { ApiError } from '@ecf/kit';
import { openDatabase } from '@ecf/postgres';
import { deadLettersOf } from '@ecf/test-support/services';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { publishedSubmissions } from '../src/submission.js';
import { createSubmissionStore } from '../src/submissions.postgres.js';
import { invoiceChanged, verdict } from './support/samples.js';
import { decided, inProcess, unanswered, until, World } from './support/world.js';

describe('polling', () => {
  let world: World;
  beforeEach(async () => {
    world = await World.create();
  });
  afterEach(() => world.stop());

  it('queries until the authority has decided, publishes each change once, and then stops', async () => {
    await world.start();
    const trackId = randomUUID();
    const unknown = verdict({ status: 'No encontrado', code: '0', sequenceUsed: null, dateReceived: null });
    world.authority.script.set(trackId, [
      decided(unknown),
      decided(unknown),
      inProcess(),
      inProcess(),
      decided(verdict({ status: 'AceptadoCondicional', code: '4', messages: [{ codigo: '2301', valor: 'ojo' }] })),
    ]);
    await world.submitted({ track_id: trackId, encf: 'E310000099999' });
    await until(() => world.changesOf(trackId).length === 3, 'three changes were published');
    expect(world.changesOf(trackId)).toEqual(['No encontrado', 'EnProceso', 'AceptadoCondicional']);
    expect(world.published.at(-1)).toMatchObject({
      env: 'TesteCF',
      encf: 'E310000099999',
      account_id: 'account-1',
      revision: 4,
      final: true,
      code: '4',
      messages: [{ codigo: '2301', valor: 'ojo' }],
      answer: { http_status: 200, content_type: 'application/json', body: expect.stringContaining('Condicional') },
    });
    expect(await world.poll(trackId)).toBeNull();
    expect(world.authority.queriesOf(trackId)).toBe(5);
  });

  it('does not query a submission that emission has decided, and stops once emission decides it', async () => {
    await world.start({}, { FIRST_QUERY_MS: '300' });
    const done = await world.submitted({ state: 'accepted', status: 'Aceptado', code: '1', final: true });
    expect(await world.poll(done)).toBeNull();
    const encf = 'E310000088888';
    const trackId = await world.submitted({ encf });
    expect(await world.poll(trackId)).toMatchObject({ claim: null, tries: 0 });
    await world.submitted({ track_id: trackId, encf, revision: 4, state: 'accepted', status: 'Aceptado', final: true });
    expect(await world.poll(trackId)).toBeNull();
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(world.authority.queries).toEqual([]);
    expect(world.published).toEqual([]);
  });

  it('queries at its start every submission that emission awaits, including those made while it was stopped', async () => {
    const [early, decided] = [randomUUID(), randomUUID()];
    const over = { state: 'accepted', status: 'Aceptado', code: '1', final: true } as const;
    world.emission.invoices.push(
      invoiceChanged({ encf: 'E310000066661', track_id: early }),
      invoiceChanged({ encf: 'E310000066662', track_id: decided, ...over }),
    );
    const instance = await world.start();
    await until(() => world.changesOf(early).length === 1, 'the early submission was decided');
    await instance.stop();
    const later = randomUUID();
    world.emission.invoices.splice(0, 2, invoiceChanged({ encf: 'E310000066663', track_id: later }));
    await world.start();
    await until(() => world.changesOf(later).length === 1, 'the later submission was decided');
    expect(world.authority.queries.map(({ trackId }) => trackId)).toEqual([early, later]);
  });

  it('compares with emission periodically and repairs lost events in both directions', async () => {
    await world.start({}, { COMPARE_EVERY_MS: '1000' });
    const { invoices } = world.emission;
    const settled = await world.submitted({ encf: 'E310000055551' });
    await until(() => world.changesOf(settled).length === 1, 'it was decided');
    // Emission does not have the decision, and this service does not have another document.
    const lost = randomUUID();
    invoices.push(
      invoiceChanged({ encf: 'E310000055551', track_id: settled }),
      invoiceChanged({ encf: 'E310000055552', track_id: lost }),
    );
    await until(() => world.changesOf(lost).length > 0, 'the lost one was decided');
    await until(() => world.changesOf(settled).length > 1, 'the decision was published again');
    invoices.length = 0;
    const of = (trackId: string) => world.published.filter(({ track_id }) => track_id === trackId);
    expect(of(settled).map(({ status, revision }) => [status, revision])).toEqual([
      ['Aceptado', 2],
      ['Aceptado', 3],
    ]);
    expect(await world.poll(settled)).toBeNull();
  });

  it('keeps a decision that the authority no longer knows', async () => {
    const instance = await world.start({}, { COMPARE_EVERY_MS: '1000' });
    const trackId = await world.submitted({ encf: 'E310000044441' });
    await until(() => world.changesOf(trackId).length === 1, 'it was decided');
    world.authority.script.set(trackId, [decided(verdict({ status: 'No encontrado', code: '0', sequenceUsed: null }))]);
    // Emission does not have the decision, so it is queried again.
    world.emission.invoices.push(invoiceChanged({ encf: 'E310000044441', track_id: trackId }));
    await until(() => world.authority.queriesOf(trackId) > 1, 'it was queried again');
    expect((await world.status(instance, trackId)).body).toMatchObject({ status: 'Aceptado', code: '1' });
    expect(world.changesOf(trackId)).toEqual(['Aceptado']);
  });

  it('does not publish a decision again while its event may still arrive', async () => {
    const first = await world.start();
    const trackId = await world.submitted({ encf: 'E310000044442' });
    await until(() => world.changesOf(trackId).length === 1, 'it was decided');
    await first.stop();
    // An event that another instance, which holds the lock of the outbox, could not publish yet.
    const other = openDatabase(world.databaseUrl, { max: 1 });
    await other.query('SELECT pg_advisory_lock(3791, 0)');
    await world.database.query(
      "INSERT INTO outbox (event_id, topic, key, event, created_at) VALUES (gen_random_uuid(), 't', 'k', '{}', now() - interval '1 hour')",
    );
    world.emission.invoices.push(invoiceChanged({ encf: 'E310000044442', track_id: trackId }));
    let compared = 0;
    const { pageOfUndecided } = world.emission;
    const emission = {
      ...world.emission,
      pageOfUndecided(request: Parameters<typeof pageOfUndecided>[0]) {
        compared += 1;
        return pageOfUndecided(request);
      },
    };
    await world.start({ emission }, { COMPARE_EVERY_MS: '1000' });
    await until(() => compared === 3, 'it was compared');
    expect(world.changesOf(trackId)).toHaveLength(1);
    await world.database.query('DELETE FROM outbox');
    await other.close();
    await until(() => world.changesOf(trackId).length === 2, 'the decision was published again');
  });

  it('queries in the trace of the event, even if emission itself named the submission before', async () => {
    const noEvent = () => ({}) as never;
    const store = createSubmissionStore({ database: world.database, describe: noEvent, firstDue: () => new Date() });
    await world.start({}, { FIRST_QUERY_MS: '600000' });
    const invoice = invoiceChanged({ encf: 'E310000088889', track_id: randomUUID() });
    const key = { env: invoice.env, trackId: invoice.track_id as string };
    const [first, later] = ['1', '2'].map((n) => `00-${n.repeat(32)}-${n.repeat(16)}-01`);
    for (const [published, known] of [
      [null, null],
      [first, first],
      [later, first],
      [null, first],
    ]) {
      await store.apply([{ eventId: null, submissions: publishedSubmissions(invoice, new Date(), published) }]);
      expect((await store.find(key))?.traceparent).toBe(known);
    }
  });

  it('handles repeated and reordered events', async () => {
    await world.start({}, { FIRST_QUERY_MS: '600000' });
    const encf = 'E310000077777';
    const trackId = randomUUID();
    const open = invoiceChanged({ encf, track_id: trackId, revision: 3 });
    const closed = invoiceChanged({
      encf,
      track_id: trackId,
      revision: 5,
      state: 'accepted',
      status: 'Aceptado',
      final: true,
    });
    const id = randomUUID();
    await world.publish(closed, id);
    await world.publish(open);
    await world.publish(closed, id);
    expect(await world.poll(trackId)).toBeNull();
    const stored = async () =>
      (await world.database.query('SELECT xmin::text, final, facts FROM submission WHERE track_id = $1', [trackId]))
        .rows;
    const rows = await stored();
    expect(rows).toMatchObject([{ final: true, facts: { status: 'Aceptado' } }]);
    await world.publish({ ...closed, revision: 6 });
    expect(await stored()).toEqual(rows);
    expect(await deadLettersOf(world.database)).toEqual([]);
  });

  it('stops querying a trackId of an earlier attempt', async () => {
    await world.start({}, { FIRST_QUERY_MS: '600000' });
    const trackId = await world.submitted({ encf: 'E310000066666' });
    const left = invoiceChanged({ encf: 'E310000066666', track_id: trackId, revision: 4 });
    await world.publish({ ...left, track_id: null, state: 'arrived' });
    expect(await world.poll(trackId)).toBeNull();
  });

  it('replaces a token that the authority refuses, once', async () => {
    const trackId = randomUUID();
    world.authority.answer = async () =>
      world.authority.queries.length === 1 ? { outcome: 'unauthorized', raw: null } : decided(verdict());
    await world.start();
    await world.submitted({ track_id: trackId });
    await until(() => world.changesOf(trackId).length === 1);
    expect(world.authority.queries.map(({ token }) => token)).toEqual(['token-0', 'token-1']);
    expect(world.emission.refused).toEqual(['token-0']);
  });

  it('requests one token for the submissions of a taxpayer', async () => {
    world.authority.answer = async () => decided(verdict());
    await world.start();
    for (let document = 0; document < 3; document += 1) {
      const trackId = await world.submitted();
      await until(() => world.changesOf(trackId).length === 1);
    }
    expect(world.tokenRequests).toBe(1);
  });

  it('continues after a time in which emission had no token', async () => {
    world.emission.tokenError = new ApiError(503, 'service_unavailable', 'emission is down');
    const { metrics } = await world.start();
    const trackId = await world.submitted();
    await until(async () => ((await world.poll(trackId))?.failures as number) >= 2, 'two tries failed');
    expect(world.authority.queries).toEqual([]);
    world.emission.tokenError = null;
    await until(() => world.changesOf(trackId).length === 1);
    expect(await metrics.render()).toMatch(/ecf_status_queries_total\{env="TesteCF",outcome="no_token"\} [2-9]/);
  });

  it('pauses for an environment as long as the authority requests, but not for other environments', async () => {
    const busy = randomUUID();
    world.authority.script.set(busy, [unanswered({ cause: 'rate_limited', retryAfterMs: 700 }), decided(verdict())]);
    await world.start();
    await world.submitted({ track_id: busy });
    await until(() => world.authority.queriesOf(busy) === 1);
    await until(async () => (await world.poll(busy))?.failures === 1);
    const [mine, others] = [await world.submitted(), await world.submitted({ env: 'eCF' })];
    await until(() => world.changesOf(others).length === 1, 'the other environment continues');
    await until(() => world.changesOf(mine).length === 1 && world.changesOf(busy).length === 1);
    const [first, ...later] = world.authority.queries.filter(({ env }) => env === 'TesteCF');
    for (const { at } of later) expect(at - (first?.at ?? 0)).toBeGreaterThanOrEqual(695);
  });

  it('continues for other taxpayers while the authority limits one', async () => {
    const busy = randomUUID();
    const limited = unanswered({ cause: 'rate_limited', retryAfterMs: 3_600_000, limit: 'taxpayer' });
    world.authority.script.set(busy, [limited]);
    await world.start();
    await world.submitted({ track_id: busy });
    await until(async () => (await world.poll(busy))?.failures === 1);
    const others = await Promise.all([world.submitted(), world.submitted()]);
    await until(() => others.every((trackId) => world.changesOf(trackId).length === 1));
    expect(world.authority.queriesOf(busy)).toBe(1);
  });

  it('publishes that the authority does not answer, with the time of the next try, until it answers', async () => {
    const trackId = randomUUID();
    const raw = { status: 500, contentType: 'text/html', body: '<html>', truncated: false };
    world.authority.script.set(trackId, [
      unanswered(),
      unanswered({ cause: 'server_error', raw }),
      inProcess(),
      decided(verdict()),
    ]);
    await world.start();
    await world.submitted({ track_id: trackId });
    await until(() => world.changesOf(trackId).includes('Aceptado'));
    const published = world.published.filter((one) => one.track_id === trackId);
    const entry = (says: string) => [
      { codigo: 'gateway', valor: expect.stringMatching(new RegExp(`^${says}.*the next try is at 20`)) },
    ];
    expect(published.map(({ status, messages }) => [status, messages])).toEqual([
      ['EnProceso', entry('No answer of the authority has come')],
      ['EnProceso', entry('The authority gave an answer that does not decide')],
      ['EnProceso', []],
      ['Aceptado', []],
    ]);
    expect(published[0]).toMatchObject({ unanswered: true, final: false });
    expect(published[2]?.unanswered).toBeUndefined();
  });

  it('does not name a past time as the next try if a later query cannot be made', async () => {
    const trackId = randomUUID();
    const refused = { outcome: 'refused', code: 'query_refused', reason: 'no delegation', raw: null } as const;
    world.authority.script.set(trackId, [unanswered(), refused, decided(verdict())]);
    await world.start();
    await world.submitted({ track_id: trackId });
    await until(() => world.changesOf(trackId).includes('Aceptado'));
    const published = world.published.filter((one) => one.track_id === trackId);
    expect(published.map(({ status, messages }) => [status, messages.length])).toEqual([
      ['EnProceso', 1],
      ['EnProceso', 0],
      ['Aceptado', 0],
    ]);
  });

  it('does not query while the circuit breaker is open, and does not count that as a failure of the document', async () => {
    const trackId = randomUUID();
    const open = unanswered({ cause: 'circuit_open', reachedAuthority: 'no', retryAfterMs: 200 });
    world.authority.script.set(trackId, [open, open, decided(verdict())]);
    await world.start();
    await world.submitted({ track_id: trackId });
    await until(async () => (await world.poll(trackId))?.claim === null && world.authority.queriesOf(trackId) === 1);
    expect(await world.poll(trackId)).toMatchObject({ tries: 0, failures: 0 });
    await until(() => world.changesOf(trackId).length === 1);
    const [one, two] = world.authority.queries;
    expect((two?.at ?? 0) - (one?.at ?? 0)).toBeGreaterThanOrEqual(195);
  });

  it('raises one alarm after 72 hours, and continues to query', async () => {
    world.authority.answer = async () => inProcess();
    const { metrics } = await world.start();
    const trackId = await world.submitted({}, 73 * 3_600_000);
    await until(() => world.authority.queriesOf(trackId) >= 3);
    await until(async () => (await world.poll(trackId))?.alarmed === true);
    const text = await metrics.render();
    expect(text).toContain('ecf_status_alarms_total{env="TesteCF"} 1');
    expect(text).toContain('ecf_status_polls{env="TesteCF",state="overdue"} 1');
    expect(text).toMatch(/ecf_status_oldest_poll_seconds\{env="TesteCF"\} 2628\d\d/);
  });
});
