import { withoutTrailingSlashes } from '@ecf/domain';
import type { Answer } from '../answers/answer.js';
import type { AnswerReader } from '../answers/answer-reader.js';
import type { OperationName } from '../transport/call-report.js';
import type { Exchange } from '../transport/exchange.js';
import type { FilePart } from '../transport/multipart.js';

export interface ReceiverInput {
  /** The directory's base address, e.g. `https://ecf.example.do/v1`; a trailing slash does not matter. */
  baseUrl: string;
  signal?: AbortSignal | undefined;
}

export interface ReceiverContext {
  exchange: Exchange;
  allowPlainHttp: boolean;
}

interface ReceiverCall {
  operation: OperationName;
  /** Standard path, below the base. */
  path: string;
  file?: FilePart;
  token?: string | undefined;
  accept?: string;
  login?: boolean;
  /** A verdict counts with any status. */
  anyStatus?: boolean;
}

/** Sends one call to a receiver, unless its address may not be called. */
export async function callReceiver<V>(
  context: ReceiverContext,
  input: ReceiverInput,
  call: ReceiverCall,
  read: AnswerReader<V>,
): Promise<Answer<V>> {
  const { path, token, ...rest } = call;
  const address = receiverAddress(input.baseUrl, path, context.allowPlainHttp);
  if ('refused' in address) {
    return { outcome: 'refused', code: 'address_refused', reason: address.refused, raw: null };
  }
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return context.exchange(
    { ...rest, ...authorization, service: 'receiver', env: null, url: address.url, signal: input.signal },
    read,
  );
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
