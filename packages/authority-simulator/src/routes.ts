import { counterpartRoutes } from './counterpart/counterpart.js';
import type { Route } from './http/app.js';
import type { Handler } from './http/call.js';
import { giveSeed, validateSeed } from './operations/authentication.js';
import { receiveCancellation } from './operations/cancellation.js';
import { receiveApproval } from './operations/commercial-approval.js';
import { receiveSummary } from './operations/consumer-reception.js';
import { findInDirectory, listDirectory } from './operations/directory.js';
import { queryResult, queryState, querySummary, queryTrackIds } from './operations/queries.js';
import { receiveEcf } from './operations/reception.js';
import { checkEnvironment, listMaintenance, listServices } from './operations/service-status.js';
import { consumerStampPage, stampPage } from './operations/stamp-page.js';
import type { Operation, Service } from './services.js';
import type { Simulation } from './simulation.js';

/** Every address of the authority. Source: technical description pp.8-51. */
export function routesOf(simulation: Simulation): Route[] {
  const get = (
    service: Service | null,
    path: string,
    operation: Operation | null,
    handler: Handler,
    token = false,
  ): Route => ({ method: 'GET', service, path, operation, token, handler });
  const query = (service: Service & Operation, path: string, handler: Handler): Route =>
    get(service, path, service, handler, true);
  const post = (service: Service & Operation, path: string, handler: Handler, token = true): Route => ({
    method: 'POST',
    service,
    path,
    operation: service,
    token,
    handler,
  });
  const status = (path: string, handler: Handler): Route =>
    get(null, `api/estatusservicios/${path}`, 'estatusservicios', handler);
  return [
    get('autenticacion', 'api/autenticacion/semilla', 'autenticacion', giveSeed(simulation)),
    post('autenticacion', 'api/autenticacion/validarsemilla', validateSeed(simulation), false),
    post('recepcion', 'api/facturaselectronicas', receiveEcf(simulation)),
    post('recepcionfc', 'api/recepcion/ecf', receiveSummary(simulation)),
    query('consultaresultado', 'api/consultas/estado', queryResult(simulation)),
    query('consultaestado', 'api/consultas/estado', queryState(simulation)),
    query('consultatrackids', 'api/trackids/consulta', queryTrackIds(simulation)),
    query('consultarfce', 'api/consultas/consulta', querySummary(simulation)),
    post('aprobacioncomercial', 'api/aprobacioncomercial', receiveApproval(simulation)),
    post('anulacionrangos', 'api/operaciones/anularrango', receiveCancellation(simulation)),
    query('consultadirectorio', 'api/consultas/listado', listDirectory(simulation)),
    query('consultadirectorio', 'api/consultas/obtenerdirectorioporrnc', findInDirectory(simulation)),
    get('consultatimbre', '', null, stampPage(simulation)),
    get('consultatimbrefc', '', null, consumerStampPage(simulation)),
    status('obtenerestatus', listServices(simulation)),
    status('obtenerventanasmantenimiento', listMaintenance(simulation)),
    status('verificarestado', checkEnvironment(simulation)),
    ...counterpartRoutes(simulation),
  ];
}
