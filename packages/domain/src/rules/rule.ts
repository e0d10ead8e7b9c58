import type { Fault } from '../document/fault.js';
import type { EcfType } from '../identifiers.js';

/** The subject of a rule: a type of e-CF or one of the companion documents. */
export type DocumentKind = EcfType | 'RFCE' | 'ACECF' | 'ANECF' | 'ARECF';

/** `rejects`: the authority would refuse the document, so it is not sent. `conditional`: it would accept it with observations. */
export type RuleVerdict = 'rejects' | 'conditional';

/** A rule beyond the schemas, as data. */
export interface BusinessRule {
  /** Stable name, `business.*`. */
  name: `business.${string}`;
  /** The authority's message code, null where none is known. */
  code: string | null;
  appliesTo: readonly DocumentKind[];
  verdict: RuleVerdict;
  /** Document and page, or how it was observed. */
  source: string;
  /** Date of the oldest text or observation known to carry the rule, as precise as it is known (`2025-10`, `2026-03-23`). */
  since: string;
  /** One sentence: what must hold. */
  summary: string;
}

/** Debit and credit notes. */
export const NOTES: readonly EcfType[] = ['33', '34'];

/** The fault, or warning, of a rule at a path of a document. */
export function faultOf(rule: Pick<BusinessRule, 'name' | 'code' | 'source'>, path: string, message: string): Fault {
  return { path, rule: rule.name, code: rule.code, message, source: rule.source };
}

/** Says that the rule is broken at a path. */
export type Report = (path: string, message: string) => void;

/** A rule over a whole document. */
export interface DocumentRule<View> extends BusinessRule {
  check(document: View, report: Report): void;
}
