import { describe, expect, it } from '@jest/globals';
import { AUTHORITY_MESSAGES } from '../../src/authority-codes.js';
import { BUSINESS_RULES } from '../../src/rules/catalogue.js';
import { ISSUING_RULES } from '../../src/rules/issuing-rules.js';
import type { BusinessRule } from '../../src/rules/rule.js';
import { describeRules } from './cases.js';
import { COMPANION_CASES } from './companions.cases.js';
import { HEADER_CASES } from './header.cases.js';
import { LINE_CASES } from './lines.cases.js';
import { REFERENCE_CASES } from './references.cases.js';
import { TOTALS_CASES } from './totals.cases.js';

describeRules('header', HEADER_CASES);
describeRules('lines', LINE_CASES);
describeRules('totals', TOTALS_CASES);
describeRules('references', REFERENCE_CASES);
describeRules('companion documents', COMPANION_CASES);

const CASES = [HEADER_CASES, LINE_CASES, TOTALS_CASES, REFERENCE_CASES, COMPANION_CASES].flat();

/** Rejections in the catalogue of messages. */
const REJECTIONS = AUTHORITY_MESSAGES.filter(({ status }) => status === 'Rechazado');

describe('the rules', () => {
  const rules: readonly BusinessRule[] = [...BUSINESS_RULES, ...Object.values(ISSUING_RULES)];

  it('reject with evidence only, and warn without', () => {
    expect(rules.filter(({ verdict, evidence }) => (verdict === 'rejects') !== (evidence !== undefined))).toEqual([]);
  });

  it('count rejections in the catalogue of messages as observed', () => {
    for (const { name, code, evidence } of rules) {
      if (evidence?.kind !== 'observed') continue;
      const [, seen, text] = /^(?:no code|code (\w+))(?:, "(.+)")?$/.exec(evidence.says)!;
      expect([name, seen ?? null]).toEqual([name, code]);
      const known = REJECTIONS.filter((entry) => entry.code === code && entry.text.startsWith(text ?? ''));
      expect([name, known.length > 0]).toEqual([name, true]);
    }
  });

  it('each have a case', () => {
    const tested = new Set(CASES.map(({ rule }) => rule));
    expect(BUSINESS_RULES.map(({ name }) => name).filter((name) => !tested.has(name))).toEqual([]);
  });

  it('have their own names, a source, a date and a type they apply to', () => {
    expect(new Set(rules.map(({ name }) => name)).size).toBe(rules.length);
    for (const rule of rules) {
      expect(rule.name).toMatch(/^business\.[a-z0-9-]+$/);
      expect(rule.source).not.toBe('');
      expect(rule.since).toMatch(/^20\d\d-\d\d(-\d\d)?$/);
      expect(rule.appliesTo.length).toBeGreaterThan(0);
      expect(rule.summary).toMatch(/\.$/);
    }
  });
});
