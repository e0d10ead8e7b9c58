import type { NumberRange } from '@ecf/contracts';
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
  NOTES,
  parseDocumentDate,
  submissionRoute,
  textOf,
} from '@ecf/domain';
import type { Caller } from '@ecf/taxpayer-replica';
import { type Attempt, type DocumentKey, documentKey, isHeldByAnother } from '../attempt/attempt.js';
import type { EmissionStore, RelatedNote } from '../attempt/ports.js';

/** Result of the check of a reference to another document. */
export interface ReferenceCheck {
  /** Key of the referenced document, or null if we did not issue it. */
  readonly modifies: string | null;
  /** The attempt at it that was found. */
  readonly modifiedAttempt: number | null;
  /** The document is sent when the one it refers to is accepted. */
  readonly held: boolean;
  readonly faults: Fault[];
  readonly warnings: Fault[];
  /** For a credit note, how many attempts of notes on the document the check found; null for others. */
  readonly notesFound: number | null;
}

const NOTHING: ReferenceCheck = {
  modifies: null,
  modifiedAttempt: null,
  held: false,
  faults: [],
  warnings: [],
  notesFound: null,
};
const REFERENCE = 'ECF.InformacionReferencia';

/**
 * Checks a reference to a document that was issued through this deployment. The document must exist (614). For notes
 * (33, 34), buyer (615) and date (634) must fit, and for credit notes the remaining balance (615). Otherwise the
 * authority would reject the document and its number would be lost. A reference to an undecided document holds the
 * new one back.
 */
export async function checkReference(
  emissions: Pick<EmissionStore, 'find' | 'notesOn' | 'otherIssuer'>,
  { caller, ranges }: NoteIssuer,
  key: DocumentKey,
  summary: DocumentSummary,
  tree: DocumentNode,
): Promise<ReferenceCheck> {
  const reference = groupOf(groupOf(tree, 'ECF'), 'InformacionReferencia');
  const modified = referredNumber({
    type: summary.ecf_type,
    total: summary.total_amount,
    modified: summary.modified_encf,
    isOfAnother: textOf(reference, 'RNCOtroContribuyente') !== null,
  });
  if (modified === null) return NOTHING;
  const modifiedKey = { env: key.env, issuerRnc: key.issuerRnc, encf: modified };
  const original = await emissions.find(modifiedKey);
  const isNote = (NOTES as readonly string[]).includes(summary.ecf_type);
  if (original === null && isNote)
    return { ...NOTHING, warnings: await unknownWarnings(emissions, { caller, ranges }, modifiedKey) };
  if (original === null || isHeldByAnother(original)) return NOTHING;

  const { decided, status } = EMISSION_STATES[original.state];
  if (decided && status !== 'Aceptado' && status !== 'AceptadoCondicional') {
    return {
      ...NOTHING,
      faults: [
        faultOf(
          ISSUING_RULES.referenceNotIssued,
          `${REFERENCE}.NCFModificado`,
          `${modified} was not accepted by the authority, so no document can refer to it`,
        ),
      ],
    };
  }
  const faults = isNote
    ? [...buyerFaults(summary, original.facts.summary), ...dateFaults(reference, original.facts.summary)]
    : [];
  const related = summary.ecf_type === '34' ? await emissions.notesOn(original) : null;
  if (related !== null) faults.push(...balanceFaults(summary, original, related.notes));
  return {
    modifies: documentKey(original),
    modifiedAttempt: original.attempt,
    held: !decided,
    notesFound: related?.attempts ?? null,
    faults,
    warnings: decided
      ? []
      : [
          faultOf(
            ISSUING_RULES.referencePending,
            `${REFERENCE}.NCFModificado`,
            `${modified} is not decided yet: this document waits, signed and stored, until ${modified} is accepted; where warnings are refused, send it after that`,
          ),
        ],
  };
}

/** Who issues the document that refers to another, and the ranges of its issuer. */
export interface NoteIssuer {
  readonly caller: Caller;
  readonly ranges: readonly NumberRange[];
}

/** The warnings about a note to a number that its issuer did not issue here. Another system may have issued it. */
async function unknownWarnings(
  emissions: Pick<EmissionStore, 'otherIssuer'>,
  { caller, ranges }: NoteIssuer,
  modified: DocumentKey,
): Promise<Fault[]> {
  const { env, issuerRnc, encf } = modified;
  const path = `${REFERENCE}.NCFModificado`;
  const other = await emissions.otherIssuer(caller, modified);
  const isRegistered = ranges.some((range) => range.env === env && range.from <= encf && encf <= range.to);
  const warnings: Fault[] = [];
  if (other !== null) {
    const message = `${issuerRnc} did not issue ${encf} here, ${other} did: a note comes from the issuer of the document that it modifies`;
    warnings.push(faultOf(ISSUING_RULES.referenceOfAnother, path, message));
  }
  if (isRegistered) {
    const message = `${encf} is in a range registered here for ${issuerRnc}, and was never issued here; the authority refuses a note to a document that it does not have`;
    warnings.push(faultOf(ISSUING_RULES.referenceNeverIssued, path, message));
  }
  return warnings;
}

export interface Reference {
  /** Type and MontoTotal of the document. */
  readonly type: string | null;
  readonly total: string | null;
  /** NCFModificado. */
  readonly modified: string | null;
  /** Whether RNCOtroContribuyente names another taxpayer. */
  readonly isOfAnother: boolean;
}

/** The number of the issuer's own document that a document refers to. A summary carries no reference. */
export function referredNumber({ type, total, modified, isOfAnother }: Reference): string | null {
  const encf = modified?.trim() ?? '';
  if (!isEncf(encf) || isOfAnother) return null;
  return submissionRoute(type as EcfType, total ?? '') === 'rfce' ? null : encf;
}

/** The document whose balance a credit note reduces; null for every other document. */
export function reducedDocument({ env, issuerRnc }: DocumentKey, summary: DocumentSummary): string | null {
  const encf = summary.modified_encf?.trim() ?? '';
  return summary.ecf_type === '34' && isEncf(encf) ? documentKey({ env, issuerRnc, encf }) : null;
}

/** A note may name a buyer if the original names none: the authority has nothing to compare. */
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

/**
 * Counts credit notes that may be accepted and debit notes that are accepted: the lowest balance that the authority
 * may see.
 */
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
