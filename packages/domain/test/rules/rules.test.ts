import { describe, expect, it } from '@jest/globals';
import { BUSINESS_RULES, ECF_LINE_RULES, ECF_RULES, rulesFor } from '../../src/rules/catalogue.js';
import { EcfView, typeOf } from '../../src/rules/ecf-view.js';
import { ISSUING_RULES } from '../../src/rules/issuing-rules.js';
import type { BusinessRule } from '../../src/rules/rule.js';
import { type AskedRule, RuleList } from '../../src/rules/topics.js';
import { changed, example } from '../documents.js';
import { describeRules, NOW } from './cases.js';
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

describe('the rules', () => {
  it('each have a case', () => {
    const tested = new Set(CASES.map(({ rule }) => rule));
    expect(BUSINESS_RULES.map(({ name }) => name).filter((name) => !tested.has(name))).toEqual([]);
  });

  it('that are not asked, since a document holds none of their topics, would have said nothing', () => {
    let unasked = 0;
    for (const { on, breaks, keeps = {} } of CASES) {
      for (const tree of [example(on), changed(example(on), breaks), changed(example(on), keeps)]) {
        const type = typeOf(tree);
        if (type === null) continue;
        const ecf = new EcfView(tree, type, NOW);
        const report = (path: string, message: string) => expect({ path, message }).toBeNull();
        const others = <Rule extends BusinessRule & AskedRule>(rules: readonly Rule[]): Rule[] => {
          const asked = new Set(new RuleList(rules).about(ecf.topics));
          return rulesFor(rules, type).filter((rule) => !asked.has(rule));
        };
        for (const rule of others(ECF_RULES)) rule.check(ecf, report);
        const lineRules = others(ECF_LINE_RULES);
        for (const line of ecf.lines) for (const rule of lineRules) rule.checkLine(line, ecf, report);
        unasked += lineRules.length;
      }
    }
    expect(unasked).toBeGreaterThan(CASES.length);
  });

  it('have names of their own, a source, a date and a type they apply to', () => {
    const rules = [...BUSINESS_RULES, ...Object.values(ISSUING_RULES)];
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
