import type { EmissionState } from '@ecf/domain';
import { retryDelay } from '@ecf/domain';
import { describe, expect, it } from '@jest/globals';
import { archived } from '../../src/core/archive-path.js';
import type { Attempt } from '../../src/core/attempt/attempt.js';
import { beginAttempt } from '../../src/core/attempt/transitions.js';
import { refuseExpiredToken } from '../../src/core/credentials/token-source.js';
import { EmissionError, refuseFaults } from '../../src/core/errors.js';
import { createKeyedQueue } from '../../src/core/keyed-queue.js';
import type { Comparison } from '../../src/core/repeats/compare-documents.js';
import { numberConflict } from '../../src/core/repeats/conflicts.js';
import { decideRepeat } from '../../src/core/repeats/repeat.js';
import { readInvoice } from '../../src/core/submit/invoice-json.js';
import { checkNumberRanges } from '../../src/core/submit/number-ranges.js';
import { at, fresh, NOW, sending } from '../support/attempts.js';
import { type Document, example } from '../support/documents.js';

const DIFFERENT: Comparison = { count: 1, first: [] };
const decide = async (existing: Attempt | null, comparison: Comparison, lostRace = false) =>
  (await decideRepeat(existing, async () => comparison, lostRace)).outcome;
const SAME: Comparison = { count: 0, first: [] };

describe('decideRepeat', () => {
  const inState = (state: EmissionState) => ({ ...sending(), state });
  it('accepts a number that was never used', async () => {
    expect(await decide(null, SAME)).toBe('first');
  });
  it.each([
    ['rejected-reusable', 'new-attempt', 'new-attempt'],
    ['withdrawn', 'new-attempt', 'new-attempt'],
    ['rejected-used', 'same', 'conflict'],
    ['accepted', 'same', 'conflict'],
    ['conditional', 'same', 'conflict'],
    ['sending', 'same', 'conflict'],
    ['unknown', 'same', 'conflict'],
    ['processing', 'same', 'conflict'],
    ['held', 'same', 'conflict'],
    ['arrived', 'same', 'conflict'],
    ['not-found', 'same', 'conflict'],
  ] as const)('under a number that is %s: the same is %s, another is %s', async (state, same, other) => {
    expect(await decide(inState(state), SAME)).toBe(same);
    expect(await decide(inState(state), DIFFERENT)).toBe(other);
  });
});

describe('decideRepeat of a request that lost the race for its number', () => {
  const rejected = { ...sending(), state: 'rejected-reusable' as const };

  it('returns the rejection of the equal document that won, and nothing else', async () => {
    expect(await decide(rejected, SAME, true)).toBe('same');
    expect(await decide(rejected, SAME, false)).toBe('new-attempt');
    expect(await decide(rejected, DIFFERENT, true)).toBe('new-attempt');
    expect(await decide({ ...rejected, state: 'withdrawn' }, SAME, true)).toBe('new-attempt');
  });
});

describe('numberConflict', () => {
  const conflict = (change: Partial<Attempt>, comparison: Comparison) =>
    numberConflict({ ...sending(), ...change }, comparison).message;
  const total = { path: 'ECF.Encabezado.Totales.MontoTotal', stored: '11430.00', sent: '11500.00' };

  it('says first that the stored document is safe, names both values, and keeps another number for another sale', () => {
    expect(conflict({ state: 'accepted' }, { count: 1, first: [total] })).toBe(
      'The document stored as E310000000001 in TesteCF is safe: it is accepted (Aceptado). This one was not submitted, because it differs: ECF.Encabezado.Totales.MontoTotal is "11430.00" in the stored document and "11500.00" in this one. If this is the same sale, nothing is left to do. Use another number only for another sale.',
    );
    expect(conflict({ state: 'rejected-used' }, { count: 1, first: [total] })).toContain(
      'Send a corrected document under another number.',
    );
  });

  it('counts the elements that it does not name, and shows the part of a long value that differs', () => {
    const long = (end: string) => `${'x'.repeat(200)}${end}${'y'.repeat(200)}`;
    const message = conflict({}, { count: 7, first: [{ path: 'ECF.A', stored: long('1'), sent: long('2') }] });
    expect(message).toContain('it is in progress (EnProceso)');
    expect(message).toContain(`"…${'x'.repeat(15)}1${'y'.repeat(44)}…" in the stored document`);
    expect(message).toContain('; and 6 more elements');
    expect(conflict({}, { count: 1, first: [{ path: 'ECF.B', stored: null, sent: '1' }] })).toContain(
      'ECF.B is absent in the stored document and "1" in this one',
    );
  });
});

describe('readInvoice', () => {
  const ODD = ['  ', '1$-01-2026', '31-02-2026', '+1.0', '1e3', '\u00a0'];
  const types = ['31', '32', '32-large', '33', '34', '41', '43', '44', '45', '46', '47'];

  it.each(types)('an odd value anywhere in an example of type %s is accepted or refused, never a crash', (name) => {
    const document = example(`ecf-${name}`, 1);
    const mishaps: string[] = [];
    let taken = 0;
    for (const { holder, key, path } of leaves(document, ''))
      for (const odd of ODD) {
        const usual = holder[key];
        holder[key] = odd;
        try {
          readInvoice(document, 'TesteCF', NOW);
          taken += 1;
        } catch (error) {
          if (!(error instanceof EmissionError)) mishaps.push(`${path} ${JSON.stringify(odd)}: ${error}`);
        }
        holder[key] = usual;
      }
    expect(mishaps).toEqual([]);
    expect(taken).toBeGreaterThan(20);
  });

  it('refuses a required name of only blanks', () => {
    const blank = example('ecf-31', 1, (ecf) => {
      ecf.Encabezado.Emisor.RazonSocialEmisor = '  ';
    });
    expect(() => readInvoice(blank, 'TesteCF', NOW)).toThrow('ECF.Encabezado.Emisor.RazonSocialEmisor');
  });
});
