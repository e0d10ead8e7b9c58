import { until } from '@ecf/test-support/until';
import { describe, expect, it } from '@jest/globals';
import { encf } from './support/events.js';
import type { Call } from './support/receiver.js';
import { webhookWorld } from './support/webhook-world.js';

const SECOND = 1_000;
const DEAD = { status: 503 };

const tests = webhookWorld();
const { find, create, accepted, callsOf, failing, idle } = tests;
const publish = (count: number) => tests.world.publish(...Array.from({ length: count }, () => accepted()));
const idOf = ({ headers }: Call) => headers['webhook-id'] ?? '';

/** Calls of a webhook that may be in flight: first repeats, and others while no call has succeeded. */
const MOST_CALLS = { repeats: 16, others: 4 };
/** $1 the present time. Calls in flight, and webhooks with a due event that may be called now and is not. */
const STATE = `WITH state AS (
    SELECT d.webhook_id, d.tries = 1 AS repeat, count(*) FILTER (WHERE d.leased_until > $1) AS called, count(*) FILTER (
        WHERE d.due_at <= $1 AND coalesce(d.leased_until <= $1, true) AND w.active AND coalesce(w.paused_until <= $1, true)
          AND NOT EXISTS (SELECT FROM webhook_delivery AS earlier WHERE earlier.webhook_id = d.webhook_id
            AND earlier.subject = d.subject AND earlier.event_id < d.event_id)) AS due
      FROM webhook AS w JOIN webhook_delivery AS d ON d.webhook_id = w.id GROUP BY 1, 2)
  SELECT coalesce(sum(called), 0)::int AS called, (count(*) FILTER (WHERE due > 0
      AND called < CASE WHEN repeat THEN ${MOST_CALLS.repeats} ELSE ${MOST_CALLS.others} END))::int AS uncalled FROM state`;

/** Seconds pass one by one; in each of them the service makes the calls that are due, and stores the answers. `open` calls hang. */
async function pass(
  seconds: number,
  each: () => void | Promise<void> = () => undefined,
  open: () => number = () => 0,
): Promise<void> {
  for (let passed = 0; passed < seconds; passed += 1) {
    await each();
    await tests.pass(SECOND);
    await until(
      async () => (await tests.world.database.query(STATE, [new Date(tests.now)])).rows[0],
      (state) => state?.uncalled === 0 && state.called === open(),
    );
  }
}

/** Times of the calls of each event. */
function timesOf(calls: readonly Call[]): number[][] {
  const times = new Map<string, number[]>();
  for (const call of calls) times.set(idOf(call), [...(times.get(idOf(call)) ?? []), call.at]);
  return [...times.values()];
}

/**
 * Receivers that give no answer. The test ends a call after ten seconds of its own time. On a busy machine the service, which
 * waits ten real seconds, gives it up earlier.
 */
function hangs() {
  const open = new Set<Call>();
  /** Of each event at each webhook: when its first call ended, and when the second began. */
  const events = new Map<string, { end?: number; second?: number }>();
  return {
    open: () => open.size,
    take(call: Call): 'hang' {
      open.add(call);
      call.res.once('close', () => open.delete(call));
      const key = `${call.path} ${idOf(call)}`;
      const event = events.get(key);
      if (event === undefined) {
        events.set(key, {});
        call.res.once('close', () => events.set(key, { end: tests.now }));
      } else event.second ??= call.at;
      return 'hang';
    },
    endOld(): void {
      for (const call of open)
        if (call.at <= tests.now - 10 * SECOND) {
          open.delete(call);
          call.res.writeHead(503).end();
        }
    },
    /** Milliseconds from the end of the first call of an event to its second one, or to now. */
    pauses: () =>
      [...events.values()].flatMap(({ end, second = tests.now }) => (end === undefined ? [] : [second - end])),
  };
}

describe('a webhook that fails', () => {
  it('gets every waiting event within seconds after its first success, however long the pauses were', async () => {
    const { id } = await create();
    tests.receiver.answer = () => DEAD;
    await publish(3);
    await failing(id);
    const waiting = async () => {
      const { rows } = await tests.world.database.query<{ least: Date; tries: number }>(
        'SELECT min(due_at) AS least, min(tries) AS tries FROM webhook_delivery',
      );
      return { due: rows[0]?.least.getTime() ?? 0, tries: rows[0]?.tries ?? 0 };
    };
    for (let tries = 1; tries < 7; tries += 1)
      await tests.pass((await until(waiting, (all) => all.tries >= tries && all.due > tests.now)).due - tests.now);
    const { due } = await until(waiting, (all) => all.tries === 7 && all.due > tests.now);
    expect(due - tests.now).toBe(1_800 * SECOND);
    tests.receiver.answer = () => ({ status: 200 });
    await tests.pass(10 * SECOND);
    await publish(1);
    await idle(id);
    expect(await find(id)).toMatchObject({ failing_since: null, dropped: 0 });
  });

  it('gets an event that fails alone again with growing pauses, although others succeed in between', async () => {
    const { id } = await create();
    const poison = encf('31', tests.sequence + 1);
    tests.receiver.answer = ({ event }) => ({ status: event.subject.encf === poison ? 500 : 200 });
    const begin = tests.now;
    await publish(1);
    await failing(id);
    await pass(40, () => publish(1));
    const tries = tests.receiver.calls
      .filter(({ event }) => event.subject.encf === poison)
      .map(({ at }) => (at - begin) / SECOND);
    expect(tries.length).toBeLessThanOrEqual(5);
    expect(tries.length).toBeGreaterThanOrEqual(3);
    expect(tries[1]).toBeLessThanOrEqual(10);
    await until(
      () => find(id),
      ({ pending }) => pending === 1,
    );
    expect(tests.receiver.calls.length).toBe(40 + tries.length);
  });

  it('is called only a few times in five seconds, and gets the first repeat of each event within ten seconds', async () => {
    const { id } = await create();
    tests.receiver.answer = () => DEAD;
    await publish(300);
    await pass(30);
    expect(tests.receiver.calls.length).toBeGreaterThan(20);
    expect(tests.receiver.calls.length).toBeLessThan(100);
    for (const [first = 0, second] of timesOf(tests.receiver.calls))
      if (first <= tests.now - 10 * SECOND)
        expect((second ?? Number.POSITIVE_INFINITY) - first).toBeLessThanOrEqual(10 * SECOND);
    tests.receiver.answer = () => ({ status: 200 });
    await pass(6);
    await idle(id);
  });

  it('gets the repeat of an event within ten seconds even if its receiver hangs and many events wait', async () => {
    const { id: alive } = await create('/alive');
    await create('/hangs');
    const hanging = hangs();
    tests.receiver.answer = (call) => (call.path === '/alive' ? { status: 200 } : hanging.take(call));
    await publish(100);
    await idle(alive);
    await pass(45, hanging.endOld, hanging.open);
    expect(hanging.pauses().length).toBeGreaterThan(4);
    expect(Math.max(...hanging.pauses())).toBeLessThanOrEqual(10 * SECOND);
    expect(hanging.open()).toBeLessThanOrEqual(20);
  });

  it('gets the repeat of each event within ten seconds even if a hundred webhooks hang', async () => {
    const hanging = hangs();
    tests.receiver.answer = hanging.take;
    for (let each = 0; each < 100; each += 1) await create(`/${each}`);
    await publish(20);
    await pass(40, hanging.endOld, hanging.open);
    expect(hanging.pauses().length).toBeGreaterThan(100);
    expect(Math.max(...hanging.pauses())).toBeLessThanOrEqual(10 * SECOND);
  });

  it('does not delay other webhooks, even if many hang on the same host', async () => {
    const hanging = await Promise.all(Array.from({ length: 60 }, async () => (await create('/hangs')).id));
    const { id: alive } = await create('/alive');
    tests.receiver.answer = ({ path }) => (path === '/hangs' ? 'hang' : { status: 200 });
    await tests.world.database.query('UPDATE webhook SET failing_since = $2 WHERE id = ANY($1)', [
      hanging,
      new Date(tests.now),
    ]);
    await publish(20);
    await until(
      () => callsOf('/hangs').filter(({ res }) => !res.closed).length,
      (open) => open >= 140,
    );
    // Each wait ends with an error after ten seconds.
    for (let round = 2; round <= 6; round += 1) {
      await publish(20);
      await until(
        () => callsOf('/alive').length,
        (length) => length >= round * 20,
      );
    }
    await idle(alive);
    expect(callsOf('/alive')).toHaveLength(120);
  });
});
