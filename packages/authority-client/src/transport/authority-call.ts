import type { Environment } from '@ecf/domain';
import type { Answer } from '../answers/answer.js';
import type { AnswerReader } from '../answers/answer-reader.js';
import { type AuthorityService, type Endpoints, serviceAddress, serviceExists } from '../endpoints.js';
import type { OperationName } from './call-report.js';
import type { Exchange } from './exchange.js';
import type { FilePart } from './multipart.js';

/** The input of every operation of the authority. */
export interface AuthorityInput {
  env: Environment;
  /** Ends the call early; the answer is then `unknown`, cause `aborted`. */
  signal?: AbortSignal | undefined;
  /** RNC of the taxpayer in whose name the call is made. Operations on a document take its issuer or buyer. */
  taxpayer?: string | undefined;
}

/** The same with the bearer token of a login. */
export interface AuthorisedInput extends AuthorityInput {
  token: string;
}

/** A signed document; a string is sent as UTF-8 without BOM, bytes as they are. */
export type SignedDocument = string | Uint8Array;

export interface AuthorityContext {
  endpoints: Endpoints;
  exchange: Exchange;
}

interface AuthorityCall {
  operation: OperationName;
  service: AuthorityService;
  path: string;
  taxpayer?: string;
  query?: Record<string, string | undefined>;
  /** A file to post; without one the call is a GET. */
  file?: FilePart;
  /** Whole value of the header Authorization. */
  authorization?: string;
  accept?: string;
  maxAnswerBytes?: number;
  /** Characters of the answer that are kept unchanged; default 65,536. */
  maxRawCharacters?: number;
  login?: boolean;
}

/** Sends one call to a service of the authority, unless the environment lacks that service. */
export async function callAuthority<V>(
  context: AuthorityContext,
  input: AuthorityInput,
  call: AuthorityCall,
  read: AnswerReader<V>,
): Promise<Answer<V>> {
  const { path, query, ...rest } = call;
  if (!serviceExists(call.service, input.env)) {
    return {
      outcome: 'refused',
      code: 'service_not_in_environment',
      reason: `the authority has no service ${call.service} in ${input.env}`,
      raw: null,
    };
  }
  const url = serviceAddress(context.endpoints, call.service, input.env, path, query);
  return context.exchange({ env: input.env, url, signal: input.signal, taxpayer: input.taxpayer, ...rest }, read);
}

/** Header value for a bearer token. */
export function bearer(token: string): string {
  return `Bearer ${token}`;
}
