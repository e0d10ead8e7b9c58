import type { SigningCertificate } from '@ecf/xml-signing';
import type { Attempt } from '../attempt/attempt.js';
import type { Ports } from '../ports.js';
import type { Taxpayers } from '../taxpayers.js';
import type { Certificates } from './certificates.js';

/** Whose key can act for a document after its request is over. */
export interface DocumentCertificates {
  /** What came along with the document, while it is kept and valid. */
  sentAlong(attempt: Attempt): Promise<SigningCertificate | null>;
  /** The taxpayer's stored one, valid now; of an inactive taxpayer too. */
  stored(attempt: Attempt): Promise<SigningCertificate | null>;
}

export function createDocumentCertificates(
  ports: Pick<Ports, 'emissions' | 'observer' | 'clock'>,
  taxpayers: Pick<Taxpayers, 'lastKnown'>,
  certificates: Certificates,
): DocumentCertificates {
  return {
    async sentAlong(attempt) {
      if (!attempt.hasOwnCertificate) return null;
      const sealed = await ports.emissions.sealedCertificate(attempt);
      if (sealed === null) return null;
      try {
        const certificate = certificates.unsealed(sealed, attempt.issuerRnc);
        return certificate.notAfter > ports.clock() ? certificate : null;
      } catch (error) {
        ports.observer.failed('opening the certificate of a document', error, attempt);
        return null;
      }
    },
    async stored(attempt) {
      const taxpayer = await taxpayers.lastKnown(attempt.issuerRnc);
      if (taxpayer === null || taxpayer.account_id !== attempt.accountId) return null;
      try {
        return certificates.stored(taxpayer);
      } catch {
        return null;
      }
    },
  };
}
