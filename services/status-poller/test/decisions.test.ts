import { type InvoiceAttempt, MAX_VERDICT_MESSAGE_BYTES } from '@ecf/contracts';
import { describe, expect, it } from '@jest/globals';
import { nextPoll } from '../src/background.js';
import { invoiceStatusChanged } from '../src/status-event.js';
import { factsOf, isFinal, publishedSubmissions } from '../src/submission.js';
import { claimedPoll, invoiceChanged, NOW, verdict } from './support/samples.js';

const attempt = (change: Partial<InvoiceAttempt>): InvoiceAttempt => ({
  attempt: 1,
  track_id: 'one',
  submitted_at: '2026-03-02T08:00:00-04:00',
  status: 'EnProceso',
  code: '3',
  messages: [],
  sequence_used: null,
  date_received: null,
  final: false,
  ...change,
});

describe('the events of emission', () => {
  const now = new Date('2026-03-02T12:30:00Z');

  it('contain every submission with a trackId; the present one is queried while it has no verdict', () => {
    const refused = attempt({ track_id: 'old', status: 'Rechazado', code: '2', final: true, sequence_used: true });
    const lost = attempt({ attempt: 2, track_id: null });
    const open = attempt({ attempt: 3, track_id: 'new', submitted_at: null });
    const published = publishedSubmissions(
      invoiceChanged({ state: 'processing', track_id: 'new', attempts: [refused, lost, open] }),
      now,
    );
    expect(published.map(({ trackId, polled, final }) => ({ trackId, polled, final }))).toEqual([
      { trackId: 'old', polled: false, final: true },
      { trackId: 'new', polled: true, final: false },
    ]);
    expect(published[0]?.facts).toMatchObject({ status: 'Rechazado', sequenceUsed: true });
    expect(published[1]?.submittedAt).toEqual(now);
  });

  it.each([
    ['processing', true],
    ['not-found', true],
    ['arrived', false],
    ['resend-due', false],
    ['accepted', false],
  ])('have the submission of a document that is %s queried: %s', (state, polled) => {
    const [published] = publishedSubmissions(invoiceChanged({ state, track_id: 'one', attempts: [attempt({})] }), now);
    expect(published?.polled).toBe(polled);
  });

  it('do not have a submission of an earlier attempt queried', () => {
    const [published] = publishedSubmissions(
      invoiceChanged({ state: 'processing', track_id: null, attempts: [attempt({ status: 'No encontrado' })] }),
      now,
    );
    expect(published?.polled).toBe(false);
  });
});

describe('the answer of the authority', () => {
  it('is final unless it is in process or unknown', () => {
    const words = ['Aceptado', 'AceptadoCondicional', 'Rechazado', 'EnProceso', 'No encontrado'] as const;
    expect(words.map((status) => isFinal({ status }))).toEqual([true, true, true, false, false]);
  });

  it('is stored as text that the database accepts, with the flag only for final verdicts', () => {
    const facts = factsOf(
      verdict({ status: 'EnProceso', sequenceUsed: false, messages: [{ codigo: '1', valor: 'a\u0000b\ud800' }] }),
    );
    expect(facts.sequenceUsed).toBeNull();
    expect(facts.messages).toEqual([{ codigo: '1', valor: 'a\ufffdb\ufffd' }]);
    expect(factsOf(verdict({ status: 'Rechazado', sequenceUsed: false })).sequenceUsed).toBe(false);
  });
});

describe('an open submission is queried again', () => {
  const times = { now: NOW, random: () => 0.5, firstQueryMs: 1_000 };
  const after = (ms: number) => new Date(NOW.getTime() + ms);
  const raw = { status: 200, contentType: null, body: '', truncated: false };
  const result = { facts: factsOf(verdict({ status: 'EnProceso' })), queriedAt: NOW, raw };

  it('later each time it is still in process', () => {
    const next = nextPoll(claimedPoll({ tries: 2, failures: 5 }), { outcome: 'result', result }, times);
    expect(next).toMatchObject({ dueAt: after(8_000), tries: 3, failures: 0, alarmed: false });
  });

  it('soon after a query without an answer, but not earlier than the authority requests', () => {
    const unanswered = { outcome: 'unanswered', cause: 'timeout', sent: true, limit: null, answered: false } as const;
    expect(nextPoll(claimedPoll({ tries: 9, failures: 1 }), { ...unanswered, pauseMs: null }, times)).toMatchObject({
      dueAt: after(2_000),
      tries: 9,
      failures: 2,
    });
    expect(nextPoll(claimedPoll({}), { ...unanswered, pauseMs: 90_000 }, times)).toMatchObject({
      dueAt: after(90_000),
    });
  });

  it('after an open circuit breaker, which does not count as a failure of the document', () => {
    const held = {
      outcome: 'unanswered',
      cause: 'circuit_open',
      sent: false,
      limit: null,
      answered: false,
      pauseMs: 1_500,
    } as const;
    expect(nextPoll(claimedPoll({ tries: 3, failures: 2 }), held, times)).toMatchObject({
      dueAt: after(1_500),
      tries: 3,
      failures: 2,
    });
  });

  it('without end, with an alarm after 72 hours', () => {
    const old = new Date(NOW.getTime() - 73 * 3_600_000);
    const poll = claimedPoll({ tries: 80, submittedAt: old });
    const next = nextPoll(poll, { outcome: 'refused', reason: 'query_refused', detail: '' }, times);
    expect(next).toMatchObject({ dueAt: after(3_600_000), alarmed: true });
  });
});

describe('the event of an answer', () => {
  it('has the first messages that fit, and marks omitted ones', () => {
    const messages = Array.from({ length: 500 }, (_, index) => ({
      codigo: String(index),
      valor: '\u001f'.repeat(4_000),
    }));
    const { claim: _, ...submission } = claimedPoll({});
    const raw = { status: 200, contentType: 'application/json', body: '{}', truncated: false };
    const event = (some: typeof messages) => {
      const facts = { ...submission.facts, messages: some };
      return invoiceStatusChanged({ ...submission, facts }, { facts, raw, queriedAt: NOW });
    };
    const published = event(messages);
    expect(published.messages_cut).toBe(true);
    expect(published.messages.slice(0, 4)).toEqual(messages.slice(0, 4));
    const bytes = Buffer.byteLength(JSON.stringify(published.messages));
    expect(bytes).toBeLessThanOrEqual(MAX_VERDICT_MESSAGE_BYTES);
    expect(bytes).toBeGreaterThan(MAX_VERDICT_MESSAGE_BYTES - 1_000);
    const few = event(messages.slice(0, 4));
    expect(few.messages).toHaveLength(4);
    expect(few).not.toHaveProperty('messages_cut');
  });
});
