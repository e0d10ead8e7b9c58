import type { AuthorityMessage } from './number-reuse.js';
import { toIsoDominican } from './time/dominican-time.js';

/** `codigo` of the entries that the gateway itself adds to the messages of a document. */
export const GATEWAY_CODE = 'gateway';

/** Says that the authority limits calls (status 429), of the taxpayer or of every caller, and when the next try is. */
export function limitMessage(limit: 'taxpayer' | 'service', nextTryAt: Date): AuthorityMessage {
  const whose = limit === 'taxpayer' ? 'the calls of this taxpayer' : 'the calls of all taxpayers';
  return {
    codigo: GATEWAY_CODE,
    valor: `The authority limits ${whose} at present (status 429). The document is stored; the next try is at ${toIsoDominican(nextTryAt)}.`,
  };
}
