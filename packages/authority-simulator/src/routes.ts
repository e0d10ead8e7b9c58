import { counterpartRoutes } from './counterpart/counterpart.js';
import type { Service } from './environments.js';
import type { Handler } from './http/exchange.js';
import type { Route } from './http/route.js';
import type { Operation } from './operation.js';
import { giveSeed, validateSeed } from './operations/authentication.js';
import { receiveCancellation } from './operations/cancellation.js';
import { receiveApproval } from './operations/commercial-approval.js';
import { receiveSummary } from './operations/consumer-reception.js';
import { findInDirectory, listDirectory } from './operations/directory.js';
import { receiveEcf } from './operations/reception.js';
import { queryResult } from './operations/result-query.js';
import { checkEnvironment, listMaintenance, listServices } from './operations/service-status.js';
import { consumerStampPage, stampPage } from './operations/stamp-page.js';
import { queryState } from './operations/state-query.js';
import { querySummary } from './operations/summary-query.js';
import { queryTrackIds } from './operations/track-id-query.js';
import type { Simulation } from './simulation.js';

/** Every address of the authority. Source: technical description pp.8-51. */
export function routesOf(simulation: Simulation): Route[] {
  const get = (
    service: Service,
    path: string,
    operation: Operation | null,
    token: boolean,
    handler: Handler,
  ): Route => ({
    method: 'GET',
    service,
    path,
    operation,
    token,
    handler,
  });
  const post = (service: Service, path: string, operation: Operation, handler: Handler): Route => ({
    method: 'POST',
    service,
    path,
    operation,
    token: true,
    handler,
  });
  const status = (path: string, handler: Handler): Route => ({
    method: 'GET',
    service: null,
    path: `api/estatusservicios/${path}`,
    operation: 'estatusservicios',
    token: false,
    handler,
  });
  const logIn: Route = {
    ...post('autenticacion', 'api/autenticacion/validarsemilla', 'autenticacion', validateSeed(simulation)),
    token: false,
  };
  return [
    get('autenticacion', 'api/autenticacion/semilla', 'autenticacion', false, giveSeed(simulation)),
    logIn,
    post('recepcion', 'api/facturaselectronicas', 'recepcion', receiveEcf(simulation)),
    post('recepcionfc', 'api/recepcion/ecf', 'recepcionfc', receiveSummary(simulation)),
    get('consultaresultado', 'api/consultas/estado', 'consultaresultado', true, queryResult(simulation)),
    get('consultaestado', 'api/consultas/estado', 'consultaestado', true, queryState(simulation)),
    get('consultatrackids', 'api/trackids/consulta', 'consultatrackids', true, queryTrackIds(simulation)),
    get('consultarfce', 'api/consultas/consulta', 'consultarfce', true, querySummary(simulation)),
    post('aprobacioncomercial', 'api/aprobacioncomercial', 'aprobacioncomercial', receiveApproval(simulation)),
    post('anulacionrangos', 'api/operaciones/anularrango', 'anulacionrangos', receiveCancellation(simulation)),
    get('consultadirectorio', 'api/consultas/listado', 'consultadirectorio', true, listDirectory(simulation)),
    get(
      'consultadirectorio',
      'api/consultas/obtenerdirectorioporrnc',
      'consultadirectorio',
      true,
      findInDirectory(simulation),
    ),
    get('consultatimbre', '', null, false, stampPage(simulation)),
    get('consultatimbrefc', '', null, false, consumerStampPage(simulation)),
    status('obtenerestatus', listServices(simulation)),
    status('obtenerventanasmantenimiento', listMaintenance(simulation)),
    status('verificarestado', checkEnvironment(simulation)),
    ...counterpartRoutes(simulation),
  ];
}
