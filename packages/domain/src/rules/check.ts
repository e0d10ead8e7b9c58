import { type DocumentNode, groupOf } from '../document/document-tree.js';
import type { Fault } from '../document/fault.js';
import { ECF_TYPES } from '../identifiers.js';
import { ECF_LINE_RULES, ECF_RULES, rulesFor } from './catalogue.js';
import { APPROVAL_RULES, RECEIPT_RULES } from './companions/approval-rules.js';
import { CANCELLATION_RULES, CancellationView } from './companions/cancellation-rules.js';
import { SUMMARY_RULES, SummaryView } from './companions/summary-rules.js';
import { companionDates, DATE_RULES, ecfDates } from './date-rules.js';
import { EcfView, typeOf } from './ecf/ecf-view.js';
import { companionIdentity, ecfIdentity, IDENTITY_RULES } from './identity-rules.js';
import { type BusinessRule, type DocumentKind, type DocumentRule, faultOf, type Report } from './rule.js';
import { TOTALS_RULES } from './totals-rules.js';

/** The findings of the business rules: for faults the authority rejects the document, warnings never block. */
interface RuleVerdicts {
  faults: Fault[];
  warnings: Fault[];
}

/**
 * Checks a normalised tree of any document against the business rules. `now` is the present instant; signature times are
 * compared with it. The function does not check structure: it ignores missing and malformed elements. It finds nothing in an
 * e-CF with an unlisted TipoeCF, a seed or a foreign root. It never throws on a tree.
 */
export function checkBusinessRules(tree: DocumentNode, { now }: { now: Date }): RuleVerdicts {
  const verdicts = new Verdicts();
  const type = typeOf(tree);
  if (type !== null) checkEcf(new EcfView(tree, type, now), now, verdicts);
  for (const kind of COMPANIONS) {
    const root = groupOf(tree, kind);
    if (root) checkCompanion(kind, root, now, verdicts);
  }
  return { faults: verdicts.faults, warnings: verdicts.warnings };
}

const COMPANIONS = ['RFCE', 'ACECF', 'ANECF', 'ARECF'] as const;

type Companion = (typeof COMPANIONS)[number];

/** The rules of each kind of document, selected by their `appliesTo` alone. */
const RULES = new Map<DocumentKind, ReturnType<typeof rulesOf>>(
  [...ECF_TYPES, ...COMPANIONS].map((kind) => [kind, rulesOf(kind)]),
);

function rulesOf(kind: DocumentKind) {
  return {
    identity: rulesFor(IDENTITY_RULES, kind),
    dates: rulesFor(DATE_RULES, kind),
    document: rulesFor(ECF_RULES, kind),
    lines: rulesFor(ECF_LINE_RULES, kind),
    totals: rulesFor(TOTALS_RULES, kind),
  };
}

function checkEcf(ecf: EcfView, now: Date, verdicts: Verdicts): void {
  const rules = RULES.get(ecf.type)!;
  verdicts.apply(rules.identity, ecfIdentity(ecf));
  verdicts.apply(rules.dates, ecfDates(ecf, now));
  verdicts.apply(rules.document, ecf);
  for (const line of ecf.lines) {
    for (const rule of rules.lines) {
      verdicts.rule = rule;
      rule.checkLine(line, ecf, verdicts.report);
    }
  }
}

function checkCompanion(kind: Companion, root: DocumentNode, now: Date, verdicts: Verdicts): void {
  const rules = RULES.get(kind)!;
  verdicts.apply(rules.identity, companionIdentity(kind, root));
  verdicts.apply(rules.dates, companionDates(kind, root, now));
  if (kind === 'RFCE') {
    const summary = new SummaryView(root);
    verdicts.apply(SUMMARY_RULES, summary);
    verdicts.apply(rules.totals, summary);
  } else if (kind === 'ANECF') verdicts.apply(CANCELLATION_RULES, new CancellationView(root));
  else verdicts.apply(kind === 'ACECF' ? APPROVAL_RULES : RECEIPT_RULES, root);
}

/** A document with more faults than this is not helped by more of them. The structural check lists as many. */
const MAX_LISTED = 1000;

/** Collects what the rules report. */
class Verdicts {
  readonly faults: Fault[] = [];
  readonly warnings: Fault[] = [];
  rule: BusinessRule | null = null;

  readonly report: Report = (path, message) => {
    const rule = this.rule!;
    const isFault = rule.verdict === 'rejects';
    const list = isFault ? this.faults : this.warnings;
    if (list.length > MAX_LISTED) return;
    const isLast = list.length === MAX_LISTED;
    const more = `There are more than ${MAX_LISTED} ${isFault ? 'faults' : 'warnings'}; the others are not listed.`;
    list.push(faultOf(rule, path, isLast ? more : message));
  };

  apply<View>(rules: readonly DocumentRule<View>[], view: View): void {
    for (const rule of rules) {
      this.rule = rule;
      rule.check(view, this.report);
    }
  }
}
