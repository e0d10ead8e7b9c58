import type { Environment } from '@ecf/domain';
import type { Answer } from './answers/answer.js';
import type {
  ApprovalVerdict,
  AuthorityVerdict,
  CancellationVerdict,
  DirectoryEntry,
  DocumentState,
  EnvironmentStatus,
  IssuedToken,
  MaintenanceWindow,
  Seed,
  ServiceStatus,
  SubmissionReceipt,
  TrackIdList,
} from './answers/verdicts.js';
import { type AuthorityService, type Endpoints, hostOf } from './endpoints.js';
import { environmentStatus } from './operations/environment-status.js';
import { type FindInDirectoryInput, findInDirectory } from './operations/find-in-directory.js';
import { listDirectory } from './operations/list-directory.js';
import { maintenanceWindows } from './operations/maintenance-windows.js';
import { type QueryConsumerSummaryInput, queryConsumerSummary } from './operations/query-consumer-summary.js';
import { type QueryResultInput, queryResult } from './operations/query-result.js';
import { type QueryStateInput, queryState } from './operations/query-state.js';
import { type QueryTrackIdsInput, queryTrackIds } from './operations/query-track-ids.js';
import { requestSeed } from './operations/request-seed.js';
import { type StatusInput, serviceStatus } from './operations/service-status.js';
import { type SubmitCancellationInput, submitCancellation } from './operations/submit-cancellation.js';
import {
  type SubmitCommercialApprovalInput,
  submitCommercialApproval,
} from './operations/submit-commercial-approval.js';
import { type SubmitConsumerSummaryInput, submitConsumerSummary } from './operations/submit-consumer-summary.js';
import { type SubmitDocumentInput, submitDocument } from './operations/submit-document.js';
import { type ValidateSeedInput, validateSeed } from './operations/validate-seed.js';
import type { AuthorisedInput, AuthorityContext, AuthorityInput } from './transport/authority-call.js';
import { createCallLimits } from './transport/call-limits.js';
import type { OnCall } from './transport/call-report.js';
import {
  type CircuitBreakerOptions,
  createCircuitBreakers,
  DEFAULT_CIRCUIT_BREAKERS,
} from './transport/circuit-breakers.js';
import { createExchange, hostPeer } from './transport/exchange.js';
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

/** All operations of the authority. Failures of the network and the authority are outcomes, never rejections. */
export interface AuthorityClient {
  requestSeed(input: AuthorityInput): Promise<Answer<Seed>>;
  validateSeed(input: ValidateSeedInput): Promise<Answer<IssuedToken>>;
  submitDocument(input: SubmitDocumentInput): Promise<Answer<SubmissionReceipt>>;
  submitConsumerSummary(input: SubmitConsumerSummaryInput): Promise<Answer<AuthorityVerdict>>;
  queryResult(input: QueryResultInput): Promise<Answer<AuthorityVerdict>>;
  queryState(input: QueryStateInput): Promise<Answer<DocumentState>>;
  queryTrackIds(input: QueryTrackIdsInput): Promise<Answer<TrackIdList>>;
  queryConsumerSummary(input: QueryConsumerSummaryInput): Promise<Answer<AuthorityVerdict>>;
  submitCommercialApproval(input: SubmitCommercialApprovalInput): Promise<Answer<ApprovalVerdict>>;
  submitCancellation(input: SubmitCancellationInput): Promise<Answer<CancellationVerdict>>;
  listDirectory(input: AuthorisedInput): Promise<Answer<DirectoryEntry[]>>;
  findInDirectory(input: FindInDirectoryInput): Promise<Answer<DirectoryEntry | null>>;
  serviceStatus(input: StatusInput): Promise<Answer<ServiceStatus[]>>;
  maintenanceWindows(input: StatusInput): Promise<Answer<MaintenanceWindow[]>>;
  environmentStatus(input: StatusInput): Promise<Answer<EnvironmentStatus>>;
  /** Whether the circuit of the service's host is open, so that only a probe goes to it. */
  isAway(env: Environment, service: AuthorityService): boolean;
  /** The end of announced maintenance that goes on now. */
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
  const exchange = createExchange({
    transport,
    circuits,
    limits,
    clock,
    onCall: options.onCall ?? null,
    maintenanceUntil,
  });
  const context: AuthorityContext = { endpoints: options.endpoints, exchange };
  return {
    requestSeed: (input) => requestSeed(context, input),
    validateSeed: (input) => validateSeed(context, input),
    submitDocument: (input) => submitDocument(context, input),
    submitConsumerSummary: (input) => submitConsumerSummary(context, input),
    queryResult: (input) => queryResult(context, input),
    queryState: (input) => queryState(context, input),
    queryTrackIds: (input) => queryTrackIds(context, input),
    queryConsumerSummary: (input) => queryConsumerSummary(context, input),
    submitCommercialApproval: (input) => submitCommercialApproval(context, input),
    submitCancellation: (input) => submitCancellation(context, input),
    listDirectory: (input) => listDirectory(context, input),
    findInDirectory: (input) => findInDirectory(context, input),
    serviceStatus: (input) => serviceStatus(context, input),
    maintenanceWindows: (input) => maintenanceWindows(context, input),
    environmentStatus: (input) => environmentStatus(context, input),
    isAway: (env, service) => circuits?.isOpen(hostPeer(env, hostOf(service))) ?? false,
    maintenanceUntil,
    async expectMaintenance(env, until) {
      maintenance.set(env, until);
      for (const host of ['main', 'consumer'] as const) await circuits?.open(hostPeer(env, host));
    },
    close: () => transport.close(),
  };
}
