import { withoutTrailingSlashes } from '@ecf/domain';
import type { Answer } from '../answers/answer.js';
import type { AnswerReader } from '../answers/answer-reader.js';
import type { ApprovalDeliveryAnswer, DeliveryAnswer, IssuedToken, Seed } from '../answers/verdicts.js';
import { type SignedDocument, XML_FIRST } from '../operations.js';
import { readAcknowledgement, readApprovalDelivery } from '../readers/approvals.js';
import { readIssuedToken, readSeed } from '../readers/login.js';
import type { OnCall } from '../transport/call-report.js';
import { type CallRequest, createCaller } from '../transport/caller.js';
import type { CircuitBreakers } from '../transport/circuit-breakers.js';
import { documentFileName } from '../transport/multipart.js';
import { createTransport, type Timeouts, type TlsOptions } from '../transport/transport.js';
import type { AddressGuard } from './address-guard.js';
import type { AddressLookup } from './name-lookup.js';

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

interface ReceiverInput {
  /** The directory's base address, e.g. `https://ecf.example.do/v1`; a trailing slash does not matter. */
  baseUrl: string;
  signal?: AbortSignal | undefined;
}

interface DeliveryInput extends ReceiverInput {
  /** Only for receivers that published an authentication address. */
  token?: string | undefined;
  encf: string;
  xml: SignedDocument;
}

/** Calls to receivers of other taxpayers (contract section 17). Addresses are those of the directory. */
export interface ReceiverClient {
  /** A seed of a receiver with an authentication address. */
  receiverSeed(input: ReceiverInput): Promise<Answer<Seed>>;
  /** Exchanges a receiver's signed seed for its token. */
  receiverToken(input: ReceiverInput & { signedSeed: SignedDocument }): Promise<Answer<IssuedToken>>;
  /** Delivers a signed e-CF to its buyer. The answer is the buyer's ARECF, to be verified by the caller. */
  deliverDocument(input: DeliveryInput & { issuerRnc: string }): Promise<Answer<DeliveryAnswer>>;
  /** Delivers a signed ACECF to the issuer: accepted with status 200, refused with 400, the body is free. */
  deliverApproval(input: DeliveryInput & { buyerRnc: string }): Promise<Answer<ApprovalDeliveryAnswer>>;
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
  const send = createCaller({
    transport,
    circuits: options.circuits ?? null,
    clock,
    onCall: options.onCall ?? null,
  });

  /** Sends one call to a standard path below the receiver's address, unless that address may not be called. */
  async function call<V>(
    { baseUrl, signal, token }: ReceiverInput & { token?: string | undefined },
    path: string,
    request: Pick<CallRequest, 'operation' | 'file' | 'accept' | 'login' | 'anyStatus'>,
    read: AnswerReader<V>,
  ): Promise<Answer<V>> {
    const address = receiverAddress(baseUrl, path, options.allowPlainHttp ?? false);
    if ('refused' in address)
      return { outcome: 'refused', code: 'address_refused', reason: address.refused, raw: null };
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
    return send({ ...request, ...authorization, service: 'receiver', env: null, url: address.url, signal }, read);
  }

  return {
    receiverSeed: (input) =>
      call(input, 'fe/autenticacion/api/semilla', { operation: 'receiverSeed', accept: XML_FIRST }, readSeed),
    receiverToken: (input) => {
      const file = { filename: 'semilla.xml', content: input.signedSeed };
      const path = 'fe/autenticacion/api/validacioncertificado';
      return call(input, path, { operation: 'receiverToken', file, login: true }, readIssuedToken);
    },
    deliverDocument: (input) => {
      const file = { filename: documentFileName(input.issuerRnc, input.encf), content: input.xml };
      const request = { operation: 'deliverDocument', file, accept: XML_FIRST, anyStatus: true } as const;
      return call(input, 'fe/recepcion/api/ecf', request, readAcknowledgement);
    },
    deliverApproval: (input) => {
      const file = { filename: documentFileName(input.buyerRnc, input.encf), content: input.xml };
      const path = 'fe/aprobacioncomercial/api/ecf';
      return call(input, path, { operation: 'deliverApproval', file }, readApprovalDelivery);
    },
    close: () => transport.close(),
  };
}

/**
 * Joins the base and the standard path (contract section 11). A base that was registered with the standard path stays as it
 * is.
 */
function receiverAddress(baseUrl: string, path: string, allowPlainHttp: boolean): { url: URL } | { refused: string } {
  let url: URL;
  try {
    url = new URL(baseUrl.trim());
  } catch {
    return { refused: 'the receiver has no valid address' };
  }
  if (url.protocol !== 'https:' && !(allowPlainHttp && url.protocol === 'http:')) {
    return { refused: `the receiver's address is not https but ${url.protocol}//` };
  }
  if (url.username !== '' || url.password !== '') return { refused: "the receiver's address carries credentials" };
  url.search = '';
  url.hash = '';
  const base = withoutTrailingSlashes(url.pathname);
  url.pathname = base.toLowerCase().endsWith(`/${path.toLowerCase()}`) ? base : `${base}/${path}`;
  return { url };
}
