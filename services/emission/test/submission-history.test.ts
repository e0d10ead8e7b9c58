import { describe, expect, it } from '@jest/globals';
import type { PastSubmission } from '../src/attempt/attempt.js';
import {
  addSubmission,
  copiesOf,
  isHistoryComplete,
  latestSubmissions,
  withoutSubmission,
} from '../src/attempt/submission-history.js';
import { invoiceChanged } from '../src/published/invoice-event.js';
import { sending } from './support/attempts.js';

const KEPT = 50;

function submission(attempt: number, change: Partial<PastSubmission> = {}): PastSubmission {
  const verdict = { code: '2', messages: [], sequenceUsed: false, dateReceived: null };
  const facts = { attempt, trackId: `t-${attempt}`, submittedAt: null, securityCode: 'abcdef' };
  return { ...verdict, ...facts, state: 'rejected-reusable', ...change };
}

function pastOf(times: number, change: (attempt: number) => Partial<PastSubmission> = () => ({})) {
  let past: readonly PastSubmission[] = [];
  for (let attempt = 1; attempt <= times; attempt += 1)
    past = addSubmission(past, submission(attempt, change(attempt)));
  return past;
}

describe('submissions that have ended', () => {
  it('are all kept with the attempt while they are few', () => {
    const past = pastOf(KEPT);
    expect(past).toEqual(Array.from({ length: KEPT }, (_, index) => submission(index + 1)));
    expect(isHistoryComplete(past)).toBe(true);
    expect(latestSubmissions(past)).toEqual({ latest: past, omitted: 0 });
  });

  it.each([KEPT + 1, KEPT + 2, 500])(
    'are cut, if there are %d, to the first, the latest and the number between them',
    (times) => {
      const past = pastOf(times);
      expect(past).toHaveLength(KEPT);
      expect(isHistoryComplete(past)).toBe(false);
      expect(past[9]).toEqual(submission(10));
      expect(past[10]).toEqual(submission(times - 39, { omittedBefore: times - KEPT }));
      expect(past.at(-1)).toEqual(submission(times));
      expect(past.filter(({ omittedBefore }) => omittedBefore !== undefined)).toHaveLength(1);
      expect(latestSubmissions(past)).toMatchObject({ latest: { length: 40 }, omitted: times - 40 });
    },
  );

  it('are also cut from a list that was kept whole before', () => {
    const before = Array.from({ length: 300 }, (_, index) => submission(index + 1));
    expect(addSubmission(before, submission(301))).toEqual(pastOf(301));
  });

  it('lose the one that is the present submission again, and stay incomplete if some are left out', () => {
    const past = pastOf(500);
    expect(withoutSubmission(past, 't-499')).toEqual(past.filter(({ attempt }) => attempt !== 499));
    expect(withoutSubmission(past, 't-501')).toBe(past);
    expect(isHistoryComplete(withoutSubmission(past, 't-461'))).toBe(false);
  });

  it('include withdrawn ones', () => {
    const past = pastOf(100, (attempt) => (attempt % 2 === 0 ? { state: 'withdrawn' } : {}));
    expect(past[10]?.omittedBefore).toBe(50);
    const { attempts } = invoiceChanged({ ...sending(), attempt: 101, past });
    expect(attempts).toHaveLength(41);
    expect(attempts.filter(({ status }) => status === 'Rechazado').length).toBeGreaterThan(15);
  });

  it('appear in an event as the latest ones and the number of earlier ones', () => {
    const past = pastOf(500);
    const { attempts } = invoiceChanged({ ...sending(), attempt: 501, past });
    expect(attempts).toHaveLength(41);
    expect(attempts[0]).toMatchObject({ attempt: 461, earlier_omitted: 460 });
    expect(attempts.filter(({ earlier_omitted }) => earlier_omitted !== undefined)).toHaveLength(1);
  });

  it('are distinguished from copies of one attempt', () => {
    const past = [...pastOf(60), submission(61, { trackId: 'copy', omittedBefore: 3 })];
    expect(copiesOf({ attempt: 61, past })).toEqual([submission(61, { trackId: 'copy' })]);
  });
});
