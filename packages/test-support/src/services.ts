/** Test doubles of what every service receives from its deployment: a logger, service keys and callers. */
import type { RequestListener } from 'node:http';
import type { DeadLetter, DeadLetters } from '@ecf/bus';
import type { ServiceName } from '@ecf/contracts';
import {
  type Caller,
  createIdentities,
  type Identities,
  identify,
  makeServiceKeys,
  readServiceKeys,
} from '@ecf/http/identity';
import { createLogger, type Logger } from '@ecf/kit/telemetry';
import type { Queries } from '@ecf/postgres';

/** A logger that writes nothing. */
export const silentLogger: Logger = createLogger({ service: 'test', level: 'silent' });

/** The header of a test that names the caller of a request, as JSON. */
export const CALLER_HEADER = 'x-test-caller';

/** Dead letters in memory, for a subscription of a test. */
export function memoryDeadLetters(): DeadLetters & { readonly kept: DeadLetter[] } {
  const kept: DeadLetter[] = [];
  return {
    kept,
    add: async (deadLetter) => void kept.push(deadLetter),
    onReplay: () => async () => undefined,
    close: () => undefined,
  };
}

/** The events that the consumers of a service gave up: topic and reason of each, oldest first. */
export async function deadLettersOf(database: Queries): Promise<{ topic: string; reason: string }[]> {
  const { rows } = await database.query<{ topic: string; reason: string }>(
    'SELECT topic, reason FROM dead_letters ORDER BY failed_at, event_id',
  );
  return rows;
}

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
