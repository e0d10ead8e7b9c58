/** Reasons of refusals in the authority's words. Source: Descripción Técnica v1.6 pp.28-29. */
export const REFUSALS = {
  structure:
    'La estructura del archivo XML no es válido, favor proveer un XML con una estructura válida, verificar el XSD correspondiente',
  signature: 'La firma del XML no es válida',
  notFound: 'Factura no encontrada para esta Aprobación comercial.',
  type: 'Aprobación Comercial no es requerida para este tipo de e-CF',
  invalid: 'No se encuentra un e-CF válido para esta aprobación comercial',
} as const;

/** For an e-CF that was answered before. Source: field. */
export function repeatedRefusal(encf: string): string {
  return `La aprobación comercial del e-CF ${encf} ya habia sido cargada y aceptada previamente`;
}
