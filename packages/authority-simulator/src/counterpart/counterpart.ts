import type { Route } from '../http/app.js';
import { type Call, emptyAnswer, type Handler, sentenceAnswer } from '../http/call.js';
import { giveSeed, validateSeed } from '../operations/authentication.js';
import type { Simulation } from '../simulation.js';
import { type Counterpart, CounterpartIdentity } from './counterpart-state.js';
import { DeliveryFailed } from './outbound.js';
import { receiveApproval, receiveEcf } from './receiver.js';
import { queryReceipt, sendApproval, sendEcf } from './sender.js';

/**
 * The authority's counterpart (emisor-receptor) of the sandbox: it plays a provider and a receiver for taxpayers who
 * try out their own services. Its receiver follows the standard that every taxpayer has to expose.
 * Source: technical description pp.40-46, 52-57.
 */
export function counterpartRoutes(simulation: Simulation): Route[] {
  const counterpart: Counterpart = {
    ledger: simulation.ledger,
    facts: simulation.facts,
    signatures: simulation.signatures,
    clock: simulation.clock,
    newId: simulation.newId,
    identity: new CounterpartIdentity(simulation.clock),
    state: { issued: new Map(), received: new Map(), lastSequence: 0 },
  };
  const route = (method: Route['method'], path: string, handler: Handler): Route => ({
    method,
    service: 'emisorreceptor',
    path,
    operation: null,
    token: false,
    handler: guarded(simulation, handler),
  });
  const authentication: Route[] = [
    route('GET', 'fe/autenticacion/api/semilla', giveSeed(simulation)),
    route('POST', 'fe/autenticacion/api/validacioncertificado', validateSeed(simulation)),
  ];
  return [
    ...authentication,
    // The directory names the authentication service as the counterpart's own, so the standard paths work there too.
    ...authentication.map((each): Route => ({ ...each, service: 'autenticacion' })),
    route('POST', 'api/emision/emisioncomprobantes', sendEcf(counterpart)),
    route('GET', 'api/emision/consultaacuserecibo', queryReceipt(counterpart)),
    route('POST', 'api/emision/envioaprobacioncomercial', sendApproval(counterpart)),
    route('POST', 'fe/recepcion/api/ecf', receiveEcf(counterpart)),
    route('POST', 'fe/recepción/api/ecf', receiveEcf(counterpart)),
    route('POST', 'fe/aprobacioncomercial/api/ecf', receiveApproval(counterpart)),
  ];
}

/** A token is optional, but one that is sent has to be good; a taxpayer that cannot be reached is a sentence. */
function guarded({ tokens, clock }: Pick<Simulation, 'tokens' | 'clock'>, handler: Handler): Handler {
  return async (call: Call) => {
    const { authorization } = call.headers;
    if (typeof authorization === 'string' && tokens.holder(call.env, authorization, clock()) === null) {
      return emptyAnswer(401, { 'WWW-Authenticate': 'Bearer' });
    }
    try {
      return await handler(call);
    } catch (error) {
      if (error instanceof DeliveryFailed) return sentenceAnswer(400, error.message);
      throw error;
    }
  };
}
