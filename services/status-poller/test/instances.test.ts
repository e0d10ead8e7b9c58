import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { invoiceChanged, verdict } from './support/samples.js';
import { decided, unanswered, until, World } from './support/world.js';

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('several instances', () => {
  let world: World;
  beforeEach(async () => {
    world = await World.create();
  });
  afterEach(() => world.stop());

  it('share the work: every submission is queried once and published once', async () => {
    world.authority.answer = async (trackId) => {
      await pause(5 + Math.random() * 20);
      return decided(verdict({ trackId }));
    };
    const concurrency = { POLL_CONCURRENCY: '4', FIRST_QUERY_MS: '500' };
    for (let i = 0; i < 3; i += 1) await world.start({}, concurrency);
    const trackIds = await Promise.all(Array.from({ length: 150 }, () => world.submitted()));
    await until(() => world.published.length >= trackIds.length, 'all were decided');
    for (const trackId of trackIds) expect([trackId, world.authority.queriesOf(trackId)]).toEqual([trackId, 1]);
    expect(world.published.map(({ track_id }) => track_id).sort()).toEqual([...trackIds].sort());
    const { rows } = await world.database.query<{ count: number }>('SELECT count(*)::int AS count FROM poll');
    expect(rows).toEqual([{ count: 0 }]);
  });

  it('keep the rate limit of an environment together', async () => {
    const minute = 60_000;
    let now = Date.now() + minute;
    const clock = () => new Date(now);
    for (let i = 0; i < 3; i += 1) await world.start({ clock }, { POLL_RATE: '40' });
    await Promise.all(Array.from({ length: 80 }, () => world.submitted({}, minute)));
    // The clock stands until the queries of a tenth of a second were made.
    for (let queries = 4; queries <= 80; queries += 4) {
      await until(() => world.published.length >= queries, `${queries} were decided`);
      expect(world.authority.queries).toHaveLength(queries);
      now += 100;
    }
  });

  it('all pause for an environment after the authority requested it from one of them', async () => {
    const busy = randomUUID();
    world.authority.script.set(busy, [unanswered({ cause: 'rate_limited', retryAfterMs: 900 }), decided(verdict())]);
    const clock = () => new Date();
    for (let i = 0; i < 3; i += 1) await world.start({ clock });
    await world.submitted({ track_id: busy });
    await until(async () => (await world.poll(busy))?.failures === 1, 'one of them got the pause');
    const trackIds = await Promise.all(Array.from({ length: 12 }, () => world.submitted()));
    await until(() => world.published.filter(({ final }) => final).length === trackIds.length + 1, 'all were decided');
    const [first, ...later] = world.authority.queries.map(({ at }) => at).sort((one, other) => one - other);
    for (const at of later) expect(at - (first ?? 0)).toBeGreaterThanOrEqual(900);
  });

  it.each(['claimed', 'queried'] as const)('take over from one that ended after it had %s', async (step) => {
    const trackId = randomUUID();
    let release: () => void = () => undefined;
    const hanging = new Promise<void>((resolve) => {
      release = resolve;
    });
    let reached = false;
    await world.start(
      {
        checkpoint: (present) => {
          if (present !== step) return;
          reached = true;
          return hanging;
        },
      },
      { POLL_LEASE_MS: '400', POLL_CONCURRENCY: '1' },
    );
    await world.submitted({ track_id: trackId });
    await until(() => reached, 'the first instance hangs');
    const before = world.authority.queriesOf(trackId);
    expect(await world.poll(trackId)).toMatchObject({ claim: expect.any(String) });
    await world.start();
    await until(() => world.changesOf(trackId).length === 1);
    expect(world.authority.queriesOf(trackId)).toBe(before + 1);
    expect(world.changesOf(trackId)).toEqual(['Aceptado']);
    expect(await world.poll(trackId)).toBeNull();
    // The recovered instance finds its claim gone and publishes nothing again.
    release();
    await pause(50);
    expect(world.changesOf(trackId)).toEqual(['Aceptado']);
  });

  it('query again a decision that emission has not consumed, when the submission is twice as old', async () => {
    const minutes = 60_000;
    await world.start({}, { COMPARE_EVERY_MS: '1000' });
    const encf = 'E310000033331';
    const trackId = await world.submitted({ encf }, 20 * minutes);
    await until(() => world.changesOf(trackId).length === 1, 'it was decided');
    world.emission.invoices.push(invoiceChanged({ encf, track_id: trackId }));
    await until(async () => (await world.poll(trackId)) !== null, 'it was compared');
    const dueInMs = new Date((await world.poll(trackId))?.due_at as string).getTime() - Date.now();
    expect(dueInMs).toBeGreaterThan(10 * minutes);
    world.emission.invoices.length = 0;
    const over = { state: 'accepted', status: 'Aceptado', code: '1', final: true } as const;
    await world.submitted({ encf, track_id: trackId, ...over, revision: 4 }, 20 * minutes);
    await until(async () => (await world.poll(trackId)) === null, 'nothing queries it any more');
    expect([world.authority.queriesOf(trackId), world.changesOf(trackId)]).toEqual([1, ['Aceptado']]);
  });

  it('do not change a poll whose claim they lost', async () => {
    const trackId = randomUUID();
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let slow = true;
    world.authority.answer = async () => {
      if (slow) {
        slow = false;
        await held;
      }
      return decided(verdict({ status: 'EnProceso', code: '3', sequenceUsed: null }));
    };
    await world.start({}, { POLL_LEASE_MS: '200', FIRST_QUERY_MS: '100' });
    await world.submitted({ track_id: trackId });
    await until(() => world.authority.queriesOf(trackId) >= 4, 'the other queries continued');
    const before = await world.poll(trackId);
    release();
    await pause(50);
    const after = await world.poll(trackId);
    expect(after?.tries as number).toBeGreaterThanOrEqual(before?.tries as number);
    await until(() => world.changesOf(trackId).length > 0);
    expect(world.changesOf(trackId)).toEqual(['EnProceso']);
  });
});
