import type { Environment } from '@ecf/domain';
import type { Answer } from './answers/answer.js';
import { type AuthorityService, type Endpoints, hostOf, serviceAddress, serviceExists } from './endpoints.js';
import { type AuthorityInput, OPERATIONS, type Operation } from './operations.js';
import { createCallLimits } from './transport/call-limits.js';
import type { OnCall, OperationName } from './transport/call-report.js';
import { type Caller, createCaller, hostPeer } from './transport/caller.js';
import {
  type CircuitBreakerOptions,
  createCircuitBreakers,
  DEFAULT_CIRCUIT_BREAKERS,
} from './transport/circuit-breakers.js';
import { createTransport, type Timeouts, type TlsOptions } from './transport/transport.js';

export interface AuthorityClientOptions {
  endpoints: Endpoints;
  userAgent: string;
  /** Defaults: `DEFAULT_TIMEOUTS`. */
  timeouts?: Partial<Timeouts>;
  tls?: TlsOptions;
  /** Defaults: `DEFAULT_CIRCUIT_BREAKERS`; false leaves them out, Retry-After is then only reported. */
  circuit?: Partial<CircuitBreakerOptions> | false;
  onCall?: OnCall;
  clock?: () => Date;
  /** Milliseconds of a clock that never goes back; default `performance.now`. */
  elapsed?: () => number;
}

type Calls = {
  [name in keyof typeof OPERATIONS]: (typeof OPERATIONS)[name] extends Operation<infer I, infer V>
    ? (input: I) => Promise<Answer<V>>
    : never;
};

/** All operations of the authority. Failures of the network and the authority are outcomes, never rejections. */
export interface AuthorityClient extends Calls {
  /** Whether the circuit of the service's host is open, so that only a probe goes to it. */
  isUnreachable(env: Environment, service: AuthorityService): boolean;
  /** The end of announced maintenance that has begun. */
  maintenanceUntil(env: Environment): Date | null;
  /** The authority announced maintenance: opens the circuits of the environment. A probe that succeeds closes them. */
  expectMaintenance(env: Environment, until: Date): Promise<void>;
  /** Closes idle connections; calls in flight end normally. */
  close(): void;
}

/** One client per process: it holds the connections and the circuit breakers. */
export function createAuthorityClient(options: AuthorityClientOptions): AuthorityClient {
  const clock = options.clock ?? (() => new Date());
  const elapsed = options.elapsed ?? (() => performance.now());
  const transport = createTransport({
    userAgent: options.userAgent,
    timeouts: options.timeouts ?? {},
    tls: options.tls ?? {},
  });
  const circuitOptions = options.circuit === false ? null : { ...DEFAULT_CIRCUIT_BREAKERS, ...options.circuit };
  const circuits = circuitOptions && createCircuitBreakers({ options: circuitOptions, elapsed });
  const limits = circuitOptions && createCallLimits(circuitOptions.maxPauseMs, elapsed);
  const maintenance = new Map<Environment, Date>();
  const maintenanceUntil = (env: Environment) => {
    const until = maintenance.get(env);
    return until !== undefined && until > clock() ? until : null;
  };
  const call = createCaller({
    transport,
    circuits,
    limits,
    clock,
    onCall: options.onCall ?? null,
    maintenanceUntil,
  });
  const calls = Object.entries(OPERATIONS).map(([name, row]) => [
    name,
    (input: AuthorityInput) =>
      callAuthority(options.endpoints, call, name as OperationName, row as Operation<AuthorityInput, unknown>, input),
  ]);
  return {
    ...(Object.fromEntries(calls) as Calls),
    isUnreachable: (env, service) => circuits?.isOpen(hostPeer(env, hostOf(service))) ?? false,
    maintenanceUntil,
    async expectMaintenance(env, until) {
      maintenance.set(env, until);
      for (const host of ['main', 'consumer'] as const) await circuits?.open(hostPeer(env, host));
    },
    close: () => transport.close(),
  };
}

interface Parameters extends AuthorityInput {
  token?: string;
  statusKey?: string;
  issuerRnc?: string;
  buyerRnc?: string;
}

/** Sends one call to a service of the authority, unless the environment lacks that service. */
async function callAuthority<V>(
  endpoints: Endpoints,
  call: Caller,
  name: OperationName,
  { service, path, query, file, read, ...rest }: Operation<AuthorityInput, V>,
  input: Parameters,
): Promise<Answer<V>> {
  const { env, signal, token, statusKey } = input;
  if (!serviceExists(service, env)) {
    const reason = `the authority has no service ${service} in ${env}`;
    return { outcome: 'refused', code: 'service_not_in_environment', reason, raw: null };
  }
  const authorization =
    token !== undefined ? `Bearer ${token}` : statusKey !== undefined ? `Apikey ${statusKey}` : undefined;
  return call(
    {
      ...rest,
      operation: name,
      service,
      env,
      url: serviceAddress(endpoints, service, env, path, query?.(input)),
      signal,
      taxpayer: input.issuerRnc ?? input.buyerRnc ?? input.taxpayer,
      ...(file ? { file: file(input) } : {}),
      ...(authorization === undefined ? {} : { authorization }),
    },
    read(input),
  );
}
