import { timingSafeEqual } from 'node:crypto';
import { type Answer, type Call, emptyAnswer, type Handler, sentenceAnswer } from '../http/call.js';
import type { Operation } from '../services.js';
import type { Simulation } from '../simulation.js';
import { rowsOf } from './maintenance.js';

type StatusServices = Pick<Simulation, 'faults' | 'maintenance' | 'statusKey' | 'clock'>;

/** Services as the status service names them. Source: technical description pp.47-49. */
const SERVICES: readonly (readonly [string, Operation])[] = [
  ['Autenticación', 'autenticacion'],
  ['Recepción', 'recepcion'],
  ['Consulta Resultado', 'consultaresultado'],
  ['Consulta Estado', 'consultaestado'],
  ['Consulta Directorio', 'consultadirectorio'],
  ['Consulta TrackIds', 'consultatrackids'],
  ['Aprobación Comercial', 'aprobacioncomercial'],
  ['Anulación Rangos', 'anulacionrangos'],
  ['Recepción FC', 'recepcionfc'],
];

/** By the number of the parameter `ambiente`. */
const ENVIRONMENTS: Readonly<Record<string, string>> = {
  '1': 'PreCertificacion',
  '2': 'Produccion',
  '3': 'Certificacion',
};

/** Each service in the two environments that are covered; one with a `down` fault is not available. */
export function listServices(services: StatusServices): Handler {
  return keyed(services, () => {
    const value = ['PreCertificacion', 'Produccion'].flatMap((ambiente) =>
      SERVICES.map(([servicio, operation]) => ({
        servicio,
        estatus: services.faults.isDown(operation) ? 'No Disponible' : 'Disponible',
        ambiente,
      })),
    );
    return { status: 200, body: { root: 'ArrayOfEstatusServicio', item: 'EstatusServicio', value } };
  });
}

/** The announced maintenance windows; by default the first Sunday of the coming month. */
export function listMaintenance(services: StatusServices): Handler {
  return keyed(services, () => {
    const dias = [nextMaintenanceDay(services.clock())];
    const announced = services.maintenance.list();
    const value = {
      ventanaMantenimientos: announced?.flatMap(rowsOf) ?? [
        { ambiente: 'PreCertificacion', horaInicio: '9:00 AM', horaFin: '12:00 PM', dias },
        { ambiente: 'Produccion', horaInicio: '1:00 PM', horaFin: '4:00 PM', dias },
        { ambiente: 'Certificacion', horaInicio: '1:00 PM', horaFin: '4:00 PM', dias },
      ],
    };
    return { status: 200, body: { root: 'RespuestaVentanasMantenimiento', value } };
  });
}

/** Whether an environment is outside its maintenance windows. */
export function checkEnvironment(services: StatusServices): Handler {
  return keyed(services, ({ query }) => {
    const environment = ENVIRONMENTS[query.get('ambiente') ?? ''];
    if (environment === undefined) return sentenceAnswer(400, 'El campo ambiente no es válido.');
    const estado = services.maintenance.isUnderWay(environment, services.clock()) ? 'No Disponible' : 'Disponible';
    return { status: 200, body: { root: 'RespuestaVerificarEstado', value: { estado } } };
  });
}

function keyed({ statusKey }: StatusServices, handler: (call: Call) => Answer): Handler {
  return (call) => {
    const header = call.headers.authorization;
    const key = /^\s*apikey\s+(\S+)\s*$/i.exec(typeof header === 'string' ? header : '')?.[1];
    if (key === undefined || (statusKey !== null && !equal(key, statusKey))) return emptyAnswer(401);
    return handler(call);
  };
}

function equal(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function nextMaintenanceDay(now: Date): string {
  const first = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1));
  const day = 1 + ((7 - first.getUTCDay()) % 7);
  const month = String(first.getUTCMonth() + 1).padStart(2, '0');
  return `${String(day).padStart(2, '0')}-${month}-${first.getUTCFullYear()}`;
}
