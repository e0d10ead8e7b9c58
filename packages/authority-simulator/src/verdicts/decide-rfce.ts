import { isBelowSummaryLimit } from '@ecf/domain';
import { factsOf } from '../ledger/document-facts.js';
import type { Submission } from '../ledger/submission.js';
import type { Simulation } from '../simulation.js';
import { type Arrival, checkFields, checkForm, type Decision, verdictOf } from './decision.js';
import { checkBuyer, checkIssuer } from './issuer.js';
import { checkSequence } from './sequence.js';
import { fieldText, TEXTS } from './texts.js';
import { type Message, rejected, type Verdict } from './verdict.js';

/**
 * Decides on a consumer summary. It shares the numbers of type 32 with the full documents, and binds its number to
 * its security code.
 */
export function decideRfce(
  simulation: Pick<Simulation, 'ledger' | 'taxpayers' | 'facts' | 'certification' | 'signatures'>,
  arrival: Arrival,
): Decision {
  const form = checkForm(arrival, 'RFCE', simulation.signatures);
  if ('verdict' in form) return form;
  const { env, now } = arrival;
  const { rnc, encf, document } = form;
  const { numbers } = simulation.ledger;
  const outcome = (verdict: Verdict): Decision => ({ verdict, rnc, encf, reference: null });
  const issuer = checkIssuer(simulation.taxpayers, rnc, form.signer);
  if (issuer) return outcome(rejected([issuer], false));
  const facts = factsOf(document.tree, '');
  const sameCode = (earlier: Submission) =>
    earlier.operation === 'recepcionfc' && simulation.facts.of(earlier).securityCode === facts.securityCode;
  // A combination that was rejected before was used as well. Only a temporary failure asks for the same summary again.
  if (numbers.of(env, rnc, encf).some((earlier) => !mayBeSentAgain(earlier.verdict) && sameCode(earlier)))
    return outcome(rejected([TEXTS.usedCombination], numbers.holder(env, rnc, encf) !== null));
  const sequence = checkSequence(numbers, simulation.taxpayers, { env, rnc, encf, expiry: null, now });
  if (sequence && 'verdict' in sequence) return outcome(sequence.verdict);
  const fields = checkFields(document.tree, now);
  const observations = [
    ...(sequence ? [sequence.observation] : []),
    ...checkBuyer(simulation.taxpayers, env, facts.buyer),
    ...fields.observations,
  ];
  const faults = [
    ...simulation.certification.check(env, rnc, document.tree),
    ...belongsToFullDocument(facts.total),
    ...fields.faults,
  ];
  return outcome(
    simulation.certification.strict(env)
      ? verdictOf([...faults, ...observations], [])
      : verdictOf(faults, observations),
  );
}

function mayBeSentAgain({ messages }: Verdict): boolean {
  return messages.some(({ code }) => code === TEXTS.tryAgain.code);
}

/** From 250,000.00 on the full document is due. Source: technical description p.13; the text is not published. */
function belongsToFullDocument(total: string): Message[] {
  if (isBelowSummaryLimit(total)) return [];
  return [{ code: '0', text: fieldText('RFCE.Encabezado.Totales.MontoTotal', 'no es válido') }];
}
