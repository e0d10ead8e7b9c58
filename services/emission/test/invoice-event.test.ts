import { invoiceChangedSchema, MAX_EVENT_ATTEMPTS, MAX_EVENT_BYTES } from '@ecf/contracts';
import { describe, expect, it } from '@jest/globals';
import type { Attempt, PastSubmission, VerdictFacts } from '../src/attempt/attempt.js';
import { invoiceChanged, wholeInvoice } from '../src/published/invoice-event.js';
import { sending } from './support/attempts.js';

const REFUSED: VerdictFacts = {
  code: '2',
  messages: [{ codigo: '613', valor: 'El RNC del comprador no es válido' }],
  sequenceUsed: false,
  dateReceived: '2026-06-15T10:00:01-04:00',
};

/** A number that was submitted and refused `times` times, with the same verdict each time. */
function refused(times: number, verdict = REFUSED): Attempt {
  const past = Array.from(
    { length: times - 1 },
    (_, index): PastSubmission => ({
      ...verdict,
      attempt: index + 1,
      trackId: `00000000-0000-4000-8000-${String(index + 1).padStart(12, '0')}`,
      submittedAt: '2026-06-15T10:00:00-04:00',
      state: 'rejected-reusable',
      securityCode: 'before',
    }),
  );
  return { ...sending(), attempt: times, trackId: 'latest', state: 'rejected-reusable', verdict, past };
}

const bytesOf = (data: unknown) => Buffer.byteLength(JSON.stringify(data));

describe('the event of a document', () => {
  it('has every submission and message if they fit', () => {
    const few = refused(MAX_EVENT_ATTEMPTS);
    expect(invoiceChanged(few)).toEqual(wholeInvoice(few.past, few));
  });

  it('has the latest of thousands of submissions, and the number of earlier ones', () => {
    const attempt = refused(4_000);
    expect(bytesOf(wholeInvoice(attempt.past, attempt))).toBeGreaterThan(MAX_EVENT_BYTES);
    const event = invoiceChanged(attempt);
    expect(bytesOf(event)).toBeLessThan(MAX_EVENT_BYTES / 4);
    expect(event.attempts.map(({ attempt: number }) => number)).toEqual(
      Array.from({ length: MAX_EVENT_ATTEMPTS }, (_, index) => 4_001 - MAX_EVENT_ATTEMPTS + index),
    );
    expect(event.attempts[0]?.earlier_omitted).toBe(4_000 - MAX_EVENT_ATTEMPTS);
    expect(event.attempts.at(-1)).toEqual(wholeInvoice(attempt.past, attempt).attempts.at(-1));
    expect(invoiceChangedSchema.parse(event)).toEqual(event);
  });

  it.each([
    ['many messages', Array.from({ length: 500 }, () => ({ codigo: '613', valor: 'x'.repeat(4_000) }))],
    ['an endless message', [{ codigo: '1', valor: '\u0001'.repeat(1_000_000) }]],
    ['an endless code', [{ codigo: '\u{1f600}'.repeat(500_000), valor: '' }]],
  ])('of a verdict with %s has the messages that fit, and a mark that there are more', (_, messages) => {
    for (const times of [1, 2, 3_000]) {
      const event = invoiceChanged(refused(times, { ...REFUSED, messages }));
      expect(bytesOf(event)).toBeLessThan(MAX_EVENT_BYTES / 2);
      expect(event.attempts.every(({ messages_cut }) => messages_cut === true)).toBe(true);
      // The latest submissions have the remaining space.
      expect(event.messages).toEqual(event.attempts.at(-1)?.messages);
    }
  });
});
