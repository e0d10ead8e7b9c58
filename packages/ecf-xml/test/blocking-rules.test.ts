import { BUSINESS_RULES, ECF_TYPES } from '@ecf/domain';
import { describe, expect, it } from '@jest/globals';
import { examineJson, writeXml } from '../src/index.js';
import { expectedOfXml } from './mutations/expected-xml.js';
import { Random } from './mutations/random.js';
import { MUTATION_SEED } from './mutations/settings.js';
import { withWhatIsAskedFor } from './variants/asked-for.js';
import { soundDocument } from './variants/sound-documents.js';

/** How many documents; a run by hand takes many thousand. */
const VARIANTS = Number(process.env.VARIANTS ?? 1_000);
const NOW = new Date('2026-11-21T12:00:00Z');
const SIGNATURE =
  '<Signature xmlns="http://www.w3.org/2000/09/xmldsig#"><SignatureValue>x</SignatureValue></Signature>';

describe(`documents that their schema accepts (MUTATION_SEED=${MUTATION_SEED} VARIANTS=${VARIANTS})`, () => {
  it('are blocked by rules with evidence alone, and by none when what these ask for is there', () => {
    const random = new Random(MUTATION_SEED);
    const blocked = new Map<string, number>();
    const stillBlocked: unknown[] = [];
    let passed = 0;
    for (let index = 0; index < VARIANTS; index++) {
      const type = ECF_TYPES[index % ECF_TYPES.length]!;
      const document = soundDocument(type, random, random.pick([0, 0.1, 0.3, 0.5, 0.8, 1]));
      const { faults } = examineJson(document, { now: NOW });
      const rules = new Set(faults.map(({ rule }) => rule));
      for (const rule of rules) blocked.set(rule, (blocked.get(rule) ?? 0) + 1);
      if (rules.size === 0) passed++;
      const complete = withWhatIsAskedFor(document, type);
      for (const { rule, path, message } of examineJson(complete, { now: NOW }).faults) {
        stillBlocked.push({ type, rule, path, message });
      }
      if (index % 20 === 0) {
        const xml = writeXml(document).output.replace('</ECF>', `${SIGNATURE}</ECF>`);
        expect({ xml, valid: expectedOfXml(xml) }).toEqual({ xml, valid: true });
      }
    }
    process.stderr.write(`${table(blocked, passed)}\nMUTATION_SEED=${MUTATION_SEED}\n`);
    expect(stillBlocked.slice(0, 5)).toEqual([]);
    const withEvidence = BUSINESS_RULES.filter(({ evidence }) => evidence !== undefined).map(({ name }) => name);
    expect([...blocked.keys()].filter((rule) => !(withEvidence as string[]).includes(rule))).toEqual([]);
  }, 3_600_000);
});

function table(blocked: ReadonlyMap<string, number>, passed: number): string {
  const rows = [...blocked].sort(([, one], [, other]) => other - one);
  return [
    `${VARIANTS} documents, ${passed} blocked by no rule; blocked (a document may count for several):`,
    ...rows.map(([rule, count]) => {
      const found = BUSINESS_RULES.find(({ name }) => name === rule);
      return `${String(count).padStart(7)}  ${rule.padEnd(44)} ${found?.evidence?.kind}: ${found?.evidence?.says}`;
    }),
  ].join('\n');
}
