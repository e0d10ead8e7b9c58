/** Where rules come from. Pages are the printed ones. */
export const FORMAT_SINCE = '2025-10';
export const REPORT_SINCE = '2026-03-23';
export const OBSERVED_SINCE = '2026-06';

/** Formato de Comprobante Fiscal Electrónico v1.0, Oct-2025. */
export function format(pages: string): string {
  return `Formato e-CF v1.0 p.${pages}`;
}

/** Informe Técnico e-CF v1.0, revision 23-03-2026. */
export function report(pages: string): string {
  return `Informe Técnico e-CF v1.0 p.${pages}`;
}

/** A verdict seen in certification or production, with the official page that explains it where there is one. */
export function observed(official?: string): string {
  return official ? `${official}; verdict observed` : 'observed in certification and production';
}
