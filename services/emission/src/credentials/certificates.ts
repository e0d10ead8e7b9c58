import { createHash } from 'node:crypto';
import type { TaxpayerState } from '@ecf/contracts';
import { type SealBinding, taxpayerCertificate } from '@ecf/kit';
import { CertificateError, checkValidity, deserialiseCertificate, type SigningCertificate } from '@ecf/xml-signing';
import { LRUCache } from 'lru-cache';
import { EmissionError, invalidRequest } from '../errors.js';
import type { Sealer } from './ports.js';

/** The certificate and password parts of a request. */
export interface UploadedCertificate {
  readonly p12: Uint8Array;
  readonly password: string;
}

export interface Certificates {
  /** The taxpayer's stored certificate, valid now. 503 `certificate_*` says why it cannot sign. */
  stored(taxpayer: TaxpayerState): SigningCertificate;
  /** The certificate of the request of an account, valid now. 422 names the part at fault. */
  uploaded(upload: UploadedCertificate, accountId: string): Promise<SigningCertificate>;
  /** A sealed certificate. Its validity is not checked. */
  unsealed(sealed: Uint8Array, binding: SealBinding): SigningCertificate;
}

/** Opens a .p12 or .pfx file whose certificate is valid at a moment. CertificateError says why it cannot sign. */
export type OpenCertificate = (
  p12: Uint8Array,
  password: string,
  now: Date,
  accountId: string,
) => Promise<SigningCertificate>;

const OPENED_AT_MOST = 500;
const UPLOADED_FOR_MS = 60_000;

/** Opens each certificate once, because parsing a key or a PKCS#12 file takes longer than a signature. */
export function createCertificates(sealer: Sealer, clock: () => Date, open: OpenCertificate): Certificates {
  const opened = new LRUCache<string, SigningCertificate>({ max: OPENED_AT_MOST });
  const uploads = new LRUCache<string, { opening: Promise<SigningCertificate>; until: number }>({
    max: OPENED_AT_MOST,
  });

  function unsealed(sealed: Uint8Array, binding: SealBinding): SigningCertificate {
    return deserialiseCertificate(sealer.unseal(sealed, binding));
  }

  return {
    unsealed,
    stored(taxpayer) {
      if (taxpayer.certificate === null) {
        throw new EmissionError(
          'certificate_missing',
          `${taxpayer.rnc} has no stored certificate; upload one, or send certificate and password with the request.`,
        );
      }
      const key = `${taxpayer.account_id}:${taxpayer.rnc}:${taxpayer.fingerprint}`;
      let certificate = opened.get(key);
      try {
        certificate ??= unsealed(Buffer.from(taxpayer.certificate, 'base64'), taxpayerCertificate(taxpayer));
      } catch (cause) {
        throw new EmissionError(
          'certificate_unusable',
          `The stored certificate of ${taxpayer.rnc} cannot be opened; upload it again.`,
          {
            cause,
          },
        );
      }
      opened.set(key, certificate);
      try {
        checkValidity(certificate, clock());
      } catch (cause) {
        throw unusable(taxpayer.rnc, cause);
      }
      return certificate;
    },
    async uploaded({ p12, password }, accountId) {
      const now = clock();
      for (const [other, { until }] of uploads) if (until <= now.getTime()) uploads.delete(other);
      // The length says where the password begins, so that no other pair has the same key.
      const key = createHash('sha256').update(`${p12.length}\n`).update(p12).update(password).digest('base64');
      // Equal files that come together are opened once. One that cannot be opened is not kept.
      const opening = uploads.get(key)?.opening ?? open(p12, password, now, accountId);
      uploads.set(key, { opening, until: now.getTime() + UPLOADED_FOR_MS });
      try {
        const certificate = await opening;
        checkValidity(certificate, now);
        return certificate;
      } catch (error) {
        if (uploads.get(key)?.opening === opening) uploads.delete(key);
        if (!(error instanceof CertificateError)) throw error;
        const part = error.code === 'wrong_password' ? 'password' : 'certificate';
        throw invalidRequest(['body', part], error.message, error.code, error);
      }
    },
  };
}

function unusable(rnc: string, cause: unknown): EmissionError {
  const code = cause instanceof CertificateError ? cause.code : null;
  if (code === 'certificate_expired' || code === 'certificate_not_yet_valid') {
    const words = code === 'certificate_expired' ? 'has expired' : 'is not valid yet';
    return new EmissionError(code, `The stored certificate of ${rnc} ${words}; upload another.`, { cause });
  }
  return new EmissionError('certificate_unusable', `The stored certificate of ${rnc} cannot sign; upload it again.`, {
    cause,
  });
}
