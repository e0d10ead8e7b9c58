import type { Answer, TrackIdList } from '@ecf/authority-client';
import { EMISSION_STATES, isNumberReusable, toIsoDominican } from '@ecf/domain';
import { describe, expect, it } from '@jest/globals';
import type { Attempt } from '../src/attempt/attempt.js';
import { afterReceipt, afterResult, afterSummary, afterSummaryQuery } from '../src/attempt/authority-answers.js';
import { afterLookUp, stateIsNeeded } from '../src/attempt/look-up.js';
import {
  afterReference,
  beginAttempt,
  beginSend,
  changesPublished,
  clearedToResend,
  postponed,
  sendLost,
  tokenRefused,
  undecided,
} from '../src/attempt/transitions.js';
import {
  at,
  documentState,
  fresh,
  NO_SERVICE,
  NOW,
  REPEATED,
  receipt,
  result,
  sending,
  TRANSIENT,
  trackIds,
  UNAUTHORIZED,
  unknown,
  verdict,
} from './support/attempts.js';

const SUMMARY = { route: 'rfce', ecfType: '32' } as const;

/** Milliseconds from NOW to the next look at the attempt. */
const HOURS_72 = 72 * 3_600_000;

function due(attempt: Attempt | null): number | null {
  return attempt?.nextActionAt === null || attempt === null ? null : attempt.nextActionAt.getTime() - NOW.getTime();
}

function must(attempt: Attempt | null): Attempt {
  if (attempt === null) throw new Error('nothing changed');
  return attempt;
}

const lost = () => must(afterReceipt(sending(), unknown('maybe'), at(0)));
const processing = (trackId = 'track-1') => must(afterReceipt(sending(), receipt(trackId), at(0)));
/** Lost, twice not found, then sent again. */
function resending(): Attempt {
  const first = must(afterLookUp(lost(), { trackIds: trackIds(), state: null }, at(4_000)));
  const second = must(
    afterLookUp(first, { trackIds: trackIds(), state: documentState('No encontrado', null) }, at(304_000)),
  );
  expect(second.state).toBe('resend-due');
  return beginSend(second, at(304_001), 'me', 60_000);
}

describe('given a full document that is being sent', () => {
  it('when a trackId comes back, then it is in process and due only when it is overdue: the status poller queries the result', () => {
    const next = processing();
    expect(next).toMatchObject({
      state: 'processing',
      trackId: 'track-1',
      trackIdAdopted: false,
      owner: null,
      revision: 2,
    });
    expect(due(next)).toBe(HOURS_72);
  });

  it('when no byte reached the authority, then it is sent again within 5 seconds, without a query', () => {
    const next = must(afterReceipt(sending(), unknown('no'), at(0)));
    expect(next).toMatchObject({ state: 'committed', lostSends: 0, failures: 1 });
    expect(due(next)).toBeLessThanOrEqual(5_000);
  });

  it('when the authority requires a pause, then it is kept', () => {
    expect(due(afterReceipt(sending(), unknown('no', 90_000), at(0)))).toBe(90_000);
  });

  it('when the outcome is unknown, then it is queried before anything is sent again', () => {
    expect(lost()).toMatchObject({ state: 'unknown', lostSends: 1, trackId: null });
  });

  it('when reception refuses the file without a trackId, then the authority did not take it: there is no verdict, and the message is kept', () => {
    const next = must(afterReceipt(sending(), receipt(null, 'archivo no válido'), at(0)));
    expect(next).toMatchObject({
      state: 'committed',
      verdict: { messages: [{ valor: 'archivo no válido' }, { codigo: 'gateway' }] },
    });
  });

  it("when the caller's token is refused, then it is withdrawn and its number is free", () => {
    const next = tokenRefused(sending(), at(0));
    expect(next.state).toBe('withdrawn');
    expect(EMISSION_STATES[next.state].sequenceUsed).toBe(false);
    expect(due(next)).toBeNull();
  });

  it('when our own token is refused, then it is sent again', () => {
    expect(afterReceipt(sending(), UNAUTHORIZED, at(0))?.state).toBe('committed');
  });
});

describe('given a full document whose send was lost', () => {
  it('when a trackId is found, then it is adopted', () => {
    const next = must(afterLookUp(lost(), { trackIds: trackIds(['track-9', 'EnProceso']), state: null }, at(4_000)));
    expect(next).toMatchObject({ state: 'processing', trackId: 'track-9', trackIdAdopted: true });
    expect(due(next)).toBe(HOURS_72);
  });

  it('when it is not found once, then it is not sent again yet', () => {
    const next = must(afterLookUp(lost(), { trackIds: trackIds(), state: null }, at(4_000)));
    expect(next).toMatchObject({ state: 'unknown', notFoundSince: at(4_000).now });
  });

  it('when it is not found again too early, then it is still not sent', () => {
    const first = must(afterLookUp(lost(), { trackIds: trackIds(), state: null }, at(4_000)));
    expect(afterLookUp(first, { trackIds: trackIds(), state: null }, at(303_999))?.state).toBe('unknown');
  });

  it('when a wrong clock noted the first answer in the future, then the wait begins again', () => {
    const first = must(afterLookUp(lost(), { trackIds: trackIds(), state: null }, at(10_800_000)));
    const second = must(afterLookUp(first, { trackIds: trackIds(), state: null }, at(4_000)));
    expect(second).toMatchObject({ state: 'unknown', notFoundSince: at(4_000).now });
    expect(afterLookUp(second, { trackIds: trackIds(), state: null }, at(304_000))?.state).toBe('resend-due');
  });

  it('when it is not found twice, far enough apart, then the same bytes may go out again', () => {
    expect(resending()).toMatchObject({ state: 'resending', lostSends: 1 });
  });

  it('the second query comes when its answer would allow the resend, not later', () => {
    let attempt = must(afterLookUp(lost(), { trackIds: trackIds(), state: null }, at(4_000)));
    let queries = 0;
    while (attempt.state === 'unknown' && queries < 20) {
      attempt = must(afterLookUp(attempt, { trackIds: trackIds(), state: null }, at(due(attempt) as number)));
      queries += 1;
    }
    expect(attempt.state).toBe('resend-due');
    expect(due(attempt)).toBe(304_000);
    expect(queries).toBeLessThan(10);
  });

  it('before a resend the state is queried too; a known document is not sent again', () => {
    const first = must(afterLookUp(lost(), { trackIds: trackIds(), state: null }, at(4_000)));
    expect(stateIsNeeded(first, trackIds(), at(10_000))).toBe(false);
    expect(stateIsNeeded(first, trackIds(), at(304_000))).toBe(true);
    const known = { trackIds: trackIds(), state: documentState('Aceptado', 'aB+/12') };
    expect(afterLookUp(first, known, at(304_000))?.state).toBe('unknown');
  });

  it('when there is no answer, then it does not count as not found', () => {
    const next = must(afterLookUp(lost(), { trackIds: unknown('maybe'), state: null }, at(4_000)));
    expect(next).toMatchObject({ state: 'unknown', notFoundSince: null, failures: 2 });
  });

  it('when the environment offers no query, then an alarm is raised and it is not sent again', () => {
    const next = must(afterLookUp(lost(), { trackIds: NO_SERVICE, state: null }, at(4_000)));
    expect(next).toMatchObject({ state: 'unknown', alarm: 'no-query' });
    expect(due(next)).toBe(HOURS_72);
    const late = must(afterLookUp(next, { trackIds: NO_SERVICE, state: null }, at(HOURS_72)));
    expect([late.alarm, due(late)]).toEqual(['overdue', null]);
    expect(afterLookUp(late, { trackIds: NO_SERVICE, state: null }, at(80 * 3_600_000))?.alarm).toBe('overdue');
    expect(clearedToResend(next, at(9_000))).toMatchObject({ state: 'resend-due', alarm: null });
  });

  it('trackIds of earlier attempts are not adopted', () => {
    const past = [
      {
        attempt: 1,
        trackId: 'old',
        submittedAt: null,
        state: 'rejected-reusable',
        code: '2',
        messages: [],
        sequenceUsed: false,
        dateReceived: null,
        securityCode: 'before',
      },
    ] as const;
    // The authority did not know the first copy of the earlier attempt.
    const copy = { ...past[0], trackId: 'copy', state: 'not-found' } as const;
    const found = trackIds(['copy', 'EnProceso'], ['old', 'Rechazado']);
    const next = must(
      afterLookUp({ ...lost(), attempt: 2, past: [copy, ...past] }, { trackIds: found, state: null }, at(4_000)),
    );
    expect(next).toMatchObject({ state: 'unknown', trackId: null, notFoundSince: at(4_000).now });
  });

  it('an accepted document of another system under the number is not adopted', () => {
    const found = trackIds(['foreign', 'Aceptado']);
    expect(stateIsNeeded(lost(), found, at(4_000))).toBe(true);
    const next = must(afterLookUp(lost(), { trackIds: found, state: documentState('Aceptado', 'ZZZZZZ') }, at(4_000)));
    expect(next).toMatchObject({ state: 'unknown', trackId: null });
    const ours = must(afterLookUp(lost(), { trackIds: found, state: documentState('Aceptado', 'aB+/12') }, at(4_000)));
    expect(ours).toMatchObject({ state: 'processing', trackId: 'foreign' });
  });

  it('a rejected document of another system is not adopted either, and ours may be sent after two answers "not found"', () => {
    const found = trackIds(['foreign', 'Rechazado']);
    expect(stateIsNeeded(lost(), found, at(4_000))).toBe(true);
    for (const state of [documentState('Rechazado', 'ZZZZZZ'), documentState('No encontrado', null)]) {
      const first = must(afterLookUp(lost(), { trackIds: found, state }, at(4_000)));
      expect(first).toMatchObject({ state: 'unknown', trackId: null, notFoundSince: at(4_000).now });
      expect(afterLookUp(first, { trackIds: found, state }, at(304_000))?.state).toBe('resend-due');
    }
    const ours = must(afterLookUp(lost(), { trackIds: found, state: documentState('Rechazado', 'aB+/12') }, at(4_000)));
    expect(ours).toMatchObject({ state: 'processing', trackId: 'foreign' });
  });

  it('the latest of several submissions with the state of our document is its own', () => {
    const ours = (status: 'Aceptado' | 'Rechazado') => documentState(status, 'aB+/12');
    const adopted = (state: ReturnType<typeof documentState>, ...listed: Parameters<typeof trackIds>) =>
      must(afterLookUp(lost(), { trackIds: trackIds(...listed), state }, at(4_000))).trackId;
    expect(adopted(ours('Rechazado'), ['foreign', 'Rechazado'], ['own', 'Rechazado'])).toBe('own');
    expect(adopted(ours('Rechazado'), ['foreign', 'Aceptado'], ['own', 'Rechazado'])).toBe('own');
    expect(adopted(ours('Aceptado'), ['own', 'AceptadoCondicional'], ['foreign', 'Rechazado'])).toBe('own');
    expect(adopted(ours('Aceptado'), ['own', 'EnProceso'], ['foreign', 'Rechazado'])).toBe('own');
    // The query finds it rejected, but lists only another system's document: ours is not listed yet.
    expect(adopted(ours('Rechazado'), ['foreign', 'Aceptado'])).toBeNull();
  });

  it('a document received on an earlier day is not its own, whatever its state', () => {
    const on = (dateReceived: string) =>
      verdict<TrackIdList>({ found: true, trackIds: [{ trackId: 'early', status: 'EnProceso', dateReceived }] });
    const before = must(afterLookUp(lost(), { trackIds: on('2026-06-14T00:00:00-04:00'), state: null }, at(4_000)));
    expect(before).toMatchObject({ state: 'unknown', trackId: null });
    const sameDay = must(afterLookUp(lost(), { trackIds: on('2026-06-15T00:00:00-04:00'), state: null }, at(4_000)));
    expect(sameDay).toMatchObject({ state: 'processing', trackId: 'early' });
  });

  it('a document of an earlier day with the same security code is its own: a clock may be wrong', () => {
    const dateReceived = '2026-05-06T00:00:00-04:00';
    const early = (status: 'Aceptado' | 'Rechazado' | 'EnProceso') =>
      verdict<TrackIdList>({ found: true, trackIds: [{ trackId: 'early', status, dateReceived }] });
    const after = (state: ReturnType<typeof documentState>) =>
      must(afterLookUp(lost(), { trackIds: early('Aceptado'), state }, at(4_000)));
    expect(stateIsNeeded(lost(), early('Aceptado'), at(4_000))).toBe(true);
    expect(stateIsNeeded(lost(), early('EnProceso'), at(4_000))).toBe(true);
    expect(after(documentState('Aceptado', 'aB+/12'))).toMatchObject({ state: 'processing', trackId: 'early' });
    expect(after(documentState('Aceptado', 'ZZZZZZ'))).toMatchObject({ state: 'unknown', trackId: null });
    expect(after(documentState('No encontrado', null))).toMatchObject({ state: 'unknown', trackId: null });
    const arrived = must(
      afterResult(must(afterReceipt(resending(), receipt('copy-2'), at(0))), result('Rechazado', REPEATED), at(1_000)),
    );
    const foreign = { trackIds: early('Rechazado'), state: documentState('No encontrado', null) };
    expect(afterLookUp(arrived, foreign, at(2_000))).toMatchObject({ state: 'arrived', trackId: null });
  });

  it('when the receipt comes late, its trackId counts', () => {
    expect(afterReceipt(lost(), receipt('late'), at(40_000))).toMatchObject({ state: 'processing', trackId: 'late' });
  });

  it('when the receipt comes after the trackId was found, it changes nothing', () => {
    const found = must(afterLookUp(lost(), { trackIds: trackIds(['t', 'EnProceso']), state: null }, at(4_000)));
    expect(afterReceipt(found, receipt('t'), at(40_000))).toBeNull();
    expect(afterReceipt(found, receipt('other'), at(40_000))?.past.map(({ trackId }) => trackId)).toEqual(['other']);
  });
});

describe('given a full document that was sent again', () => {
  const resent = () => must(afterReceipt(resending(), receipt('copy-2'), at(305_000)));

  it('when the copy is refused as used (1209), then the first copy arrived and its verdict is looked up', () => {
    const arrived = must(afterResult(resent(), result('Rechazado', REPEATED), at(310_000)));
    expect(arrived).toMatchObject({ state: 'arrived', trackId: null });
    expect(arrived.past.map(({ trackId, state }) => [trackId, state])).toEqual([['copy-2', 'rejected-used']]);

    const nothing = must(
      afterLookUp(arrived, { trackIds: trackIds(['copy-2', 'Rechazado']), state: null }, at(311_000)),
    );
    expect(nothing.state).toBe('arrived');
    const found = trackIds(['copy-2', 'Rechazado'], ['copy-1', 'Aceptado']);
    const adopted = must(
      afterLookUp(nothing, { trackIds: found, state: documentState('Aceptado', 'aB+/12') }, at(700_000)),
    );
    expect(adopted).toMatchObject({ state: 'processing', trackId: 'copy-1' });
    expect(afterResult(adopted, result('Aceptado'), at(701_000))?.state).toBe('accepted');
  });

  it('when the first copy was rejected, it is found although its state is unknown', () => {
    const arrived = must(afterResult(resent(), result('Rechazado', REPEATED), at(310_000)));
    const found = { trackIds: trackIds(['copy-1', 'Rechazado'], ['copy-2', 'Rechazado']) };
    const unknownByData = { ...found, state: documentState('No encontrado', null) };
    expect(afterLookUp(arrived, unknownByData, at(311_000))).toMatchObject({ state: 'processing', trackId: 'copy-1' });
    const foreign = { ...found, state: documentState('Rechazado', 'ZZZZZZ') };
    expect(afterLookUp(arrived, foreign, at(311_000))).toMatchObject({ state: 'rejected-used', trackId: 'copy-2' });
  });

  it('when the first copy is not found for a long time, then it is not sent a third time', () => {
    let attempt = must(afterResult(resent(), result('Rechazado', REPEATED), at(310_000)));
    for (let hours = 1; hours < 80; hours += 1) {
      attempt = must(
        afterLookUp(attempt, { trackIds: trackIds(['copy-2', 'Rechazado']), state: null }, at(hours * 3_600_000)),
      );
      expect(attempt.state).toBe('arrived');
    }
    expect(attempt.alarm).toBe('overdue');
  });

  it('when the number turns out to belong to a foreign document, then the refusal was the verdict', () => {
    const arrived = must(afterResult(resent(), result('Rechazado', REPEATED), at(310_000)));
    const found = {
      trackIds: trackIds(['copy-2', 'Rechazado'], ['foreign', 'Aceptado']),
      state: documentState('Aceptado', 'ZZZZZZ'),
    };
    expect(afterLookUp(arrived, found, at(311_000))).toMatchObject({ state: 'rejected-used', trackId: 'copy-2' });
  });

  /** The authority did not know its trackId, so an operator had it sent again. */
  function sentAgainByOperator(): Attempt {
    const notFound = must(afterResult(processing('copy-1'), result('No encontrado'), at(6_000)));
    return beginSend(clearedToResend(notFound, at(HOURS_72)), at(HOURS_72), 'me', 60_000);
  }

  it('by an operator, and the copy is refused as used, then the first trackId is looked up and adopted', () => {
    const copy = must(afterReceipt(sentAgainByOperator(), receipt('copy-2'), at(HOURS_72)));
    const found = trackIds(['copy-1', 'Aceptado'], ['copy-2', 'Rechazado']);
    for (const awaited of [copy, must(afterResult(copy, result('No encontrado'), at(HOURS_72)))]) {
      const arrived = must(afterResult(awaited, result('Rechazado', REPEATED), at(HOURS_72)));
      expect(arrived.state).toBe('arrived');
      expect(stateIsNeeded(arrived, found, at(HOURS_72))).toBe(true);
      const ours = { trackIds: found, state: documentState('Aceptado', 'aB+/12') };
      const adopted = must(afterLookUp(arrived, ours, at(HOURS_72)));
      expect(adopted).toMatchObject({ state: 'processing', trackId: 'copy-1', past: [{ trackId: 'copy-2' }] });
      expect(afterResult(adopted, result('Aceptado'), at(HOURS_72))?.state).toBe('accepted');
      const foreign = { trackIds: found, state: documentState('Aceptado', 'ZZZZZZ') };
      expect(afterLookUp(arrived, foreign, at(HOURS_72))).toMatchObject({ state: 'rejected-used', trackId: 'copy-2' });
    }
  });

  it('by an operator, and its answer is lost, then the first trackId may turn up', () => {
    const again = must(afterReceipt(sentAgainByOperator(), unknown('maybe'), at(HOURS_72)));
    const found = { trackIds: trackIds(['copy-1', 'EnProceso']), state: null };
    const adopted = must(afterLookUp(again, found, at(HOURS_72)));
    expect(adopted).toMatchObject({ state: 'processing', trackId: 'copy-1', past: [], lostSends: 2 });
    // A copy that counts as lost is not counted again.
    const notFound = must(afterResult(adopted, result('No encontrado'), at(HOURS_72)));
    expect(clearedToResend(notFound, at(HOURS_72)).lostSends).toBe(2);
  });

  it('when the trackId of the first copy came late, and the second is refused as used, then the first is adopted', () => {
    const late = must(afterReceipt(resent(), receipt('copy-1'), at(306_000)));
    const arrived = must(afterResult(late, result('Rechazado', REPEATED), at(310_000)));
    const found = { trackIds: trackIds(['copy-1', 'EnProceso'], ['copy-2', 'Rechazado']), state: null };
    expect(afterLookUp(arrived, found, at(311_000))).toMatchObject({ state: 'processing', trackId: 'copy-1' });
  });

  it('when it is lost again, then two new answers "not found" are needed', () => {
    const again = must(afterReceipt(resending(), unknown('maybe'), at(305_000)));
    expect(again).toMatchObject({ state: 'unknown', lostSends: 2, notFoundSince: null });
  });

  it("when the caller's token is refused, then an earlier copy may still be in flight", () => {
    expect(tokenRefused(resending(), at(305_000)).state).toBe('resend-due');
  });

  it('when a rejection on content comes, then it is the verdict', () => {
    const rejected = result('Rechazado', { messages: [{ codigo: '615', valor: 'x' }], sequenceUsed: true });
    expect(afterResult(resent(), rejected, at(310_000))?.state).toBe('rejected-used');
  });
});

describe('given a document in process', () => {
  it.each([
    [result('Aceptado', { sequenceUsed: true }), 'accepted'],
    [result('AceptadoCondicional'), 'conditional'],
    [result('Rechazado', { sequenceUsed: true }), 'rejected-used'],
    [result('Rechazado', { sequenceUsed: false }), 'rejected-reusable'],
    [result('Rechazado', { sequenceUsed: null }), 'rejected-used'],
    [result('Rechazado', REPEATED), 'rejected-used'],
  ])('when the verdict %j comes, then it is %s', (answer, state) => {
    const next = must(afterResult(processing(), answer, at(6_000)));
    expect(next).toMatchObject({ state, nextActionAt: null, owner: null });
  });

  it('a number refused as used is never reusable, whatever the flag says', () => {
    const next = must(afterResult(processing(), result('Rechazado', REPEATED), at(6_000)));
    expect(EMISSION_STATES[next.state].sequenceUsed).toBe(true);
    expect(isNumberReusable({ status: 'Rechazado', ...REPEATED })).toBe(false);
  });

  it('when it is still in process, then it is due only when it is overdue', () => {
    const next = must(afterResult(processing(), result('EnProceso'), at(6_000)));
    expect([next.state, due(next)]).toEqual(['processing', HOURS_72]);
    const late = undecided(next, null, at(HOURS_72));
    expect([late.alarm, due(late)]).toEqual(['overdue', null]);
  });

  it('signed in contingency, it is due at its deadline, also if that is set later', () => {
    const waiting = { ...processing(), contingencySince: NOW, deadline: null };
    const next = must(afterResult(waiting, result('EnProceso'), at(6_000)));
    expect(due(next)).toBe(6_000 + HOURS_72);
    const deadline = new Date(NOW.getTime() + HOURS_72 + 5_000);
    expect(due(undecided({ ...next, deadline }, null, at(7_000)))).toBe(HOURS_72 + 5_000);
    expect(undecided({ ...next, deadline }, null, at(6_000 + HOURS_72)).alarm).toBe('contingency-late');
  });

  it('when the authority does not know its trackId, then the state says so, and a later result counts', () => {
    const next = must(afterResult(processing(), result('No encontrado'), at(6_000)));
    expect(next.state).toBe('not-found');
    expect(afterResult(next, result('Aceptado'), at(60_000))?.state).toBe('accepted');
  });

  it('past 72 hours an alarm is raised, and a later result still counts', () => {
    const next = must(afterResult(processing(), result('EnProceso'), at(73 * 3_600_000)));
    expect(next.alarm).toBe('overdue');
    expect(afterResult(next, result('Aceptado'), at(74 * 3_600_000))).toMatchObject({ state: 'accepted', alarm: null });
  });

  it('past 72 hours of sends that do not arrive or whose answer is lost, an alarm is raised once and stays', () => {
    const hours = (count: number) => at(count * 3_600_000);
    let attempt = sending();
    let raised = 0;
    for (let age = 1; age < 80; age += 1) {
      const next = must(afterReceipt(attempt, unknown(age % 2 === 0 ? 'maybe' : 'no'), hours(age)));
      expect(next.alarm).toBe(age >= 72 ? 'overdue' : null);
      if (next.alarm !== attempt.alarm) raised += 1;
      attempt = beginSend(next.state === 'unknown' ? clearedToResend(next, hours(age)) : next, hours(age), 'me', 1);
    }
    expect(raised).toBe(1);
    const taken = must(afterReceipt(attempt, receipt('t'), hours(80)));
    expect(taken).toMatchObject({ state: 'processing', alarm: 'overdue' });
    expect(afterResult(taken, result('Aceptado'), hours(81))).toMatchObject({ state: 'accepted', alarm: null });
  });

  it('past 72 hours the alarm replaces one of another kind, stays, and is raised by the next send too', () => {
    const hours = (count: number) => at(count * 3_600_000);
    const waiting = must(afterReceipt(sending(), unknown('no'), hours(1)));
    const without = postponed(waiting, hours(2), null, 'no-certificate');
    expect(without.alarm).toBe('no-certificate');
    const late = postponed(without, hours(73), null, 'no-certificate');
    expect([late.alarm, changesPublished(without, late)]).toEqual(['overdue', true]);
    expect(postponed(late, hours(74), null, 'no-certificate').alarm).toBe('overdue');
    expect(beginSend(waiting, hours(73), 'me', 1).alarm).toBe('overdue');
  });

  it('when it is decided, then it never changes', () => {
    const accepted = must(afterResult(processing(), result('Aceptado'), at(6_000)));
    expect(afterResult(accepted, result('Rechazado', { sequenceUsed: true }), at(7_000))).toBeNull();
    expect(afterReceipt(accepted, receipt('another'), at(7_000))?.state).toBe('accepted');
    expect(() => postponed({ ...accepted, state: 'accepted' }, at(8_000))).not.toThrow();
  });
});

describe('given a consumer summary that is being sent', () => {
  it.each([
    [result('Aceptado', { sequenceUsed: true }), 'accepted'],
    [result('AceptadoCondicional'), 'conditional'],
    [result('Rechazado', { sequenceUsed: true }), 'rejected-used'],
    [result('Rechazado', { sequenceUsed: false }), 'rejected-reusable'],
    [result('EnProceso'), 'unknown'],
    [unknown('maybe'), 'unknown'],
    [unknown('no'), 'committed'],
    [UNAUTHORIZED, 'committed'],
  ])('when %j comes, then it is %s', (answer, state) => {
    expect(afterSummary(sending(SUMMARY), answer, at(0))?.state).toBe(state);
  });

  it('when the authority answers 004, then the same bytes are sent again, a bounded number of times', () => {
    let attempt = sending(SUMMARY);
    for (let tries = 1; tries <= 2; tries += 1) {
      attempt = must(afterSummary(attempt, result('Rechazado', TRANSIENT), at(tries * 1_000)));
      expect(attempt).toMatchObject({ state: 'resend-due', transientRefusals: tries });
      expect((due(attempt) as number) - tries * 1_000).toBeLessThanOrEqual(1_000);
      attempt = beginSend(attempt, at(tries * 1_000 + 500), 'me', 60_000);
    }
    const last = must(afterSummary(attempt, result('Rechazado', TRANSIENT), at(9_000)));
    expect(last.state).toBe('rejected-reusable');
  });

  it('when it was lost and is known, then its verdict is adopted', () => {
    const unknownOutcome = must(afterSummary(sending(SUMMARY), unknown('maybe'), at(0)));
    expect(afterSummaryQuery(unknownOutcome, result('Aceptado'), at(4_000))?.state).toBe('accepted');
  });

  it('when a resend is refused because the pair was used, then the first copy is looked up', () => {
    const unknownOutcome = must(afterSummary(sending(SUMMARY), unknown('maybe'), at(0)));
    const first = must(afterSummaryQuery(unknownOutcome, result('No encontrado'), at(4_000)));
    expect(first.state).toBe('unknown');
    const cleared = must(afterSummaryQuery(first, result('No encontrado'), at(304_000)));
    expect(cleared.state).toBe('resend-due');
    const again = beginSend(cleared, at(304_001), 'me', 60_000);
    const used = {
      messages: [{ codigo: '', valor: 'La combinación e-NCF y código de seguridad ya han sido utilizados' }],
      sequenceUsed: false,
    };
    const arrived = must(afterSummary(again, result('Rechazado', used), at(305_000)));
    expect(arrived.state).toBe('arrived');
    expect(afterSummaryQuery(arrived, result('Aceptado'), at(306_000))?.state).toBe('accepted');
  });

  it('when a first send is refused as used, then another document has the number', () => {
    expect(afterSummary(sending(SUMMARY), result('Rechazado', REPEATED), at(0))?.state).toBe('rejected-used');
  });

  it('when a new attempt is refused because its rejected predecessor used the pair, then the number stays free', () => {
    const used = {
      messages: [{ codigo: '75', valor: 'La combinación e-NCF y código de seguridad ya han sido utilizados' }],
      sequenceUsed: true,
    };
    const rejected = must(afterSummary(sending(SUMMARY), result('Rechazado', { sequenceUsed: false }), at(0)));
    expect(rejected.state).toBe('rejected-reusable');
    const again = beginAttempt(fresh(SUMMARY), rejected, 1, at(500), { owner: 'me', leaseMs: 60_000, held: false });
    const refused = must(afterSummary(again, result('Rechazado', used), at(600)));
    expect(refused.state).toBe('rejected-reusable');
    expect(refused.verdict.messages).toEqual([
      ...used.messages,
      { codigo: 'gateway', valor: expect.stringContaining('submit the document again, signed at another time') },
    ]);
    expect(afterSummary(again, result('Rechazado', REPEATED), at(600))?.state).toBe('rejected-used');
    expect(afterSummary(sending(SUMMARY), result('Rechazado', used), at(600))?.state).toBe('rejected-used');
  });

  it('when the pair is used and none of our rejected attempts had it, then another document has the number', () => {
    const used = {
      messages: [{ codigo: '75', valor: 'La combinación e-NCF y código de seguridad ya han sido utilizados' }],
      sequenceUsed: false,
    };
    const rejected = must(afterSummary(sending(SUMMARY), result('Rechazado', { sequenceUsed: false }), at(0)));
    const begin = (securityCode: string) =>
      beginAttempt(fresh({ ...SUMMARY, facts: { ...fresh().facts, securityCode } }), rejected, 1, at(500), {
        owner: 'me',
        leaseMs: 60_000,
        held: false,
      });
    const again = begin('zz+/99');
    expect(afterSummary(again, result('Rechazado', used), at(600))?.state).toBe('rejected-used');
    // The authority's temporary failure may have taken the pair, so it stays used too.
    const failed = must(afterSummary(again, result('Rechazado', TRANSIENT), at(600)));
    const resent = beginSend(failed, at(700), 'me', 60_000);
    expect(afterSummary(resent, result('Rechazado', used), at(800))?.state).toBe('rejected-used');
    const both = { messages: [...REPEATED.messages, ...used.messages], sequenceUsed: false };
    expect(afterSummary(begin('aB+/12'), result('Rechazado', both), at(600))?.state).toBe('rejected-used');
  });

  it('when the verdict comes after the send was given up, then it counts', () => {
    const given = must(sendLost(sending(SUMMARY), at(60_000)));
    expect(afterSummary(given, result('Aceptado'), at(61_000))?.state).toBe('accepted');
  });
});

describe('given a document that waits because the authority limits calls (status 429)', () => {
  const limited = (limit: 'taxpayer' | 'service') => ({ ...unknown('no', 120_000), limit }) as Answer<never>;
  const entry = (whose: string, at: string) => ({
    codigo: 'gateway',
    valor: `The authority limits the calls of ${whose} at present (status 429). The document is stored; the next try is at ${at}.`,
  });
  const WAITS = { state: 'committed', nextActionAt: at(120_000).now };

  it('says whom the authority limits and when the next try is, which is published', () => {
    const before = sending();
    const after = must(afterReceipt(before, limited('taxpayer'), at(0)));
    expect(after).toMatchObject(WAITS);
    expect(after.verdict.messages).toEqual([entry('this taxpayer', toIsoDominican(at(120_000).now))]);
    expect(changesPublished(before, after)).toBe(true);
    const ofAll = must(afterSummary(sending(SUMMARY), limited('service'), at(0)));
    expect(ofAll.verdict.messages).toEqual([entry('all taxpayers', toIsoDominican(at(120_000).now))]);
  });

  it('says so once, and no longer when another answer comes', () => {
    const first = must(afterReceipt(sending(), limited('taxpayer'), at(0)));
    const again = must(afterReceipt(beginSend(first, at(120_000), 'me', 1), limited('taxpayer'), at(120_000)));
    expect(again.verdict.messages).toEqual([entry('this taxpayer', toIsoDominican(at(240_000).now))]);
    const resent = beginSend(again, at(240_000), 'me', 1);
    expect(must(afterReceipt(resent, receipt('t-1'), at(240_001))).verdict.messages).toEqual([]);
  });

  it('keeps its own time if it waited in the contingency queue and its taxpayer alone is limited', () => {
    const queued = { ...sending(), queuedAt: at(0).now, contingencySince: at(0).now };
    expect(must(afterReceipt(queued, limited('taxpayer'), at(0)))).toMatchObject(WAITS);
    expect(must(afterReceipt(queued, limited('service'), at(0)))).toMatchObject({ ...WAITS, nextActionAt: null });
  });
});

describe('given a document that waits because the authority did not answer, or answered oddly', () => {
  const NONE = 'No answer of the authority has come.';
  const ODD = 'The authority gave an answer that does not decide about the document.';
  const entry = (cause: string, attempt: Attempt) => ({
    codigo: 'gateway',
    valor: `${cause} The document is stored; the next try is at ${toIsoDominican(attempt.nextActionAt as Date)}.`,
  });
  const odd = (answer: Answer<never>): Answer<never> =>
    ({ ...answer, raw: { status: 500, contentType: 'text/html', body: '<html>', truncated: false } }) as Answer<never>;
  const says = (attempt: Attempt | null, cause: string) =>
    expect(must(attempt).verdict.messages).toEqual([entry(cause, must(attempt))]);

  it('says so with the time of the next try, on both routes, and publishes it', () => {
    for (const reached of ['no', 'maybe'] as const) {
      says(afterReceipt(sending(), unknown(reached), at(0)), NONE);
      says(afterSummary(sending(SUMMARY), unknown(reached), at(0)), NONE);
      says(afterReceipt(sending(), odd(unknown(reached)), at(0)), ODD);
    }
    says(afterReceipt(sending(), UNAUTHORIZED, at(0)), ODD);
    const before = sending();
    expect(changesPublished(before, must(afterReceipt(before, unknown('maybe'), at(0))))).toBe(true);
  });

  it('says so with the new time after each query for the lost send', () => {
    const lost = must(afterSummary(sending(SUMMARY), unknown('maybe'), at(0)));
    const unheard = must(afterSummaryQuery(lost, unknown('no'), at(4_000)));
    says(unheard, NONE);
    expect(unheard.verdict.messages).not.toEqual(lost.verdict.messages);
    says(afterSummaryQuery(unheard, result('No encontrado'), at(12_000)), NONE);
    says(afterSummaryQuery(unheard, odd(unknown('maybe')), at(12_000)), ODD);
    const document = must(afterReceipt(sending(), unknown('maybe'), at(0)));
    says(afterLookUp(document, { trackIds: unknown('no'), state: null }, at(4_000)), NONE);
    says(afterLookUp(document, { trackIds: trackIds(), state: null }, at(4_000)), NONE);
  });

  it('names no time if an operator has to decide first', () => {
    const document = must(afterReceipt(sending(), unknown('maybe'), at(0)));
    const left = must(afterLookUp(document, { trackIds: NO_SERVICE, state: null }, at(4_000)));
    expect(left.verdict.messages[0]?.valor).toContain('an operator has to decide what happens next');
  });

  it('no longer says so when the authority has taken or decided the document', () => {
    const lost = must(afterReceipt(sending(), unknown('no'), at(0)));
    const resent = beginSend(lost, at(4_000), 'me', 1);
    expect(must(afterReceipt(resent, receipt('t-1'), at(4_001))).verdict.messages).toEqual([]);
    const summary = must(afterSummary(sending(SUMMARY), unknown('maybe'), at(0)));
    expect(must(afterSummaryQuery(summary, result('Aceptado'), at(4_000))).verdict.messages).toEqual([]);
  });
});

describe('given a held note', () => {
  const held = { ...sending(), state: 'held', owner: null } as Attempt;

  it('when its document is accepted, then it is due now', () => {
    expect(afterReference(held, true, at(5), 'x')).toMatchObject({ state: 'committed', nextActionAt: at(5).now });
  });

  it('when its document is refused, then it is withdrawn and its number is free', () => {
    expect(afterReference(held, false, at(5), 'why')).toMatchObject({
      state: 'withdrawn',
      verdict: { messages: [{ valor: 'why' }] },
    });
  });
});

describe('changesPublished', () => {
  it('is false for a new schedule and true for a new state, trackId or verdict', () => {
    const attempt = processing();
    expect(changesPublished(attempt, postponed(attempt, at(1)))).toBe(false);
    expect(changesPublished(attempt, must(afterResult(attempt, result('Aceptado'), at(1))))).toBe(true);
    expect(changesPublished(sending(), processing())).toBe(true);
  });
});
