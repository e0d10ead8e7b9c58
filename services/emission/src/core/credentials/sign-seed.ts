import { type Seed, signSeed } from '@ecf/authority-client';
import { type DocumentKey, documentKey } from '../attempt/attempt.js';
import { EmissionError } from '../errors.js';
import type { Ports } from '../ports.js';
import type { DocumentCertificates } from './document-certificates.js';

/** A seed signed with the certificate that came along with a document, and whose that is. */
export type SignSeed = (key: DocumentKey, seed: Seed | null) => Promise<{ fingerprint: string; signed: string | null }>;

/** For those who deliver documents whose certificate is nowhere else. @throws EmissionError `certificate_missing` */
export function createSignSeed(
  ports: Pick<Ports, 'emissions'>,
  certificates: Pick<DocumentCertificates, 'sentAlong'>,
): SignSeed {
  return async (key, seed) => {
    const attempt = await ports.emissions.find(key);
    const certificate = attempt === null ? null : await certificates.sentAlong(attempt);
    if (certificate === null) {
      throw new EmissionError(
        'certificate_missing',
        `No certificate is kept for ${documentKey(key)}; upload one for ${key.issuerRnc} in the administration.`,
      );
    }
    return {
      fingerprint: certificate.fingerprint,
      signed: seed === null ? null : await signSeed(seed, certificate),
    };
  };
}
