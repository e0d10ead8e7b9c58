import { describe, expect, it } from '@jest/globals';
import {
  afterQueries,
  againDue,
  firstDue,
  mayQueryAhead,
  nextQueryAt,
  type Pace,
  pollDelay,
  queriesAllowed,
  unansweredDelay,
} from '../src/schedule.js';

const NOW = new Date('2026-03-02T12:00:00Z');
const HOUR = 3_600_000;
const at = (ms: number) => new Date(NOW.getTime() + ms);

describe('the schedule of queries', () => {
  it('doubles from the first pause to one hour, without end', () => {
    const delays = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 1_000].map((tries) => pollDelay(tries, 5_000, () => 0.5));
    expect(delays.slice(0, 10).map((ms) => ms / 1_000)).toEqual([5, 10, 20, 40, 80, 160, 320, 640, 1_280, 2_560]);
    expect(delays.slice(10)).toEqual([HOUR, HOUR, HOUR]);
  });

  it('varies each pause by up to a quarter, at most an hour', () => {
    expect(pollDelay(0, 1_000, () => 0)).toBe(750);
    expect(pollDelay(0, 1_000, () => 0.999_999)).toBe(1_250);
    expect(pollDelay(40, 1_000, () => 0)).toBe(0.75 * HOUR);
    expect(pollDelay(40, 1_000, () => 0.999_999)).toBe(HOUR);
  });

  it('queries an authority that does not answer again within a minute', () => {
    expect([1, 2, 3, 4, 5, 6, 100].map((failures) => unansweredDelay(failures, 5_000, () => 0.5))).toEqual([
      5_000, 10_000, 20_000, 40_000, 60_000, 60_000, 60_000,
    ]);
  });

  it('begins after the usual processing time, or immediately for older submissions', () => {
    expect(firstDue(NOW, NOW, 5_000, () => 0.5)).toEqual(at(5_000));
    expect(firstDue(at(-2_000), NOW, 5_000, () => 0.5)).toEqual(at(3_000));
    expect(firstDue(at(-HOUR), NOW, 5_000, () => 0.5)).toEqual(NOW);
  });

  it('queries again a decision that emission has not consumed, after a pause as long as the submission is old, at most an hour', () => {
    const again = (ageMs: number, random = 0.5) => againDue(at(-ageMs), NOW, () => random).getTime() - NOW.getTime();
    expect([again(2_000), again(10 * 60_000), again(30 * HOUR), again(-5_000)]).toEqual([2_000, 600_000, HOUR, 0]);
    expect([again(2_000, 0), again(30 * HOUR, 0), again(30 * HOUR, 0.9)]).toEqual([1_500, 0.75 * HOUR, HOUR]);
    // Emission consumes nothing for a day.
    let [ageMs, queries] = [300_000, 0];
    for (; ageMs < 24 * HOUR; queries += 1) ageMs += again(ageMs) + 300_000;
    expect(queries).toBeLessThan(30);
  });
});

describe('the pace of an environment', () => {
  const pace = (readyAt: number, pausedUntil: Date | null = null): Pace => ({ env: 'TesteCF', readyAt, pausedUntil });
  const idle = pace(0);

  it('allows the queries of a tenth of a second, at least one, immediately after a pause', () => {
    expect(queriesAllowed(idle, NOW, 50, 100)).toBe(5);
    expect(queriesAllowed(idle, NOW, 50, 3)).toBe(3);
    expect(queriesAllowed(idle, NOW, 1, 100)).toBe(1);
    expect(queriesAllowed(idle, NOW, 1_000, 1_000)).toBe(100);
  });

  it.each([1, 3, 7, 50, 333, 1_000])('keeps to %i queries a second, however often it is checked', (rate) => {
    let present = idle;
    let queries = 0;
    for (let ms = 0; ms < 10_000; ms += 7) {
      const count = queriesAllowed(present, at(ms), rate, 1_000);
      if (count > 0) present = pace(afterQueries(present, at(ms), rate, count));
      queries += count;
    }
    expect(queries).toBeLessThanOrEqual(10 * rate + Math.ceil(rate / 10));
    expect(queries).toBeGreaterThanOrEqual(Math.floor(rate * 9));
  });

  it('allows none during a pause, and states when the next is allowed', () => {
    expect(queriesAllowed(pace(0, at(1)), NOW, 50, 10)).toBe(0);
    expect(queriesAllowed(pace(0, NOW), NOW, 50, 10)).toBe(5);
    expect(nextQueryAt(pace(0, at(9_000)), 50)).toBe(at(9_000).getTime());
    const spent = pace(afterQueries(idle, NOW, 50, 5));
    expect(queriesAllowed(spent, at(nextQueryAt(spent, 50) - NOW.getTime()), 50, 10)).toBe(1);
    expect(queriesAllowed(spent, at(nextQueryAt(spent, 50) - NOW.getTime() - 1), 50, 10)).toBe(0);
  });

  it('reserves up to a second ahead for waiting callers, but not during a pause', () => {
    expect(mayQueryAhead(pace(at(1_000).getTime()), NOW)).toBe(true);
    expect(mayQueryAhead(pace(at(1_001).getTime()), NOW)).toBe(false);
    expect(mayQueryAhead(pace(0, at(1)), NOW)).toBe(false);
  });
});
