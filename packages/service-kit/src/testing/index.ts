/** Stand-ins for tests and benchmarks. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServiceName } from '@ecf/contracts';
import type { Express } from 'express';
import { pino } from 'pino';
import { type Caller, createIdentities, type Identities, identify } from '../security/identity.js';
import { makeServiceKeys, readServiceKeys } from '../security/service-keys.js';
import type { Logger } from '../telemetry/logger.js';

/** A logger that writes nothing. */
export const silentLogger: Logger = pino({ level: 'silent' });

/** The header of a test that names the caller of a request, as JSON. */
export const CALLER_HEADER = 'x-test-caller';

/** A service's app that believes {@link CALLER_HEADER}, as if its gateway were in the same process. */
export function believing(app: Express): (req: IncomingMessage, res: ServerResponse) => void {
  return (req, res) => {
    const named = req.headers[CALLER_HEADER];
    if (typeof named === 'string' && named !== '') identify(req, JSON.parse(named) as Caller);
    app(req, res);
  };
}

/** The keys of all services of a test's deployment, as their settings. */
export const TEST_SERVICE_KEYS = makeServiceKeys();

/** Identities with the keys of one of those services. */
export function identitiesOf(service: ServiceName, clock = () => new Date()): Identities {
  return createIdentities({ keys: readServiceKeys(service, TEST_SERVICE_KEYS[service]), clock });
}
