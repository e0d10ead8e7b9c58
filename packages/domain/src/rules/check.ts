import { type DocumentNode, groupOf } from '../document-tree.js';
import type { Fault } from '../fault.js';
import { ECF_TYPES } from '../identifiers.js';
import { APPROVAL_RULES, RECEIPT_RULES } from './approval-rules.js';
import { CANCELLATION_RULES, CancellationView } from './cancellation-rules.js';
import { ECF_LINE_RULES, ECF_RULES, rulesFor } from './catalogue.js';
import { companionDates, DATE_RULES, ecfDates } from './date-rules.js';
import { EcfView, typeOf } from './ecf-view.js';
import { companionIdentity, ecfIdentity, IDENTITY_RULES } from './identity-rules.js';
import { type BusinessRule, type DocumentKind, type DocumentRule, faultOf, type Report } from './rule.js';
import { SUMMARY_RULES, SummaryView } from './summary-rules.js';
import { RuleList } from './topics.js';
import { TOTALS_RULES } from './totals-rules.js';

/** What the rules beyond the schemas say: faults the authority would reject, warnings it would accept conditionally. */
export interface RuleVerdicts {
  faults: Fault[];
  warnings: Fault[];
}

/**
 * Checks a normalised tree of any document against the rules beyond the schemas. `now` is the present instant, against
 * which the signature time is judged. Structure is not judged here: a missing or malformed element is passed over, and
 * an e-CF whose TipoeCF is none of the ten, a seed or a foreign root has no verdicts at all. Never throws on a tree.
 */
export function checkBusinessRules(tree: DocumentNode, { now }: { now: Date }): RuleVerdicts {
  const verdicts = new Verdicts();
  if (groupOf(tree, 'ECF')) checkEcf(tree, now, verdicts);
  for (const kind of COMPANIONS) {
    const root = groupOf(tree, kind);
    if (root) checkCompanion(kind, root, now, verdicts);
  }
  return { faults: verdicts.faults, warnings: verdicts.warnings };
}

const COMPANIONS = ['RFCE', 'ACECF', 'ANECF', 'ARECF'] as const;

const RULES = new Map<DocumentKind, KindRules>([...ECF_TYPES, ...COMPANIONS].map((kind) => [kind, rulesOf(kind)]));

type KindRules = ReturnType<typeof rulesOf>;

function rulesOf(kind: DocumentKind) {
  return {
    identity: rulesFor(IDENTITY_RULES, kind),
    dates: rulesFor(DATE_RULES, kind),
    document: new RuleList(rulesFor(ECF_RULES, kind)),
    lines: new RuleList(rulesFor(ECF_LINE_RULES, kind)),
    totals: rulesFor(TOTALS_RULES, kind),
  };
}

function checkEcf(tree: DocumentNode, now: Date, verdicts: Verdicts): void {
  const type = typeOf(tree);
  if (type === null) return;
  const ecf = new EcfView(tree, type, now);
  const rules = RULES.get(type)!;
  verdicts.judge(rules.identity, ecfIdentity(ecf));
  verdicts.judge(rules.dates, ecfDates(ecf, now));
  verdicts.judge(rules.document.about(ecf.topics), ecf);
  const lineRules = rules.lines.about(ecf.topics);
  for (const line of ecf.lines) {
    for (const rule of lineRules) {
      verdicts.rule = rule;
      rule.checkLine(line, ecf, verdicts.report);
    }
  }
}

function checkCompanion(kind: (typeof COMPANIONS)[number], root: DocumentNode, now: Date, verdicts: Verdicts): void {
  const rules = RULES.get(kind)!;
  verdicts.judge(rules.identity, companionIdentity(kind, root));
  verdicts.judge(rules.dates, companionDates(kind, root, now));
  if (kind === 'RFCE') {
    const summary = new SummaryView(root);
    verdicts.judge(SUMMARY_RULES, summary);
    verdicts.judge(rules.totals, summary);
  } else if (kind === 'ANECF') verdicts.judge(CANCELLATION_RULES, new CancellationView(root));
  else verdicts.judge(kind === 'ACECF' ? APPROVAL_RULES : RECEIPT_RULES, root);
}

/** Collects what the rules report. */
class Verdicts {
  readonly faults: Fault[] = [];
  readonly warnings: Fault[] = [];
  rule: BusinessRule | null = null;

  readonly report: Report = (path, message) => {
    const rule = this.rule!;
    (rule.verdict === 'rejects' ? this.faults : this.warnings).push(faultOf(rule, path, message));
  };

  judge<View>(rules: readonly DocumentRule<View>[], view: View): void {
    for (const rule of rules) {
      this.rule = rule;
      rule.check(view, this.report);
    }
  }
}
