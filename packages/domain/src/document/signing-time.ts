import { formatSignatureDateTime } from '../time/dominican-time.js';
import { type DocumentNode, groupOf } from './document-tree.js';

/** The tree with FechaHoraFirma, which an e-CF needs: the time of signing unless it was given. */
export function withSigningTime(tree: DocumentNode, now: Date): DocumentNode {
  const ecf = groupOf(tree, 'ECF');
  if (ecf === null || ecf.FechaHoraFirma !== undefined) return tree;
  return { ...tree, ECF: { ...ecf, FechaHoraFirma: formatSignatureDateTime(now) } };
}
