import { describe, expect, it } from '@jest/globals';
import type { Attempt } from '../src/attempt/attempt.js';
import { afterReceipt, afterResult } from '../src/attempt/authority-answers.js';
import type { EmissionStore } from '../src/attempt/ports.js';
import { createRecorder } from '../src/attempt/recorder.js';
import { presentState } from '../src/attempt/submission-history.js';
import { beginAttempt, sendLost } from '../src/attempt/transitions.js';
import { givenToken } from '../src/credentials/token-source.js';
import { createWaits } from '../src/issue/await-verdict.js';
import { createFollowUp } from '../src/sending/follow-up.js';
import { createResolveByOperator } from '../src/sending/resolve-by-operator.js';
import { at, fresh, receipt, result, sending } from './support/attempts.js';
import { createInMemoryEmissionStore } from './support/emission-store.in-memory.js';

const TOKENS = { given: true, get: async () => 'token', refused: async () => false };
const REASON = [{ codigo: '3', valor: 'rechazado' }];
const REJECTED = result('Rechazado', { messages: REASON, sequenceUsed: false });

const must = (attempt: Attempt | null) => {
  if (attempt === null) throw new Error('nothing changed');
  return attempt;
};

/** A number with its first attempt, and the changes that others make to it. */
async function number(first: Attempt) {
  const store = createInMemoryEmissionStore(() => ({}) as never);
  await store.begin(first, null, []);
  const save = async (after: Attempt | null) => {
    const present = (await store.find(first)) as Attempt;
    expect(await store.save(present, must(after), [])).toBe(true);
    return must(after);
  };
  return {
    store,
    /** Rejects the first attempt, then stores another document under the number until it is accepted. */
    async movesOn(when = at(0)) {
      const present = (await store.find(first)) as Attempt;
      const sent =
        present.trackId === null
          ? await save(afterReceipt({ ...present, state: 'sending' }, receipt('t-1'), at(0)))
          : present;
      const rejected = await save(afterResult(sent, REJECTED, at(0)));
      const document = fresh({ contentHash: 'hash-2', facts: { ...first.facts, securityCode: 'other!' } });
      const second = beginAttempt(document, rejected, 1, when, { owner: 'other', leaseMs: 1, held: false });
      expect(await store.begin(second, null, [])).toBe(true);
      const received = await save(afterReceipt(second, receipt('t-2'), at(0)));
      await save(afterResult(received, result('Aceptado'), at(0)));
    },
  };
}

function portsOver(emissions: EmissionStore) {
  const { now, random, settings } = at(0);
  const observer = { decided() {}, alarm() {}, mismatchedAnswer() {}, submitted() {} } as never;
  const times = { clock: () => now, random, sleep: async () => undefined };
  const lease = { owner: 'me', revisionAfterRestore: () => 0, settings: { ...settings, leaseMs: 60_000 } };
  return {
    emissions,
    recorder: createRecorder({ emissions, observer, ...times, ...lease, pending: new Set() }),
    runs: { present: async () => 1 },
    observer,
    archive: { get: async () => Buffer.from('<ECF/>') },
    checkpoint: () => undefined,
    clock: times.clock,
  };
}

/** The waits of a caller; \`during\` happens while it sleeps, or while the authority is queried. */
function waitsOver(store: EmissionStore, during: { sleep?: () => Promise<void>; query?: () => Promise<void> }) {
  return createWaits({
    ...portsOver(store),
    authority: { queryResult: async () => during.query?.().then(() => REJECTED) } as never,
    followUp: {} as never,
    sleep: async () => during.sleep?.(),
    settings: { statusWaitMs: 60_000, sendTimeoutMs: 60_000 },
  });
}

const followUpOver = (store: EmissionStore) =>
  createFollowUp(portsOver(store) as never, undefined as never, async () => null);

const ENDED = {
  attempt: 1,
  state: 'rejected-reusable',
  trackId: 't-1',
  contentHash: 'hash-1',
  facts: { securityCode: 'aB+/12' },
  verdict: { code: '2', messages: REASON, sequenceUsed: false },
};
const processing = () => must(afterReceipt(sending(), receipt('t-1'), at(0)));

describe('a caller that waits for an attempt gets its outcome, although another document took the number', () => {
  it('when the authority is queried for the result', async () => {
    const { store, movesOn } = await number(processing());
    const waits = waitsOver(store, { query: movesOn });
    expect(await waits.queryOnce(processing(), 't-1', TOKENS as never)).toMatchObject(ENDED);
    expect(await store.find(processing())).toMatchObject({ attempt: 2, trackId: 't-2', state: 'accepted' });
  });

  it('when only the store is read, without a certificate for a query', async () => {
    const { store, movesOn } = await number(processing());
    const waits = waitsOver(store, { sleep: movesOn });
    expect(await waits.verdict(processing(), null)).toMatchObject(ENDED);
  });

  it('when another instance was sending it', async () => {
    const { store, movesOn } = await number(sending());
    const waits = waitsOver(store, { sleep: movesOn });
    expect(await waits.send(sending())).toMatchObject(ENDED);
  });

  it('when the follow-up sends it again', async () => {
    const attempt: Attempt = { ...processing(), state: 'resend-due', trackId: null };
    const { store, movesOn } = await number(attempt);
    const followUp = followUpOver(store);
    await movesOn();
    expect(await followUp.advance(attempt, TOKENS as never)).toMatchObject(ENDED);
  });
});

describe('a note that is held', () => {
  it.each([
    ['withdrawn, if another document took the number of its reference, by a clock that is behind', 2, 1, 'withdrawn'],
    ['released, if it refers to the document that has the number', 10, 2, 'committed'],
  ])('is %s', async (_what, takenAt, modifiedAttempt, state) => {
    const first = processing();
    const { store, movesOn } = await number(first);
    const modifies = 'TesteCF:199999991:E310000000001';
    const document = fresh({ encf: 'E340000000001', ecfType: '34', modifies, modifiedAttempt });
    const note = beginAttempt(document, null, 2, at(5), { owner: 'me', leaseMs: 1, held: true });
    expect(await store.begin(note, null, [])).toBe(true);
    await movesOn(at(takenAt));
    const followUp = followUpOver(store);
    expect(await followUp.advance(note)).toMatchObject({ encf: 'E340000000001', state });
  });
});

describe('an attempt in its present state', () => {
  const later = (past: Attempt['past']): Attempt => ({ ...sending(), attempt: 2, trackId: 't-2', past });
  const verdict = { code: '2', messages: REASON, sequenceUsed: false, dateReceived: null };
  const end = { ...verdict, attempt: 1, submittedAt: null, securityCode: 'before' };

  it('is the stored one if that is the same attempt, and unchanged if none is stored', () => {
    const found = { ...processing(), revision: 9 };
    expect(presentState(processing(), found)).toBe(found);
    expect(presentState(found, null)).toBe(found);
  });

  it.each([
    ['its end is not recorded', []],
    ['the history has only a copy of it', [{ ...end, trackId: 'copy', state: 'rejected-used' as const }]],
    [
      'the history has only other attempts',
      [{ ...end, attempt: 3, trackId: 't-3', state: 'rejected-reusable' as const }],
    ],
  ])('stays in process under its own trackId if %s', (_what, past) => {
    expect(presentState(processing(), later(past))).toEqual(processing());
  });

  it('is withdrawn if it ended as withdrawn', () => {
    const past = [{ ...end, trackId: null, state: 'withdrawn' as const }];
    expect(presentState(sending(), later(past))).toMatchObject({
      attempt: 1,
      state: 'withdrawn',
      trackId: null,
      owner: null,
    });
  });
});

describe('a decision of an operator about a document that moved on meanwhile', () => {
  it.each([{ action: 'adopt', trackId: 't-9' } as const, { action: 'resend' } as const])(
    'does not change it, and says so: %j',
    async (decision) => {
      const first = sendLost(sending(), at(0));
      const { store, movesOn } = await number(first);
      // Another document takes the number between the look-up and the change.
      const emissions = { ...store, find: async () => first };
      await movesOn();
      emissions.save = async (...change) => {
        emissions.find = store.find as never;
        return store.save(...change);
      };
      const authority = { queryResult: async () => result('EnProceso', { encf: first.encf }) };
      const documentTokens = async () => givenToken('token');
      const resolve = createResolveByOperator(emissions, portsOver(emissions).recorder, authority, documentTokens);
      expect(await resolve(first, decision)).toMatchObject({ applied: false, trackId: 't-1' });
    },
  );
});
