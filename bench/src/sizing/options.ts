import { parseArgs } from 'node:util';
import type { Form } from './costs.js';

/** The load that is planned for. */
export interface Demand extends Form {
  /** Issued documents, as the mean over the year. */
  documentsPerHour: number;
  /** The busiest minute as a multiple of the mean. */
  peak: number;
  years: number;
  /** Milliseconds that the authority takes for an answer. */
  authorityMs: number;
}

interface Rule {
  key: keyof Demand;
  least: number;
  most: number;
  default?: number;
  whole?: boolean;
  meaning: string;
}

const RULES: Record<string, Rule> = {
  'documents-per-hour': {
    key: 'documentsPerHour',
    least: 1,
    most: 100_000_000,
    meaning: 'issued documents, as the mean over the year',
  },
  peak: { key: 'peak', least: 1, most: 100, default: 3, meaning: 'the busiest minute as a multiple of the mean' },
  lines: { key: 'lines', least: 1, most: 1_000, default: 10, whole: true, meaning: 'lines of a document' },
  'received-share': {
    key: 'receivedShare',
    least: 0,
    most: 10,
    default: 0.3,
    meaning: 'documents received, and as many delivered, for each issued one',
  },
  years: { key: 'years', least: 1, most: 30, default: 10, whole: true, meaning: 'years that documents are kept' },
  'authority-ms': {
    key: 'authorityMs',
    least: 1,
    most: 60_000,
    default: 500,
    meaning: 'milliseconds that the authority takes for an answer',
  },
};

/** A command line that cannot be used; its message says what is allowed. */
export class UsageError extends Error {}

/** Reads the options; throws UsageError with a sentence for each one at fault. */
export function readOptions(args: readonly string[]): { demand: Demand; json: boolean } {
  const { values, positionals, tokens } = parseArgs({
    args: [...args],
    strict: false,
    tokens: true,
    options: {
      json: { type: 'boolean' },
      ...Object.fromEntries(Object.keys(RULES).map((name) => [name, { type: 'string' as const }])),
    },
  });
  const faults: string[] = [];
  for (const [name, value] of Object.entries(values))
    if (name === 'json' && value !== true) faults.push('--json takes no value; write --json alone.');
    else if (name !== 'json' && RULES[name] === undefined)
      faults.push(
        `--${name} is not an option; remove it, or use one of ${Object.keys(RULES)
          .map((one) => `--${one}`)
          .join(', ')}, --json.`,
      );
  for (const word of positionals)
    faults.push(`"${word}" belongs to no option; write --documents-per-hour ${word}, or remove it.`);
  const demand = Object.entries(RULES).map(([name, rule]) => {
    const given = tokens.filter((token) => token.kind === 'option' && token.name === name);
    if (given.length > 1) faults.push(`--${name} is given ${given.length} times; give it once.`);
    return [rule.key, numberOf(name, rule, values[name], faults)];
  });
  if (faults.length > 0) throw new UsageError(faults.join('\n'));
  return { demand: Object.fromEntries(demand) as unknown as Demand, json: values.json === true };
}

function numberOf(name: string, rule: Rule, text: unknown, faults: string[]): number {
  const example = `--${name} ${rule.default ?? 1_000_000}`;
  const allowed = `${rule.whole ? 'a whole number' : 'a number'} from ${rule.least} to ${rule.most}`;
  if (text === undefined && rule.default !== undefined) return rule.default;
  if (text === undefined)
    faults.push(`--${name} is missing (${rule.meaning}); give ${allowed}, for example ${example}.`);
  else if (typeof text !== 'string') faults.push(`--${name} has no value; give ${allowed}, for example ${example}.`);
  else {
    const value = /^\d{1,12}(\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN;
    if (value >= rule.least && value <= rule.most && !(rule.whole && !Number.isInteger(value))) return value;
    faults.push(`--${name} is "${text}"; it must be ${allowed} (${rule.meaning}), for example ${example}.`);
  }
  return Number.NaN;
}
