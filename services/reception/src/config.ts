import { readFileSync } from 'node:fs';
import { isRnc } from '@ecf/domain';
import {
  busSettings,
  ConfigError,
  databaseSettings,
  describeSetting,
  gatewayAddressSettings,
  readConfig,
  sealingSettings,
  serverSettings,
  setting,
} from '@ecf/service-kit';
import { readTrustedIssuers, type TrustedIssuers } from '@ecf/xml-signing';
import { z } from 'zod';

const MEBIBYTE = 1024 * 1024;

/** Every setting of the reception service. */
export const receptionSettings = z.object({
  ...serverSettings(8083),
  ...busSettings,
  ...databaseSettings(16),
  ...sealingSettings,
  ...gatewayAddressSettings,
  DATA_DIR: setting.text({
    description: 'Folder of stored XML and of events that could not be handled',
    default: '.data',
  }),
  RECEPTION_SIGNER_RNC: describeSetting(z.string().refine(isRnc).optional() as z.ZodType<string | undefined>, {
    description: 'Taxpayer that signs acknowledgements for buyers not served here; unset = such documents get 404',
    allowed: 'an RNC of 9 or 11 digits',
  }),
  PROVIDER_AUTH: setting.oneOf(['off', 'required'], {
    description: 'Whether senders have to show a token of this receiver; off ignores every token',
    default: 'off',
  }),
  TRUSTED_ISSUERS_FILE: setting.optionalText({
    description: 'PEM file of the issuers whose certificates are accepted from senders; unset = any issuer',
  }),
  PROVIDER_TOKEN_SECONDS: setting.integer({
    description: 'Life of a token that a sender gets',
    min: 60,
    max: 3_600,
    default: 1_800,
  }),
  PROVIDER_KEY_ROTATION_HOURS: setting.integer({
    description: 'Hours after which a new key signs the tokens of senders',
    min: 1,
    max: 8_760,
    default: 24,
  }),
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
  MAX_HELD_BYTES: setting.integer({
    description: 'Bytes of bodies of all senders that are held in memory at once',
    min: MEBIBYTE,
    max: 64 * 1_024 * MEBIBYTE,
    default: 128 * MEBIBYTE,
  }),
  MAX_HELD_BYTES_PER_SENDER: setting.integer({
    description: 'Bytes of bodies of one sender address that are held in memory at once',
    min: MEBIBYTE,
    max: 64 * 1_024 * MEBIBYTE,
    default: 64 * MEBIBYTE,
  }),
  MAX_REQUESTS: setting.integer({
    description: 'Documents of all senders that are arriving or being answered at once',
    min: 1,
    max: 1_000_000,
    default: 4_000,
  }),
  MAX_REQUESTS_PER_SENDER: setting.integer({
    description: 'Documents of one sender address that are arriving or being answered at once',
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
  LARGE_DOCUMENT_THREADS: setting.integer({
    description: 'Threads that judge large documents, beside the one that answers everybody',
    min: 1,
    max: 64,
    default: 1,
  }),
  LARGE_DOCUMENT_TIMEOUT_MS: setting.integer({
    description: 'Time after which a large document that is still being judged is refused',
    min: 100,
    max: 600_000,
    default: 20_000,
  }),
});

/** The settings, with the trusted issuers read. */
export type ReceptionConfig = z.infer<typeof receptionSettings> & { trustedIssuers: TrustedIssuers | null };

/** Reads the service's configuration from environment variables; throws ConfigError naming every variable at fault. */
export function readReceptionConfig(env: Record<string, string | undefined>): ReceptionConfig {
  const settings = readConfig(receptionSettings, env);
  return { ...settings, trustedIssuers: trustedIssuers(settings.TRUSTED_ISSUERS_FILE) };
}

function trustedIssuers(file: string | undefined): TrustedIssuers | null {
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
