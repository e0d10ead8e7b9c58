import { type DocumentNode, groupOf, submissionRoute, textOf } from '@ecf/domain';
import { factsOf } from '../ledger/document-facts.js';
import type { Simulation } from '../simulation.js';
import { type Arrival, checkFields, checkForm, type Decision, verdictOf } from './decision.js';
import { checkBuyer, checkIssuer } from './issuer.js';
import { checkReferences } from './references.js';
import { checkSequence } from './sequence.js';
import { fieldText } from './texts.js';
import { type Message, rejected } from './verdict.js';

/**
 * Decides on a full e-CF, in the order: file name, structure, signature, issuer, number, fields, references.
 * Up to the number, the first failure decides alone; later ones are reported together.
 */
export function decideEcf(
  simulation: Pick<Simulation, 'ledger' | 'taxpayers' | 'facts' | 'certification' | 'signatures'>,
  arrival: Arrival,
): Decision {
  const form = checkForm(arrival, 'ECF', simulation.signatures);
  if ('verdict' in form) return form;
  const { env, now } = arrival;
  const { rnc, encf, document } = form;
  const { numbers } = simulation.ledger;
  const outcome = (verdict: Decision['verdict'], reference: Decision['reference'] = null): Decision => ({
    verdict,
    rnc,
    encf,
    reference,
  });
  const issuer = checkIssuer(simulation.taxpayers, rnc, form.signer);
  if (issuer) return outcome(rejected([issuer], false));
  const { tree } = document;
  const sequence = checkSequence(numbers, simulation.taxpayers, { env, rnc, encf, expiry: expiryOf(tree), now });
  if (sequence && 'verdict' in sequence) return outcome(sequence.verdict);
  const certification = simulation.certification.check(env, rnc, tree);
  const fields = checkFields(tree, now);
  const facts = factsOf(tree, document.verification.signatureValue ?? '');
  const type = encf.slice(1, 3);
  const { messages, reference } = checkReferences(numbers, simulation.facts, { env, type, rnc, tree, facts, now });
  const observations = sequence ? [sequence.observation, ...fields.observations] : fields.observations;
  const buyer = checkBuyer(simulation.taxpayers, env, facts.buyer);
  const found = simulation.certification.strict(env)
    ? { faults: [...buyer, ...observations], observations: [] }
    : { faults: [], observations: [...buyer, ...observations] };
  const faults = [
    ...certification,
    ...belongsToSummary(document.checked.type, facts.total),
    ...fields.faults,
    ...messages,
    ...found.faults,
  ];
  return outcome(verdictOf(faults, found.observations), reference);
}

function expiryOf(tree: DocumentNode): string | null {
  const header = groupOf(groupOf(tree, 'ECF'), 'Encabezado');
  return textOf(groupOf(header, 'IdDoc'), 'FechaVencimientoSecuencia');
}

/** A consumer invoice under the limit is refused here. Source: technical description p.11; the text is not published. */
function belongsToSummary(type: Parameters<typeof submissionRoute>[0] | null, total: string): Message[] {
  if (type === null || submissionRoute(type, total) === 'ecf') return [];
  return [{ code: '0', text: fieldText('ECF.Encabezado.Totales.MontoTotal', 'no es válido') }];
}
