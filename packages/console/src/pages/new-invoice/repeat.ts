import type { DocumentNode } from '@ecf/domain';
import { partsOf } from './draft.js';

/** A rejected document to correct: it will be signed anew, and under another number if its own one is used. */
export function repeatOf(document: DocumentNode, used: boolean): DocumentNode {
  const { ECF, header, idDoc } = partsOf(document);
  const { FechaHoraFirma: _, ...others } = ECF;
  const { eNCF: __, FechaVencimientoSecuencia: ___, ...unnumbered } = idDoc;
  return { ECF: { ...others, Encabezado: { ...header, IdDoc: used ? unnumbered : idDoc } } };
}
