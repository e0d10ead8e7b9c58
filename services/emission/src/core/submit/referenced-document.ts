import {
  Decimal,
  type DocumentNode,
  type DocumentSummary,
  type EcfType,
  EMISSION_STATES,
  type Fault,
  faultOf,
  formatDocumentDate,
  groupOf,
  ISSUING_RULES,
  isEncf,
  isRefusedAsRepeat,
  NOTES,
  parseDocumentDate,
  submissionRoute,
  textOf,
} from '@ecf/domain';
import { type Attempt, type DocumentKey, documentKey } from '../attempt/attempt.js';
import type { EmissionStore, RelatedNote } from '../ports.js';

/** What the document that another one refers to means for that one. */
export interface ReferenceCheck {
  /** Key of the document referred to, null where it is none of ours. */
  readonly modifies: string | null;
  /** The document is sent once the one it refers to is accepted. */
  readonly held: boolean;
  readonly faults: Fault[];
  readonly warnings: Fault[];
}

const NOTHING: ReferenceCheck = { modifies: null, held: false, faults: [], warnings: [] };
const REFERENCE = 'ECF.InformacionReferencia';

/**
 * Checks a reference to an electronic document that was issued through this deployment: whatever its type, the document
 * must exist (614), and for debit and credit notes (33, 34) buyer (615), date (634) and, for credit notes, the balance that
 * is left (615) must fit. The authority would reject the document and its number would be burnt. A document that is not
 * decided yet holds back what refers to it. A summary carries no reference, so there is nothing to check.
 */
export async function checkReference(
  emissions: Pick<EmissionStore, 'find' | 'notesOn'>,
  key: DocumentKey,
  summary: DocumentSummary,
  tree: DocumentNode,
): Promise<ReferenceCheck> {
  const reference = groupOf(groupOf(tree, 'ECF'), 'InformacionReferencia');
  const modified = summary.modified_encf?.trim() ?? '';
  if (!isEncf(modified) || textOf(reference, 'RNCOtroContribuyente') !== null) return NOTHING;
  if (submissionRoute(summary.ecf_type as EcfType, summary.total_amount) === 'rfce') return NOTHING;
  const modifiedKey = { env: key.env, issuerRnc: key.issuerRnc, encf: modified };
  const original = await emissions.find(modifiedKey);
  if (original === null || isHeldByAnother(original)) return NOTHING;

  const { decided, status } = EMISSION_STATES[original.state];
  if (decided && status !== 'Aceptado' && status !== 'AceptadoCondicional') {
    return {
      ...NOTHING,
      faults: [
        faultOf(
          ISSUING_RULES.referenceNotIssued,
          `${REFERENCE}.NCFModificado`,
          `${modified} was not accepted by the authority, so nothing can refer to it`,
        ),
      ],
    };
  }
  const isNote = (NOTES as readonly string[]).includes(summary.ecf_type);
  const faults = isNote
    ? [...buyerFaults(summary, original.facts.summary), ...dateFaults(reference, original.facts.summary)]
    : [];
  if (summary.ecf_type === '34') {
    faults.push(...balanceFaults(summary, original, await emissions.notesOn(modifiedKey)));
  }
  return {
    modifies: documentKey(modifiedKey),
    held: !decided,
    faults,
    warnings: decided
      ? []
      : [
          faultOf(
            ISSUING_RULES.referencePending,
            `${REFERENCE}.NCFModificado`,
            `${modified} is not decided yet: this document is signed and stored, and is sent as soon as ${modified} is accepted`,
          ),
        ],
  };
}

/** The document whose balance a credit note draws on; null for everything else. */
export function drawsOn({ env, issuerRnc }: DocumentKey, summary: DocumentSummary): string | null {
  const encf = summary.modified_encf?.trim() ?? '';
  return summary.ecf_type === '34' && isEncf(encf) ? documentKey({ env, issuerRnc, encf }) : null;
}

/** Refused because the number had been used before: a document from elsewhere has it, which may well be accepted. */
function isHeldByAnother({ state, verdict }: Attempt): boolean {
  return state === 'rejected-used' && isRefusedAsRepeat({ status: 'Rechazado', messages: verdict.messages });
}

/** A note may name a buyer where the original names none: there is nothing that the authority could compare. */
function buyerFaults(note: DocumentSummary, original: DocumentSummary): Fault[] {
  const expected = original.buyer_rnc ?? original.buyer_foreign_id;
  if (expected === null || expected === (note.buyer_rnc ?? note.buyer_foreign_id)) return [];
  const path = note.buyer_rnc === null && note.buyer_foreign_id !== null ? 'IdentificadorExtranjero' : 'RNCComprador';
  return [
    faultOf(
      ISSUING_RULES.referenceBuyer,
      `ECF.Encabezado.Comprador.${path}`,
      `the note must name the buyer of ${original.encf} (${expected})`,
    ),
  ];
}

function dateFaults(reference: DocumentNode | null, original: DocumentSummary): Fault[] {
  const stated = textOf(reference, 'FechaNCFModificado');
  if (stated === null || parseDocumentDate(stated) === original.date_issued) return [];
  const expected = formatDocumentDate(original.date_issued);
  return [
    faultOf(
      ISSUING_RULES.referenceDate,
      `${REFERENCE}.FechaNCFModificado`,
      `${original.encf} was issued on ${expected}, not on ${stated}`,
    ),
  ];
}

/** Credit notes that may count, and debit notes that surely do: what the authority may subtract, and what it will add. */
function balanceFaults(note: DocumentSummary, original: Attempt, related: readonly RelatedNote[]): Fault[] {
  let balance = Decimal.of(original.facts.summary.total_amount);
  for (const { encf, ecfType, state, totalAmount } of related) {
    if (encf === note.encf) continue;
    const { decided, status } = EMISSION_STATES[state];
    const accepted = status === 'Aceptado' || status === 'AceptadoCondicional';
    if (ecfType === '33' && accepted) balance = balance.plus(Decimal.of(totalAmount));
    if (ecfType === '34' && (accepted || !decided)) balance = balance.minus(Decimal.of(totalAmount));
  }
  if (Decimal.of(note.total_amount).compare(balance) <= 0) return [];
  return [
    faultOf(
      ISSUING_RULES.referenceBalance,
      'ECF.Encabezado.Totales.MontoTotal',
      `MontoTotal ${note.total_amount} is more than the ${balance.toFixed(2)} left of ${original.encf}`,
    ),
  ];
}
