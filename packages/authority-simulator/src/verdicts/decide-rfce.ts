import { isBelowSummaryLimit } from '@ecf/domain';
import { factsOf } from '../ledger/document-facts.js';
import type { Simulation } from '../simulation.js';
import { checkBuyer } from './buyer.js';
import { type Arrival, checkFields, checkForm, type Decision, verdictOf } from './decision.js';
import { checkIssuer } from './issuer.js';
import { checkSequence } from './sequence.js';
import { fieldText, TEXTS } from './texts.js';
import { type Message, rejected, type Verdict } from './verdict.js';

/**
 * Decides on a consumer summary. It shares the numbers of type 32 with the full documents, and binds its number to
 * its security code.
 */
export function decideRfce(
  simulation: Pick<Simulation, 'ledger' | 'taxpayers' | 'facts' | 'certification'>,
  arrival: Arrival,
): Decision {
  const form = checkForm(arrival, 'RFCE');
  if ('verdict' in form) return form;
  const { env, now } = arrival;
  const { rnc, encf, document } = form;
  const { numbers } = simulation.ledger;
  const outcome = (verdict: Verdict): Decision => ({ verdict, rnc, encf, reference: null });
  const issuer = checkIssuer(simulation.taxpayers, rnc, form.signer);
  if (issuer) return outcome(rejected([issuer], false));
  const facts = factsOf(document.tree, '');
  const holder = numbers.holder(env, rnc, encf);
  if (holder?.operation === 'recepcionfc' && simulation.facts.of(holder).securityCode === facts.securityCode) {
    return outcome(rejected([TEXTS.usedCombination], true));
  }
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

/** From 250,000.00 on the full document is due. Source: technical description p.13; the text is not published. */
function belongsToFullDocument(total: string): Message[] {
  if (isBelowSummaryLimit(total)) return [];
  return [{ code: '0', text: fieldText('RFCE.Encabezado.Totales.MontoTotal', 'no es válido') }];
}
