import { readFileSync } from 'node:fs';
import type { BodyLimits } from '@ecf/http';
import { ConfigError, setting } from '@ecf/kit';
import { readTrustedIssuers } from '@ecf/xml-signing';
import { openRevocations } from './signers/revocations.js';
import { SIGNING_TIME_TOLERANCE_SECONDS, type TrustSettings } from './signers/trust.js';
import type { StoredBytesLimits } from './stored-bytes-quota.js';
import type { ValidationPoolOptions } from './validation-pool.js';

const MEBIBYTE = 1024 * 1024;
const GIBIBYTE = 1024 * MEBIBYTE;

/** Which senders may send; a service spreads these into its settings. */
export const senderSettings = {
  PROVIDER_AUTH: setting.oneOf(['off', 'required'], {
    description: 'Whether senders have to show a token of this receiver; off ignores every token',
    default: 'off',
  }),
  TRUSTED_ISSUERS_FILE: setting.optionalText({
    description:
      'PEM file of the issuers whose certificates are accepted from senders; outside a sandbox required unless ANY_ISSUER is true',
  }),
  SANDBOX: setting.flag({
    description: 'The deployment is a sandbox: it starts without TRUSTED_ISSUERS_FILE and ANY_ISSUER',
    default: false,
  }),
  ANY_ISSUER: setting.flag({
    description: 'Whether certificates of any issuer are accepted from senders, also outside a sandbox',
    default: false,
  }),
  REVOKED_CERTIFICATES_FILE: setting.optionalText({
    description:
      'File of revoked certificates: lists of issuers (CRL in PEM or DER), or lines with the SHA-256 of a certificate; read again when it changes',
  }),
  SIGNING_TIME_TOLERANCE: setting.integer({
    description: 'Seconds after the end of a certificate for which a document with an earlier signing time is accepted',
    min: 0,
    max: 10 * 365 * 86_400,
    default: SIGNING_TIME_TOLERANCE_SECONDS,
  }),
};

/** Bounds of the validation workers; a service spreads these into its settings. */
export const validationThreadSettings = {
  VALIDATION_THREADS: setting.integer({
    description: 'Worker threads that validate documents of up to 512 KiB',
    min: 1,
    max: 64,
    default: 1,
  }),
  LARGE_VALIDATION_THREADS: setting.integer({
    description:
      'Worker threads that validate signed documents over 512 KiB; in emission as many more read invoices in JSON over 64 KiB',
    min: 1,
    max: 64,
    default: 1,
  }),
  VALIDATION_TIMEOUT_MS: setting.integer({
    description:
      'Time to check one document, without waiting. After it the sender of a signed document gets 503, and a large invoice in JSON is refused',
    min: 100,
    max: 600_000,
    default: 20_000,
  }),
};

/** Limits on what senders send; a service spreads these into its settings. */
export const ingressLimitSettings = {
  MAX_BODY_BYTES: setting.integer({
    description: 'Largest body that is accepted, in bytes',
    min: 1_024,
    max: 1_024 * MEBIBYTE,
    default: 10 * MEBIBYTE,
  }),
  MAX_REFUSED_BYTES: setting.integer({
    description: 'Largest document that is kept when it is refused; of larger ones the checksum is kept',
    min: 0,
    max: 1_024 * MEBIBYTE,
    default: MEBIBYTE,
  }),
  MAX_STORED_BYTES_PER_SENDER: setting.integer({
    description:
      'Bytes that one sender (IPv4 address, IPv6 /48; with PROVIDER_AUTH the holder of its certificate) can make a service keep in 24 hours, refusals included; beyond them documents get 429',
    min: 1_024,
    max: 1_024 * GIBIBYTE,
    default: 64 * MEBIBYTE,
  }),
  MAX_STORED_BYTES_FROM_STRANGERS: setting.integer({
    description:
      'Bytes that all senders whose signer is not known can make a service keep in 24 hours, together; with TRUSTED_ISSUERS_FILE half of them are for trusted signers',
    min: 1_024,
    max: 1_024 * GIBIBYTE,
    default: 4 * GIBIBYTE,
  }),
  MAX_STORED_BYTES_PER_KNOWN_SIGNER: setting.integer({
    description:
      'Bytes that one known signer can make a service keep in 24 hours, from whatever address; the other two bounds do not count them',
    min: 1_024,
    max: 1_024 * GIBIBYTE,
    default: GIBIBYTE,
  }),
  MIN_FREE_BYTES: setting.integer({
    description:
      'Free bytes of the disk of DATA_DIR, or of S3_CAPACITY_BYTES, below which the public routes answer 503; customers can still submit',
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    default: GIBIBYTE,
  }),
  S3_CAPACITY_BYTES: setting.optionalInteger({
    description:
      'Bytes that this service may keep in S3, which does not report its free space; unset = MIN_FREE_BYTES has no effect on S3',
    min: 1_024,
    max: Number.MAX_SAFE_INTEGER,
  }),
  BODY_TIMEOUT_MS: setting.integer({
    description: 'Time for a body to arrive',
    min: 100,
    max: 3_600_000,
    default: 30_000,
  }),
  ...validationThreadSettings,
};

/** The bounds of the validation workers that the settings name. */
export function validationSettings(config: {
  readonly VALIDATION_THREADS: number;
  readonly LARGE_VALIDATION_THREADS: number;
  readonly VALIDATION_TIMEOUT_MS: number;
}): Pick<ValidationPoolOptions, 'threads' | 'timeoutMs'> {
  return {
    threads: { ordinary: config.VALIDATION_THREADS, large: config.LARGE_VALIDATION_THREADS },
    timeoutMs: config.VALIDATION_TIMEOUT_MS,
  };
}

/** The time of a body that the settings name. */
export function bodyLimits(config: { readonly BODY_TIMEOUT_MS: number }): BodyLimits {
  return { timeoutMs: config.BODY_TIMEOUT_MS };
}

/** The limits on kept bytes that the settings name. */
export function storedBytesLimits(config: {
  readonly MAX_STORED_BYTES_PER_SENDER: number;
  readonly MAX_STORED_BYTES_FROM_STRANGERS: number;
  readonly MAX_STORED_BYTES_PER_KNOWN_SIGNER: number;
  readonly trust: Pick<TrustSettings, 'issuers'>;
}): StoredBytesLimits {
  return {
    maxStoredBytesPerSender: config.MAX_STORED_BYTES_PER_SENDER,
    maxStoredBytesFromStrangers: config.MAX_STORED_BYTES_FROM_STRANGERS,
    maxStoredBytesPerKnownSigner: config.MAX_STORED_BYTES_PER_KNOWN_SIGNER,
    reserveForTrusted: config.trust.issuers !== null,
  };
}

/**
 * The trust of the settings. Throws ConfigError if a file cannot be used, or if neither TRUSTED_ISSUERS_FILE nor ANY_ISSUER
 * is set outside a sandbox.
 */
export function readTrustSettings(config: {
  readonly TRUSTED_ISSUERS_FILE?: string | undefined;
  readonly REVOKED_CERTIFICATES_FILE?: string | undefined;
  readonly SIGNING_TIME_TOLERANCE: number;
  readonly SANDBOX: boolean;
  readonly ANY_ISSUER: boolean;
}): TrustSettings {
  if (config.TRUSTED_ISSUERS_FILE === undefined && !config.ANY_ISSUER && !config.SANDBOX)
    throw new ConfigError([NO_ISSUERS]);
  return {
    issuers: readFileOf('TRUSTED_ISSUERS_FILE', config.TRUSTED_ISSUERS_FILE, 'PEM certificates', (file) =>
      readTrustedIssuers(readFileSync(file, 'utf8')),
    ),
    revocations: readFileOf(
      'REVOKED_CERTIFICATES_FILE',
      config.REVOKED_CERTIFICATES_FILE,
      'revocation lists or fingerprints',
      openRevocations,
    ),
    signingTimeToleranceMs: config.SIGNING_TIME_TOLERANCE * 1_000,
  };
}

const NO_ISSUERS = {
  variable: 'TRUSTED_ISSUERS_FILE',
  message:
    'is required outside a sandbox, because anybody can make a certificate; allowed: a PEM file of issuers. Set ANY_ISSUER=true to accept certificates of any issuer',
};

function readFileOf<T>(
  variable: string,
  file: string | undefined,
  content: string,
  read: (file: string) => T,
): T | null {
  if (file === undefined) return null;
  try {
    return read(file);
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unreadable';
    const message = `cannot be used (${reason}); allowed: a readable file of ${content}`;
    throw new ConfigError([{ variable, message }]);
  }
}
