import type { CanonicalXml } from '@ecf/ecf-xml';
import type { Verification } from './verification.js';

/** Verifies the enveloped signature of a document. Never throws for what is wrong with the document. */
export function verifyXml(_xml: Uint8Array | CanonicalXml, _now: Date = new Date()): Verification {
  throw new Error('not yet');
}
