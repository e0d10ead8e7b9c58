import type { Answer, CancellationVerdict } from '@ecf/authority-client';
import { describe, expect, it } from '@jest/globals';
import type { Cancellation } from '../src/cancellation/cancellation.js';
import { afterAnswer, refusedNumbers } from '../src/cancellation/progress.js';
import { createSendCancellation } from '../src/cancellation/send-cancellation.js';

const DONE = 'Las secuencias fueron anuladas correctamente';
const NONE = 'No fue posible anular las siguientes secuencias';
const USED = 'Las secuencias que está intentando anular han sido utilizadas';
const EXCEPT = `${DONE}. Con excepción de las secuencias del detalle`;
const asked = [{ type: '31' as const, from: 100, to: 199 }];
const encf = (sequence: number) => `E31${String(sequence).padStart(10, '0')}`;
const refused = (...texts: string[]) =>
  refusedNumbers(
    null,
    texts.map((valor) => ({ codigo: '1', valor })),
    asked,
  )?.map(({ from, to }) => [from, to]) ?? null;

describe('the numbers that a partial success refuses', () => {
  it('follow a known text of refusal', () => {
    expect(refused(EXCEPT, encf(101), `${encf(110)} - ${encf(112)}`)).toEqual([
      [101, 101],
      [110, 112],
    ]);
    expect(refused(`${EXCEPT}: ${encf(101)}, ${encf(103)}.`)).toEqual([
      [101, 101],
      [103, 103],
    ]);
    expect(refused(DONE, encf(101), 'No fue posible anular las siguientes secuencias', encf(102))).toEqual([
      [102, 102],
    ]);
    expect(refused(EXCEPT, `${encf(190)} al ${encf(199)}`)).toEqual([[190, 199]]);
    const all = Array.from({ length: 50 }, (_, n) => encf(100 + 2 * n));
    expect(refused(EXCEPT, ...all)).toHaveLength(50);
  });

  it('are read quickly from an answer of 14 MB, and from a mebibyte of beginnings of numbers', () => {
    expect(refused(EXCEPT, `${encf(101)}, `.repeat(1_000_000))).toEqual([[101, 101]]);
    for (const piece of ['E31', 'E310000000101 -', ' ', 'e310000000101 hasta ', '\u0301\u0323', ';.'])
      expect(refused(EXCEPT, `${encf(101)}, ${piece.repeat(Math.ceil((1024 * 1024) / piece.length))}x`)).toBeNull();
  });

  it.each([
    ['no numbers', [EXCEPT]],
    ['other words', [EXCEPT, '?']],
    [
      'a range in a sentence',
      [EXCEPT, `Rango ${encf(121)} - ${encf(129)}: la secuencia ${encf(125)} ha sido utilizada`],
    ],
    ['names of elements', [EXCEPT, `SecuenciaeNCFDesde: ${encf(111)}, SecuenciaeNCFHasta: ${encf(115)}`]],
    ['numbers before any words', [encf(101), EXCEPT]],
    ['numbers that were not requested', [EXCEPT, encf(900)]],
    ['some numbers that were not requested', [EXCEPT, encf(101), encf(900)]],
    ['a range beyond the requested one', [EXCEPT, `${encf(190)} al ${encf(250)}`]],
    ['a range over two types', [EXCEPT, `${encf(101)} - E320000000102`]],
  ])('are unknown if the answer has %s', (_, texts) => {
    expect(refused(...texts)).toBeNull();
  });
});

describe('an answer to a cancellation', () => {
  const times = { now: new Date('2026-06-01T12:00:00Z'), random: () => 0.5, firstRetryMs: 100 };
  const sent = (lostSends: number) =>
    ({
      state: 'sending',
      sentAt: null,
      response: null,
      refused: [],
      lostSends,
      failures: lostSends,
      nextActionAt: new Date(0),
      alarm: null,
      createdAt: times.now,
      requestedAt: times.now,
      lines: [{ type: '31', total: 100, ranges: [100, 199] }],
    }) as unknown as Cancellation;
  const verdict = (status: CancellationVerdict['status'], ...texts: string[]): Answer<CancellationVerdict> => ({
    outcome: 'verdict',
    verdict: {
      status,
      code: status === 'Rechazado' ? '2' : '1',
      rnc: null,
      heading: null,
      messages: texts.map((valor) => ({ codigo: '1', valor })),
    },
    raw: { status: 200, contentType: null, body: texts.join(), truncated: false },
  });

  it.each([
    ['Rechazado', 'El RNC Emisor no se encuentra activo.'],
    ['Rechazado', 'Las secuencias ya fueron anuladas anteriormente'],
    ['Rechazado', 'No fue posible anular las siguientes secuencias'],
    ['Parcial', EXCEPT],
  ] as const)(
    'of %s (%s) after a lost one leaves the outcome of the first copy open, with blocked numbers and an alarm',
    (status, text) => {
      expect(afterAnswer(sent(1), verdict(status, text, encf(101)), times)).toMatchObject({
        state: 'submitted',
        alarm: 'cancellation-open',
        nextActionAt: null,
        refused: [],
      });
    },
  );

  it('decides after a lost one if it is a success', () => {
    expect(afterAnswer(sent(2), verdict('Aceptado', DONE), times)).toMatchObject({ state: 'accepted', alarm: null });
  });

  it('that does not come raises the alarm 72 hours after the request, however old the document is', () => {
    const silence: Answer<CancellationVerdict> = {
      outcome: 'unknown',
      cause: 'timeout',
      reachedAuthority: 'maybe',
      detail: 'x',
      raw: null,
    };
    const ago = (hours: number) => new Date(times.now.getTime() - hours * 3_600_000);
    const old = { ...sent(0), createdAt: ago(1_000), requestedAt: ago(71) };
    expect(afterAnswer(old, silence, times)).toMatchObject({ state: 'submitted', alarm: null, sentAt: times.now });
    expect(afterAnswer({ ...old, requestedAt: ago(73) }, silence, times)).toMatchObject({
      alarm: 'cancellation-overdue',
    });
  });

  it('decides if no copy was lost', () => {
    expect(afterAnswer(sent(0), verdict('Rechazado', 'x'), times)).toMatchObject({ state: 'rejected', alarm: null });
    expect(afterAnswer(sent(0), verdict('Parcial', EXCEPT, encf(101)), times)).toMatchObject({
      state: 'partial',
      refused: [{ type: '31', from: 101, to: 101 }],
      alarm: null,
    });
    expect(afterAnswer(sent(0), verdict('Parcial', EXCEPT, 'otras'), times)).toMatchObject({
      state: 'partial',
      refused: [],
      alarm: 'cancellation-unreadable',
    });
  });

  it.each([
    ['names one of them', [NONE, encf(101)]],
    ['names all but one', [NONE, `${encf(100)} - ${encf(198)}`]],
    ['says that one is used', [USED, encf(101)]],
    ['names them in other words', [NONE, `SecuenciaeNCFDesde: ${encf(100)}, SecuenciaeNCFHasta: ${encf(199)}`]],
  ])('that refuses "the following", and %s, leaves the outcome of the others open', (_, texts) => {
    expect(afterAnswer(sent(0), verdict('Rechazado', ...texts), times)).toMatchObject({
      state: 'submitted',
      refused: [],
      nextActionAt: null,
      alarm: 'cancellation-unreadable',
    });
  });

  it.each([
    ['names all', [NONE, encf(100), `${encf(101)} - ${encf(199)}`]],
    ['names more than all', [NONE, `${encf(1)} - ${encf(500)}`]],
    ['names none', [NONE]],
    ['is about the document', [`El valor del campo SecuenciaeNCFDesde es mayor: ${encf(101)}`]],
  ])('that refuses, and %s, annuls no number', (_, texts) => {
    expect(afterAnswer(sent(0), verdict('Rechazado', ...texts), times)).toMatchObject({
      state: 'rejected',
      alarm: null,
    });
  });

  describe('that is recorded after another instance claimed the cancellation', () => {
    /**
     * Sends the first copy, which gets this status while the row becomes `present`. Resolves with the recorded change, or
     * null.
     */
    async function written(
      status: CancellationVerdict['status'],
      present: Partial<Cancellation>,
    ): Promise<Partial<Cancellation> | null> {
      let row = { ...sent(0), revision: 2, ...present } as Cancellation;
      let change: Partial<Cancellation> | null = null;
      const send = createSendCancellation({
        ...times,
        clock: () => times.now,
        tokens: { get: async () => ({ token: 't' }) },
        checkpoint: async () => undefined,
        pending: new Set(),
        sending: new Set(),
        authority: { submitCancellation: async () => verdict(status, EXCEPT, encf(101)) },
        observer: { sent: () => undefined, alarm: () => undefined },
        cancellations: {
          find: async () => row,
          record: async (before: Cancellation, progress: Partial<Cancellation>) => {
            if (before.revision !== row.revision) return null;
            change = progress;
            row = { ...row, ...progress, revision: row.revision + 1 };
            return row;
          },
        },
      } as unknown as Parameters<typeof createSendCancellation>[0]);
      const result = await send({ ...sent(0), revision: 1 } as Cancellation, {} as never, Buffer.from('<ANECF/>'));
      expect(result).toBe(row);
      return change;
    }

    const settled = { settledAt: times.now, settledNote: 'seen in the portal' };
    const sending = { state: 'sending', lostSends: 1 } as const;
    const waiting = { state: 'submitted', lostSends: 2, nextActionAt: times.now } as const;
    const open = { state: 'submitted', lostSends: 1, nextActionAt: null, alarm: 'cancellation-open' } as const;

    it.each([
      ['the other copy is in flight', sending],
      ['the other copy was lost too', waiting],
      ['the other copy was refused', open],
    ])('counts if all numbers are annulled, although %s', async (_, present) => {
      const accepted = { state: 'accepted', refused: [], nextActionAt: null, alarm: null };
      expect(await written('Aceptado', present)).toMatchObject(accepted);
    });

    it.each(['Rechazado', 'Parcial'] as const)(
      'with %s frees no number while other copies may arrive',
      async (status) => {
        expect(await written(status, sending)).toBeNull();
        expect(await written(status, open)).toBeNull();
        expect(await written(status, waiting)).toMatchObject({ ...open, lostSends: 2, refused: [] });
      },
    );

    it.each(['Aceptado', 'Rechazado', 'Parcial'] as const)('with %s does not change a decision', async (status) => {
      const decided = { lostSends: 1, nextActionAt: null };
      expect(await written(status, { ...decided, state: 'accepted' })).toBeNull();
      expect(await written(status, { ...decided, state: 'rejected', ...settled })).toBeNull();
      expect(await written(status, { ...decided, state: 'partial', ...settled })).toBeNull();
    });
  });
});
