import { randomUUID } from 'node:crypto';
import { setProcessClockAhead } from '@ecf/test-support/process-clock';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { verdict } from './support/samples.js';
import { decided, inProcess, until, World } from './support/world.js';

const HOUR = 3_600_000;
const FIRST_QUERY_MS = '200';

describe('with a clock that is wrong for a while,', () => {
  let world: World;
  let correct: () => void = () => undefined;
  let release: () => void = () => undefined;
  beforeEach(async () => {
    world = await World.create({ FIRST_QUERY_MS });
  });
  afterEach(async () => {
    correct();
    release();
    await world.stop();
  });

  async function dueInMs(trackId: string): Promise<number> {
    const { rows } = await world.database.query<{ ms: number }>(
      'SELECT extract(epoch FROM due_at - clock_timestamp())::float8 * 1000 AS ms FROM poll WHERE track_id = $1',
      [trackId],
    );
    return rows[0]?.ms ?? Number.NaN;
  }

  it.each([
    ['3 hours', 3 * HOUR],
    ['92 days', 92 * 24 * HOUR],
  ])('a process clock %s ahead takes over no lease and postpones no query', async (_, ahead) => {
    const held = randomUUID();
    const hanging = new Promise<void>((resolve) => {
      release = resolve;
    });
    world.authority.answer = async (trackId) => {
      if (trackId === held) await hanging;
      return inProcess();
    };
    await world.start();
    await world.submitted({ track_id: held });
    await until(() => world.authority.queriesOf(held) === 1, 'the first instance holds the lease');
    const postponed = await world.submitted();
    await until(() => world.authority.queriesOf(postponed) >= 1, 'it was queried once');

    correct = setProcessClockAhead(ahead);
    await world.start();
    const queries = world.authority.queriesOf(postponed);
    await until(() => world.authority.queriesOf(postponed) > queries, 'it was queried while the clock was wrong');
    await until(async () => (await world.poll(postponed))?.claim === null, 'it was put back');
    const due = await dueInMs(postponed);
    correct();
    expect(due).toBeLessThan(HOUR / 2);
    expect(world.authority.queriesOf(held)).toBe(1);
    release();
  });

  it('a query that was postponed beyond the longest pause is due after the longest pause', async () => {
    world.authority.answer = async () => inProcess();
    const first = await world.start();
    const trackId = await world.submitted();
    await until(() => world.authority.queriesOf(trackId) >= 1, 'it is queried');
    await first.stop();
    await world.database.query("UPDATE poll SET due_at = now() + interval '92 days'");
    await world.database.query("UPDATE pace SET paused_until = now() + interval '92 days'");
    await world.start();
    await until(async () => (await dueInMs(trackId)) <= HOUR, 'it is due again');
    await until(async () => {
      const paused = "SELECT FROM pace WHERE paused_until > now() + interval '1 hour'";
      return (await world.database.query(paused)).rowCount === 0;
    }, 'the pause of the environment is limited too');
  });

  it('a pace that was reserved far ahead does not delay queries', async () => {
    world.authority.answer = async () => inProcess();
    await world.start();
    const trackId = await world.submitted();
    await until(() => world.authority.queriesOf(trackId) >= 1, 'it is queried');
    await world.database.query(
      "UPDATE pace SET ready_at = extract(epoch FROM now() + interval '92 days') * 1000; UPDATE poll SET due_at = now()",
    );
    const queries = world.authority.queriesOf(trackId);
    await until(() => world.authority.queriesOf(trackId) > queries, 'it is queried again');
  });

  it('an answer that a wrong clock stored in the future hides no later answer', async () => {
    world.authority.answer = async () => inProcess();
    const instance = await world.start({}, { STATUS_FRESH_MS: '60000' });
    const decidedInBackground = await world.submitted();
    const decidedForCaller = await world.submitted();
    await until(() => world.published.length === 2, 'both were queried');
    await world.database.query("UPDATE submission SET queried_at = now() + interval '92 days'");
    world.authority.answer = async (trackId) => decided(verdict({ trackId }));
    const { body } = await world.status(instance, decidedForCaller);
    expect(body.status).toBe('Aceptado');
    await until(() => world.changesOf(decidedInBackground).length === 2, 'the decision was published');
    expect(world.changesOf(decidedInBackground)).toEqual(['EnProceso', 'Aceptado']);
  });

  it('an undecided answer that a wrong clock stored in the future is noted at the time of the next one', async () => {
    world.authority.answer = async () => inProcess();
    await world.start();
    const trackId = await world.submitted();
    await until(() => world.changesOf(trackId).length === 1, 'it was queried');
    await world.database.query("UPDATE submission SET queried_at = now() + interval '92 days'");
    await until(async () => {
      const { rows } = await world.database.query('SELECT FROM submission WHERE queried_at < now()');
      return rows.length === 1;
    }, 'its time is not in the future any more');
  });
});
