import type { EmissionState } from '@ecf/domain';
import { retryDelay } from '@ecf/domain';
import { describe, expect, it } from '@jest/globals';
import { type Attempt, archived, NO_VERDICT } from '../src/attempt/attempt.js';
import { beginAttempt } from '../src/attempt/transitions.js';
import { refuseExpiredToken } from '../src/credentials/token-source.js';
import { EmissionError, refuseFaults } from '../src/errors.js';
import type { Comparison } from '../src/issue/compare-documents.js';
import { readInvoice } from '../src/issue/invoice-json.js';
import { createKeyedQueue } from '../src/issue/keyed-queue.js';
import { decideRepeat, keyConflict, numberConflict } from '../src/issue/repeats.js';
import { checkNumberRanges } from '../src/numbers/number-ranges.js';
import { at, fresh, NOW, REPEATED, sending } from './support/attempts.js';
import { type Document, example } from './support/documents.js';

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
  ] as const)(
    'for a number that is %s takes the same document as %s and another one as %s',
    async (state, same, other) => {
      expect(await decide(inState(state), SAME)).toBe(same);
      expect(await decide(inState(state), DIFFERENT)).toBe(other);
    },
  );
});

describe('decideRepeat of a request that lost the race for its number', () => {
  const rejected = { ...sending(), state: 'rejected-reusable' as const };

  it('returns only the rejection of the equal document that won', async () => {
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
      'The document stored as E310000000001 in TesteCF is safe: it is accepted (Aceptado). This one was not submitted, because it differs: ECF.Encabezado.Totales.MontoTotal is "11430.00" in the stored document and "11500.00" in this one. If this is the same sale, you need not do anything. Use another number only for another sale.',
    );
    expect(conflict({ state: 'rejected-used' }, { count: 1, first: [total] })).toContain(
      'Send a corrected document under another number.',
    );
  });

  it('requires a look at the submission that the authority has under the number before another number is used', () => {
    const refused = { ...sending(), state: 'rejected-used', verdict: { ...NO_VERDICT, ...REPEATED } } as const;
    const look =
      'The authority has an earlier submission under E310000000001, perhaps of this very sale (GET /trackids/E310000000001 shows the refusal). Look for it at the authority first: if it is this sale and was not rejected, submit nothing more; otherwise submit this document';
    expect(conflict(refused, DIFFERENT)).toContain(`${look} under another number.`);
    expect(keyConflict(refused, DIFFERENT).message).toContain(`${look} under another number and key.`);
    expect(conflict(refused, DIFFERENT)).not.toContain('Send a corrected document');
  });

  it('shows a value with line feeds, quotes or half a character as one text', () => {
    const sent = `a "b"\nc${'\u{1f600}'.repeat(60)}`;
    const said = conflict({}, { count: 1, first: [{ path: 'ECF.A', stored: null, sent }] });
    expect(said).toContain('ECF.A is absent in the stored document and "a \\"b\\"\\nc');
    expect(said).not.toContain('\n');
    expect(Buffer.from(said).toString()).toBe(said);
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

  it.each(types)('accepts or refuses an odd value anywhere in an example of type %s, without a crash', (name) => {
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

/** Every text of a document, with its parent. */
function* leaves(value: Document, path: string): Generator<{ holder: Document; key: string; path: string }> {
  for (const key of Object.keys(value)) {
    const inner = `${path}.${key}`;
    if (typeof value[key] === 'object') yield* leaves(value[key], inner);
    else yield { holder: value, key, path: inner };
  }
}

describe('beginAttempt', () => {
  it('begins a second attempt after the first, and keeps the first among the past attempts', () => {
    const first = { ...sending(), state: 'rejected-reusable' as const, trackId: 't-1', revision: 5 };
    const second = beginAttempt(fresh({ contentHash: 'hash-2' }), first, 99, at(60_000), {
      owner: 'me',
      leaseMs: 1_000,
      held: false,
    });
    expect(second).toMatchObject({
      emissionId: 1,
      attempt: 2,
      revision: 6,
      state: 'sending',
      trackId: null,
      createdAt: NOW,
    });
    expect(second.past).toMatchObject([{ attempt: 1, trackId: 't-1', state: 'rejected-reusable' }]);
  });
  it('cannot begin after an attempt that has not ended', () => {
    expect(() => beginAttempt(fresh(), sending(), 1, at(0), { owner: 'me', leaseMs: 1, held: false })).toThrow();
  });
  it('holds a note without a lease', () => {
    expect(beginAttempt(fresh(), null, 1, at(0), { owner: 'me', leaseMs: 1, held: true })).toMatchObject({
      state: 'held',
      owner: null,
    });
  });
});

describe('retryDelay', () => {
  it('is within 5 seconds at first, doubles, and stays at one hour', () => {
    for (const random of [() => 0, () => 0.5, () => 0.999]) {
      expect(retryDelay(1, 4_000, random)).toBeLessThanOrEqual(5_000);
      expect(retryDelay(1, 4_000, random)).toBeGreaterThan(2_000);
      expect(retryDelay(40, 4_000, random)).toBeLessThanOrEqual(3_600_000);
      expect(retryDelay(40, 4_000, random)).toBeGreaterThan(2_600_000);
    }
    expect([1, 2, 3, 4].map((n) => retryDelay(n, 4_000, () => 0.5))).toEqual([4_000, 8_000, 16_000, 32_000]);
  });
});

describe('checkNumberRanges', () => {
  const key = { env: 'TesteCF', issuerRnc: '199999991', encf: 'E310000000005' } as const;
  const range = {
    env: 'TesteCF',
    ecf_type: '31',
    from: 'E310000000001',
    to: 'E310000000010',
    expires: '2028-12-31',
  } as const;
  const document = example('ecf-31', 5);
  const rules = (ranges: (typeof range)[], today = '2026-06-15') =>
    checkNumberRanges(ranges, key, '31', document, today).map(({ rule }) => rule);

  it('finds no fault without a range of that environment and type', () => {
    expect(rules([])).toEqual([]);
    expect(rules([{ ...range, env: 'eCF' as 'TesteCF', from: 'E310000000900' as 'E310000000001' }])).toEqual([]);
  });
  it('finds a wrong number, a wrong expiry and an expired range', () => {
    expect(rules([range])).toEqual([]);
    expect(rules([{ ...range, to: 'E310000000004' as 'E310000000010' }])).toEqual(['business.number-not-in-range']);
    expect(rules([{ ...range, expires: '2027-12-31' as '2028-12-31' }])).toEqual(['business.number-expiry']);
    expect(rules([range], '2029-01-01')).toEqual(['business.number-expired']);
    expect(rules([range], '2028-12-31')).toEqual([]);
  });
});

describe('refuseFaults', () => {
  it('requires another number only if the number is at fault', () => {
    const fault = (name: string) => ({
      path: `ECF.Encabezado.IdDoc.${name}`,
      rule: 'r',
      code: null,
      message: 'm',
      source: 's',
      severity: 'error' as const,
    });
    expect(() => refuseFaults([])).not.toThrow();
    expect(() => refuseFaults([fault('TipoPago')])).toThrow(/TipoPago\); .* under the same eNCF if it states one\.$/);
    expect(() => refuseFaults([fault('TipoPago'), fault('eNCF')])).toThrow(
      /2 faults .* under an eNCF that you may use\.$/,
    );
  });
});

describe('refuseExpiredToken', () => {
  const token = (exp: unknown) => `h.${Buffer.from(JSON.stringify({ exp })).toString('base64url')}.s`;
  it('refuses only a token that states its own expiry', () => {
    const seconds = NOW.getTime() / 1_000;
    expect(() => refuseExpiredToken(token(seconds - 61), NOW)).toThrow('expired');
    for (const fine of [token(seconds - 30), token(seconds + 60), token('x'), 'opaque', 'a.%.c', 'a..c']) {
      expect(() => refuseExpiredToken(fine, NOW)).not.toThrow();
    }
  });
});

describe('archived', () => {
  it('names the file by environment, kind, issuer, Dominican month, number and checksum', () => {
    const file = archived(
      'rfce',
      { env: 'eCF', issuerRnc: '199999991', encf: 'E320000000001' },
      Buffer.from('x'),
      new Date('2026-07-01T03:59:00Z'),
    );
    expect(file.path).toBe(`eCF/rfce/199999991/issued/2026/06/199999991E320000000001-${file.sha256.slice(0, 12)}.xml`);
  });
});

describe('createKeyedQueue', () => {
  it('runs work of one key in order and of several keys in parallel, also after failures', async () => {
    const inOrder = createKeyedQueue();
    const log: string[] = [];
    const work =
      (name: string, fail = false) =>
      async () => {
        log.push(`${name}+`);
        await new Promise((resolve) => setImmediate(resolve));
        log.push(`${name}-`);
        if (fail) throw new Error(name);
      };
    const all = await Promise.allSettled([
      inOrder('a', work('a1', true)),
      inOrder('a', work('a2')),
      inOrder('b', work('b1')),
    ]);
    expect(all.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
    expect(log.indexOf('a1-')).toBeLessThan(log.indexOf('a2+'));
    expect(log.indexOf('b1+')).toBeLessThan(log.indexOf('a1-'));
  });
});
