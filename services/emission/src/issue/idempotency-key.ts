import { type DocumentNode, groupOf, textOf } from '@ecf/domain';
import type { Attempt } from '../attempt/attempt.js';
import type { KeyScope, NumberStore } from '../numbers/ports.js';
import type { CompareWithAttempt, SentDocument } from './compare-documents.js';
import { keyConflict, keyOfAnotherIssuer } from './conflicts.js';

/** Paths of the elements that the service fills in if a document leaves its number open. */
export function filledIn(tree: DocumentNode): string[] {
  const idDoc = groupOf(groupOf(groupOf(tree, 'ECF'), 'Encabezado'), 'IdDoc');
  const open = ['eNCF', 'FechaVencimientoSecuencia'].filter((name) => textOf(idDoc, name) === null);
  return open.map((name) => `ECF.Encabezado.IdDoc.${name}`);
}

/**
 * The submission that the key names; null if it names none yet. A key names one submission for 30 days and never makes another.
 *
 * @param issuerRnc the issuer of the document; values of other issuers are not named
 * @param ignored paths that do not count
 * @throws EmissionError 409 `idempotency_conflict` if the key names another document
 */
export async function submissionOfKey(
  numbers: Pick<NumberStore, 'submitted'>,
  compare: CompareWithAttempt,
  scope: KeyScope,
  { issuerRnc, sent, ignored }: { issuerRnc: string; sent: SentDocument; ignored: readonly string[] },
): Promise<Attempt | null> {
  const before = await numbers.submitted({ ...scope, issuerRnc });
  if (before === null) return null;
  const { attempt, contentHash } = before;
  if (attempt.issuerRnc !== issuerRnc) throw keyOfAnotherIssuer();
  if (contentHash === sent.contentHash) return attempt;
  const comparison = await compare(attempt, sent, ignored);
  if (comparison.count > 0) throw keyConflict(attempt, comparison);
  return attempt;
}
