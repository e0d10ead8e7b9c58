import { describe, expect, it } from '@jest/globals';
import { BUSINESS_RULES } from '../../src/rules/catalogue.js';
import { checkBusinessRules } from '../../src/rules/check.js';
import { type Changes, changed, example } from '../documents.js';

/** The present of the tests. */
export const NOW = new Date('2026-11-21T12:00:00Z');

/** One rule on one example: a change that breaks it, at which path, and changes that do not. */
export interface RuleCase {
  rule: string;
  on: string;
  breaks: Changes;
  at: string;
  keeps?: Changes;
}

/** Tests of a table of cases: the breaking change is reported as the rule says, the example itself and the keeping change are not. */
export function describeRules(title: string, cases: readonly RuleCase[]): void {
  describe(title, () => {
    it.each(cases.map((entry) => [entry.rule, entry.at, entry] as const))('%s at %s', (_rule, _at, entry) => {
      const rule = BUSINESS_RULES.find(({ name }) => name === entry.rule)!;
      const verdicts = checkBusinessRules(changed(example(entry.on), entry.breaks), { now: NOW });
      const [reported, silent] =
        rule.verdict === 'rejects' ? [verdicts.faults, verdicts.warnings] : [verdicts.warnings, verdicts.faults];
      expect(reported).toContainEqual(
        expect.objectContaining({ path: entry.at, rule: rule.name, code: rule.code, source: rule.source }),
      );
      expect(silent.filter((fault) => fault.rule === rule.name)).toEqual([]);
      expect(reportsOf(rule.name, entry.on, entry.keeps ?? {})).toEqual([]);
    });
  });
}

function reportsOf(rule: string, on: string, changes: Changes) {
  const { faults, warnings } = checkBusinessRules(changed(example(on), changes), { now: NOW });
  return [...faults, ...warnings].filter((fault) => fault.rule === rule);
}
