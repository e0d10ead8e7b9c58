import { describe, expect, it } from '@jest/globals';
import { BUSINESS_RULES } from '../../src/rules/catalogue.js';
import { checkBusinessRules } from '../../src/rules/check.js';
import { type Changes, changed, example } from '../documents.js';

/** The present time of the tests. */
export const NOW = new Date('2026-11-21T12:00:00Z');

/** A rule with an example: a change that breaks it, the expected path, and changes that keep it. */
export interface RuleCase {
  rule: string;
  on: string;
  breaks: Changes;
  at: string;
  keeps?: Changes;
}

/** Tests a table of cases: the breaking change is reported, the example and the keeping changes are not. */
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
      // Documents write dates as DD-MM-YYYY, so the texts about them do too.
      expect(reported.filter(({ message }) => /\d{4}-\d{2}-\d{2}/.test(message))).toEqual([]);
      expect(silent.filter((fault) => fault.rule === rule.name)).toEqual([]);
      expect(reportsOf(rule.name, entry.on, entry.keeps ?? {})).toEqual([]);
    });
  });
}

function reportsOf(rule: string, on: string, changes: Changes) {
  const { faults, warnings } = checkBusinessRules(changed(example(on), changes), { now: NOW });
  return [...faults, ...warnings].filter((fault) => fault.rule === rule);
}
