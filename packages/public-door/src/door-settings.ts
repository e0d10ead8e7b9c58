import { readFileSync } from 'node:fs';
import { ConfigError, setting } from '@ecf/service-kit/config';
import { readTrustedIssuers, type TrustedIssuers } from '@ecf/xml-signing';
import type { IntakeLimits } from './body-intake.js';
import type { JudgeThreadCounts } from './judge-threads.js';
import type { RefusedBytesSettings } from './refused-bytes.js';

const MEBIBYTE = 1024 * 1024;
const GIBIBYTE = 1024 * MEBIBYTE;

/** Who may send: to be spread into the settings of a service. */
export const senderSettings = {
  PROVIDER_AUTH: setting.oneOf(['off', 'required'], {
    description: 'Whether senders have to show a token of this receiver; off ignores every token',
    default: 'off',
  }),
  TRUSTED_ISSUERS_FILE: setting.optionalText({
    description: 'PEM file of the issuers whose certificates are accepted from senders; unset = any issuer',
  }),
};

/** How much is taken from senders, and how it is judged: to be spread into the settings of a service. */
export const intakeSettings = {
  MAX_BODY_BYTES: setting.integer({
    description: 'Largest body that is taken, in bytes',
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
  MAX_REFUSED_BYTES_PER_SENDER: setting.integer({
    description: 'Bytes of refused documents of one sender (IPv4 address, IPv6 /48) that are kept in a day',
    min: 0,
    max: 1_024 * GIBIBYTE,
    default: GIBIBYTE / 4,
  }),
  MAX_REFUSED_BYTES_PER_DAY: setting.integer({
    description: 'Bytes of refused documents of all senders that are kept in a day',
    min: 0,
    max: 1_024 * GIBIBYTE,
    default: 4 * GIBIBYTE,
  }),
  MAX_RECEIVED_BYTES_PER_SENDER: setting.integer({
    description:
      'Bytes of documents of one sender (IPv4 address, IPv6 /48) that are taken in a UTC day; more get 429 until the next',
    min: 1_024,
    max: 1_024 * GIBIBYTE,
    default: 4 * GIBIBYTE,
  }),
  MIN_FREE_BYTES: setting.integer({
    description:
      'Free bytes of the disk of DATA_DIR below which the public doors take nothing (503); what customers submit goes on; without effect where S3_ENDPOINT is set',
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    default: GIBIBYTE,
  }),
  MAX_HELD_BYTES: setting.integer({
    description:
      'Bytes of bodies of all senders that are held in memory at once; for the largest body to fit, six times MAX_BODY_BYTES',
    min: MEBIBYTE,
    max: 64 * 1_024 * MEBIBYTE,
    default: 128 * MEBIBYTE,
  }),
  MAX_HELD_BYTES_PER_SENDER: setting.integer({
    description:
      'Bytes of bodies of one sender address that are held in memory at once, and never more than half of what is left free',
    min: MEBIBYTE,
    max: 64 * 1_024 * MEBIBYTE,
    default: 32 * MEBIBYTE,
  }),
  MAX_REQUESTS: setting.integer({
    description: 'Documents of all senders that are arriving or being answered at once',
    min: 16,
    max: 1_000_000,
    default: 4_000,
  }),
  MAX_REQUESTS_PER_SENDER: setting.integer({
    description:
      'Documents of one sender address that are arriving or being answered at once, and never more than half of what is left',
    min: 1,
    max: 1_000_000,
    default: 1_000,
  }),
  BODY_TIMEOUT_MS: setting.integer({
    description: 'Time for a body to arrive',
    min: 100,
    max: 3_600_000,
    default: 30_000,
  }),
  BODY_MIN_BYTES_PER_SECOND: setting.integer({
    description: 'Rate that a body has to bring after its first five seconds',
    min: 0,
    max: MEBIBYTE,
    default: 1_024,
  }),
  MEDIUM_DOCUMENT_THREADS: setting.integer({
    description:
      'Threads that judge documents of 32 to 512 KiB and smaller costly ones, beside the one that answers everybody',
    min: 1,
    max: 64,
    default: 1,
  }),
  LARGE_DOCUMENT_THREADS: setting.integer({
    description: 'Threads that judge documents over 512 KiB',
    min: 1,
    max: 64,
    default: 1,
  }),
  LARGE_DOCUMENT_TIMEOUT_MS: setting.integer({
    description: 'Time after which a document that a thread is still judging is put off with 503',
    min: 100,
    max: 600_000,
    default: 20_000,
  }),
};

interface IntakeConfig {
  readonly MAX_BODY_BYTES: number;
  readonly MAX_HELD_BYTES: number;
  readonly MAX_HELD_BYTES_PER_SENDER: number;
  readonly MAX_REQUESTS: number;
  readonly MAX_REQUESTS_PER_SENDER: number;
  readonly BODY_TIMEOUT_MS: number;
  readonly BODY_MIN_BYTES_PER_SECOND: number;
}

/** How many threads the settings name. */
export function judgeThreadCounts(config: {
  readonly MEDIUM_DOCUMENT_THREADS: number;
  readonly LARGE_DOCUMENT_THREADS: number;
}): JudgeThreadCounts {
  return { medium: config.MEDIUM_DOCUMENT_THREADS, large: config.LARGE_DOCUMENT_THREADS };
}

/** The limits that the settings name. */
export function intakeLimits(config: IntakeConfig): IntakeLimits {
  return {
    maxBytes: config.MAX_BODY_BYTES,
    maxHeldBytes: config.MAX_HELD_BYTES,
    maxHeldBytesPerSender: config.MAX_HELD_BYTES_PER_SENDER,
    maxRequests: config.MAX_REQUESTS,
    maxRequestsPerSender: config.MAX_REQUESTS_PER_SENDER,
    timeoutMs: config.BODY_TIMEOUT_MS,
    minRate: config.BODY_MIN_BYTES_PER_SECOND,
  };
}

/** The bounds on what is kept of refused documents that the settings name. */
export function refusedBytesSettings(config: {
  readonly MAX_REFUSED_BYTES: number;
  readonly MAX_REFUSED_BYTES_PER_SENDER: number;
  readonly MAX_REFUSED_BYTES_PER_DAY: number;
}): RefusedBytesSettings {
  return {
    maxRefusedBytes: config.MAX_REFUSED_BYTES,
    maxRefusedBytesPerSender: config.MAX_REFUSED_BYTES_PER_SENDER,
    maxRefusedBytesPerDay: config.MAX_REFUSED_BYTES_PER_DAY,
  };
}

/** The issuers of TRUSTED_ISSUERS_FILE, null where none is set; throws ConfigError where the file cannot be used. */
export function readTrustedIssuersFile(file: string | undefined): TrustedIssuers | null {
  if (file === undefined) return null;
  try {
    return readTrustedIssuers(readFileSync(file, 'utf8'));
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unreadable';
    throw new ConfigError([
      {
        variable: 'TRUSTED_ISSUERS_FILE',
        message: `cannot be used (${reason}); allowed: a readable file of PEM certificates`,
      },
    ]);
  }
}
