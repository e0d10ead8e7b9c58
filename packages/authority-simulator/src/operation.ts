/** The operations as faults, the list of submissions and the status service name them. */
export const OPERATIONS = [
  'autenticacion',
  'recepcion',
  'recepcionfc',
  'consultaresultado',
  'consultaestado',
  'consultatrackids',
  'consultarfce',
  'aprobacioncomercial',
  'anulacionrangos',
  'consultadirectorio',
  'estatusservicios',
] as const;

export type Operation = (typeof OPERATIONS)[number];

export function isOperation(text: unknown): text is Operation {
  return typeof text === 'string' && (OPERATIONS as readonly string[]).includes(text);
}
