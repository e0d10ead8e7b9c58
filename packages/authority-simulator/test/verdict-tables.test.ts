import { AUTHORITY_MESSAGES, BUSINESS_RULES } from '@ecf/domain';
import { describe, expect, it } from '@jest/globals';
import { OBSERVED, REJECTED } from '../src/verdicts/decision.js';

const rules = (names: ReadonlySet<string>) => BUSINESS_RULES.filter(({ name }) => names.has(name));

describe('the verdicts on fields', () => {
  it('reject if the rule has evidence of a rejection', () => {
    expect(rules(REJECTED)).toHaveLength(REJECTED.size);
    expect(rules(REJECTED).filter(({ evidence }) => evidence === undefined)).toEqual([]);
  });

  it('observe if a conditional acceptance was seen, and compare lines by the published tolerance', () => {
    expect(rules(OBSERVED)).toHaveLength(OBSERVED.size);
    const seen = AUTHORITY_MESSAGES.filter(({ status }) => status === 'AceptadoCondicional').map(({ code }) => code);
    const others = rules(OBSERVED).filter(({ code }) => !seen.includes(code));
    expect(others.map(({ name }) => name)).toEqual(['business.line-amount']);
  });
});
