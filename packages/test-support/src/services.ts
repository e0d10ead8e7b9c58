/** Test doubles of what every service receives from its deployment: a logger, service keys and callers. */
import type { RequestListener } from 'node:http';
import type { ServiceName } from '@ecf/contracts';
import {
  type Caller,
  createIdentities,
  type Identities,
  identify,
  makeServiceKeys,
  readServiceKeys,
} from '@ecf/service-kit/security';
import { createLogger, type Logger } from '@ecf/service-kit/telemetry';

/** A logger that writes nothing. */
export const silentLogger: Logger = createLogger({ service: 'test', level: 'silent' });

/** The header of a test that names the caller of a request, as JSON. */
export const CALLER_HEADER = 'x-test-caller';

/** A service's app that trusts {@link CALLER_HEADER}, as if its gateway were in the same process. */
export function trustCallerHeader(app: RequestListener): RequestListener {
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
