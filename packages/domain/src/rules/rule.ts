import type { Fault } from '../document/fault.js';
import type { EcfType } from '../identifiers.js';

/** The subject of a rule: a type of e-CF or one of the companion documents. */
export type DocumentKind = EcfType | 'RFCE' | 'ACECF' | 'ANECF' | 'ARECF';

/** `rejects`: the authority refuses the document, so it is not sent. `warns`: it is sent, and the answer has a warning. */
export type RuleVerdict = 'rejects' | 'warns';

/**
 * Why a rule may reject. `schema`: the official schema says so. `observed`: the authority was seen to reject with this code
 * or text, and no official certification case contradicts it. `description`: the technical description lists the case among
 * its rejections. A rule without one of them warns: our refusal costs the caller a document that might have passed.
 */
export interface Evidence {
  kind: 'schema' | 'observed' | 'description';
  /** The element of the schema, the code and text of the rejection, or the page and reason. */
  says: string;
}

/** A rule beyond the schemas, as data. */
export interface BusinessRule {
  /** Stable name, `business.*`. */
  name: `business.${string}`;
  /** The authority's message code, null if none is known. */
  code: string | null;
  appliesTo: readonly DocumentKind[];
  verdict: RuleVerdict;
  /** Each rule that rejects has it. */
  evidence?: Evidence;
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
export function faultOf(
  rule: Pick<BusinessRule, 'name' | 'code' | 'source' | 'verdict'>,
  path: string,
  message: string,
): Fault {
  const severity = rule.verdict === 'rejects' ? 'error' : 'warning';
  return { path, rule: rule.name, code: rule.code, message, source: rule.source, severity };
}

/** Says that the rule is broken at a path. */
export type Report = (path: string, message: string) => void;

/** A rule over a whole document. */
export interface DocumentRule<View> extends BusinessRule {
  check(document: View, report: Report): void;
}
