import type { Answer } from '../answers/answer.js';
import type { ApprovalDeliveryAnswer, DeliveryAnswer, IssuedToken, Seed } from '../answers/verdicts.js';
import type { OnCall } from '../transport/call-report.js';
import type { CircuitBreakers } from '../transport/circuit-breakers.js';
import { createExchange } from '../transport/exchange.js';
import { createTransport, type Timeouts, type TlsOptions } from '../transport/transport.js';
import type { AddressGuard, AddressLookup } from './address-guard.js';
import { type DeliverApprovalInput, deliverApproval } from './deliver-approval.js';
import { type DeliverDocumentInput, deliverDocument } from './deliver-document.js';
import type { ReceiverContext, ReceiverInput } from './receiver-call.js';
import { receiverSeed } from './receiver-seed.js';
import { type ReceiverTokenInput, receiverToken } from './receiver-token.js';

export interface ReceiverClientOptions {
  userAgent: string;
  /** Defaults: `DEFAULT_TIMEOUTS`. */
  timeouts?: Partial<Timeouts>;
  tls?: TlsOptions;
  /** Checks every address at connect time, literal or resolved. Default: public addresses only. */
  addressGuard?: AddressGuard;
  /** Resolves names; default `createNameLookup()`: the hosts file, then the system's name servers. */
  lookup?: AddressLookup;
  /** Default false: receivers must be https (contract section 17). */
  allowPlainHttp?: boolean;
  /** One circuit breaker for each host (origin). Without them every call goes out. */
  circuits?: CircuitBreakers;
  onCall?: OnCall;
  clock?: () => Date;
}

/** Calls to receivers of other taxpayers (contract section 17). Addresses are those of the directory. */
export interface ReceiverClient {
  receiverSeed(input: ReceiverInput): Promise<Answer<Seed>>;
  receiverToken(input: ReceiverTokenInput): Promise<Answer<IssuedToken>>;
  deliverDocument(input: DeliverDocumentInput): Promise<Answer<DeliveryAnswer>>;
  deliverApproval(input: DeliverApprovalInput): Promise<Answer<ApprovalDeliveryAnswer>>;
  /** Closes idle connections; calls in flight end by themselves. */
  close(): void;
}

/** One client per process: it holds the connections. */
export function createReceiverClient(options: ReceiverClientOptions): ReceiverClient {
  const clock = options.clock ?? (() => new Date());
  const transport = createTransport({
    userAgent: options.userAgent,
    timeouts: options.timeouts ?? {},
    tls: options.tls ?? {},
    guard: {
      ...(options.addressGuard ? { addressGuard: options.addressGuard } : {}),
      ...(options.lookup ? { lookup: options.lookup } : {}),
    },
  });
  const exchange = createExchange({
    transport,
    circuits: options.circuits ?? null,
    clock,
    onCall: options.onCall ?? null,
  });
  const context: ReceiverContext = { exchange, allowPlainHttp: options.allowPlainHttp ?? false };
  return {
    receiverSeed: (input) => receiverSeed(context, input),
    receiverToken: (input) => receiverToken(context, input),
    deliverDocument: (input) => deliverDocument(context, input),
    deliverApproval: (input) => deliverApproval(context, input),
    close: () => transport.close(),
  };
}
