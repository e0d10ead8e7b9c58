import type { Environment } from '@ecf/domain';

/** Path segment of each environment, in lower case. Source: technical description p.6. */
export const ENVIRONMENTS: Readonly<Record<string, Environment>> = {
  testecf: 'TesteCF',
  certecf: 'CerteCF',
  ecf: 'eCF',
};

/** The services of the main and the consumer host. */
export type Service =
  | 'autenticacion'
  | 'recepcion'
  | 'recepcionfc'
  | 'consultaresultado'
  | 'consultaestado'
  | 'consultatrackids'
  | 'consultarfce'
  | 'aprobacioncomercial'
  | 'anulacionrangos'
  | 'consultadirectorio'
  | 'consultatimbre'
  | 'consultatimbrefc'
  | 'emisorreceptor';

const EVERYWHERE: readonly Environment[] = ['TesteCF', 'CerteCF', 'eCF'];
const NOT_IN_CERTIFICATION: readonly Environment[] = ['TesteCF', 'eCF'];

/**
 * The services of each environment; the others answer 404.
 * Source: technical description pp.8-40 and its revision of 02-01-2026.
 */
const PRESENCE: Readonly<Record<Service, readonly Environment[]>> = {
  autenticacion: EVERYWHERE,
  recepcion: EVERYWHERE,
  recepcionfc: EVERYWHERE,
  consultaresultado: EVERYWHERE,
  consultaestado: NOT_IN_CERTIFICATION,
  consultatrackids: NOT_IN_CERTIFICATION,
  consultarfce: EVERYWHERE,
  aprobacioncomercial: EVERYWHERE,
  anulacionrangos: NOT_IN_CERTIFICATION,
  consultadirectorio: NOT_IN_CERTIFICATION,
  consultatimbre: EVERYWHERE,
  consultatimbrefc: EVERYWHERE,
  emisorreceptor: ['TesteCF'],
};

export function serviceExists(service: Service, env: Environment): boolean {
  return PRESENCE[service].includes(env);
}

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
