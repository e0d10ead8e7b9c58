import { describe, expect, it } from '@jest/globals';
import {
  canTransition,
  EMISSION_STATES,
  EMISSION_TRANSITIONS,
  type EmissionEvent,
  type EmissionState,
  INVOICE_STATUSES,
  TransitionError,
  transition,
} from '../src/lifecycle.js';

/** The whole life cycle a second time, written by hand: state, event, next state. */
const MOVES = `
committed          send                    sending
committed          hold                    held
committed          withdraw                withdrawn
held               release                 committed
held               withdraw                withdrawn
sending            accepted                accepted
sending            accepted-conditionally  conditional
sending            rejected-reusable       rejected-reusable
sending            rejected-used           rejected-used
sending            in-process              processing
sending            not-reached             committed
sending            unauthorized            withdrawn
sending            outcome-unknown         unknown
sending            try-again               resend-due
unknown            accepted                accepted
unknown            accepted-conditionally  conditional
unknown            rejected-reusable       rejected-reusable
unknown            rejected-used           rejected-used
unknown            in-process              processing
unknown            not-found               unknown
unknown            cleared-to-resend       resend-due
resend-due         accepted                accepted
resend-due         accepted-conditionally  conditional
resend-due         rejected-reusable       rejected-reusable
resend-due         rejected-used           rejected-used
resend-due         in-process              processing
resend-due         send                    resending
resend-due         withdraw                withdrawn
resending          accepted                accepted
resending          accepted-conditionally  conditional
resending          rejected-reusable       rejected-reusable
resending          rejected-used           rejected-used
resending          in-process              processing
resending          not-reached             resend-due
resending          unauthorized            resend-due
resending          outcome-unknown         unknown
resending          try-again               resend-due
resending          refused-as-repeat       arrived
arrived            accepted                accepted
arrived            accepted-conditionally  conditional
arrived            rejected-reusable       rejected-reusable
arrived            rejected-used           rejected-used
arrived            in-process              processing
arrived            not-found               arrived
processing         accepted                accepted
processing         accepted-conditionally  conditional
processing         rejected-reusable       rejected-reusable
processing         rejected-used           rejected-used
processing         in-process              processing
processing         not-found               not-found
processing         refused-as-repeat       arrived
not-found          accepted                accepted
not-found          accepted-conditionally  conditional
not-found          rejected-reusable       rejected-reusable
not-found          rejected-used           rejected-used
not-found          in-process              processing
not-found          not-found               not-found
not-found          cleared-to-resend       resend-due
not-found          refused-as-repeat       arrived
rejected-reusable  new-attempt             committed
withdrawn          new-attempt             committed
`
  .trim()
  .split('\n')
  .map((line) => line.split(/\s+/) as [EmissionState, EmissionEvent, EmissionState]);

const STATES = Object.keys(EMISSION_STATES) as EmissionState[];
const EVENTS = [...new Set(MOVES.map(([, event]) => event))];

describe('the life cycle of an emission', () => {
  it.each(MOVES)('%s + %s → %s', (state, event, next) => {
    expect(transition(state, event)).toBe(next);
  });

  it('has no other move', () => {
    const allowed = new Set(MOVES.map(([state, event]) => `${state} ${event}`));
    for (const state of STATES) {
      for (const event of EVENTS) {
        const known = allowed.has(`${state} ${event}`);
        expect(canTransition(state, event)).toBe(known);
        if (!known) expect(() => transition(state, event)).toThrow(TransitionError);
      }
      expect(Object.keys(EMISSION_TRANSITIONS[state]).every((event) => allowed.has(`${state} ${event}`))).toBe(true);
    }
  });

  it('never leaves acceptance, or a rejection that used the number', () => {
    for (const state of ['accepted', 'conditional', 'rejected-used'] as const) {
      expect(EMISSION_TRANSITIONS[state]).toEqual({});
    }
  });

  it('allows a new attempt only if no attempt is undecided and the number is free', () => {
    for (const state of STATES) {
      const { decided, sequenceUsed } = EMISSION_STATES[state];
      expect(canTransition(state, 'new-attempt')).toBe(decided && sequenceUsed === false);
    }
  });

  it('withdraws only attempts that the authority does not have', () => {
    const sources = STATES.filter((state) => Object.values(EMISSION_TRANSITIONS[state]).includes('withdrawn'));
    expect(sources).toEqual(['committed', 'held', 'sending', 'resend-due']);
  });

  it('sends only from states whose bytes are committed, and again only when cleared', () => {
    expect(STATES.filter((state) => canTransition(state, 'send'))).toEqual(['committed', 'resend-due']);
  });

  it('reaches every state from the first, and from every undecided state an end', () => {
    const reached = new Set<EmissionState>(['committed']);
    for (const state of reached) for (const next of Object.values(EMISSION_TRANSITIONS[state])) reached.add(next);
    expect([...reached].sort()).toEqual([...STATES].sort());
    for (const state of STATES.filter((name) => !EMISSION_STATES[name].decided)) {
      const ahead = new Set<EmissionState>([state]);
      for (const from of ahead) for (const next of Object.values(EMISSION_TRANSITIONS[from])) ahead.add(next);
      expect(ahead.has('accepted')).toBe(true);
    }
  });

  it('speaks the public words', () => {
    for (const { status, decided, sequenceUsed, next } of Object.values(EMISSION_STATES)) {
      expect(status === null || INVOICE_STATUSES.includes(status)).toBe(true);
      expect(sequenceUsed === null).toBe(!decided);
      expect(next === 'none').toBe(decided);
    }
    expect(EMISSION_STATES.processing.status).toBe('EnProceso');
    expect(EMISSION_STATES.conditional).toMatchObject({ status: 'AceptadoCondicional', sequenceUsed: true });
    expect(EMISSION_STATES['rejected-reusable']).toMatchObject({ status: 'Rechazado', sequenceUsed: false });
    expect(EMISSION_STATES.withdrawn).toMatchObject({ status: 'Rechazado', sequenceUsed: false });
  });
});
