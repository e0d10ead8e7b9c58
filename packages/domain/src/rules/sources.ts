import type { Evidence } from './rule.js';

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

/** A verdict seen in certification or production, with the official page that explains it if there is one. */
export function observed(official?: string): string {
  return official ? `${official}; verdict observed` : 'observed in certification and production';
}

/** A rejection that was seen with this code; `text` where the code alone does not name the case. */
export function rejectedWith(code: string | null, text?: string): Evidence {
  const parts = [code === null ? 'no code' : `code ${code}`, ...(text === undefined ? [] : [`"${text}"`])];
  return { kind: 'observed', says: parts.join(', ') };
}

/** A reason that Descripción Técnica v1.6 lists among its rejections. */
export function listed(pages: string, reason: string): Evidence {
  return { kind: 'description', says: `p.${pages}: ${reason}` };
}

/** Source of the rules of the official schema. */
export function requiredBySchema(says: string): Evidence {
  return { kind: 'schema', says };
}
