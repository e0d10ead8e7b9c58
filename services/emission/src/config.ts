import { archiveSettings } from '@ecf/archive';
import { busSettings } from '@ecf/bus';
import { serviceKeySettings } from '@ecf/http/identity';
import {
  authoritySettings,
  bodySettings,
  databaseSettings,
  gatewayAddressSettings,
  readConfig,
  sealingSettings,
  serverSettings,
  setting,
} from '@ecf/kit';
import { cacheSettings } from '@ecf/kit/cache';
import { validationThreadSettings } from '@ecf/public-ingress';
import { z } from 'zod';

/** Every setting of the service. */
export const emissionSettings = z.object({
  ...serverSettings(8081),
  ...bodySettings,
  ...busSettings,
  ...databaseSettings(10),
  ...sealingSettings,
  ...serviceKeySettings,
  ...gatewayAddressSettings,
  ...authoritySettings,
  ...archiveSettings,
  ...cacheSettings,
  ...validationThreadSettings,
  STATUS_WAIT_MS: setting.integer({
    description: 'Milliseconds that /fe_Submit waits for the verdict; 0 does not wait',
    default: 3_000,
    min: 0,
    max: 60_000,
  }),
  RESEND_AFTER_MS: setting.integer({
    description: 'Milliseconds between the two answers "not found" that allow the same bytes to be sent again',
    default: 300_000,
    min: 0,
    max: 86_400_000,
  }),
  FIRST_RETRY_MS: setting.integer({
    description: 'Pause in milliseconds after the first failed send; it doubles to an hour',
    default: 4_000,
    min: 10,
    max: 4_000,
  }),
  BACKGROUND_CONCURRENCY: setting.integer({
    description: 'Documents in flight in the background',
    default: 8,
    min: 1,
    max: 256,
  }),
  RECOVERY_RATE: setting.integer({
    description:
      'Documents per second that are sent to each environment at first when the authority returns; the rate grows while the authority answers',
    default: 10,
    min: 1,
    max: 1_000,
  }),
  MAINTENANCE_EVERY_MS: setting.integer({
    description: "Milliseconds between two reads of the authority's announcements of maintenance",
    default: 300_000,
    min: 100,
    max: 3_600_000,
  }),
  STATUS_KEY: setting.optionalText({
    description: "Key of the authority's status service; unset = announcements of maintenance are not read",
    secret: true,
  }),
  BATCH_CONCURRENCY: setting.integer({
    description:
      'Lines of batches in flight in one instance; a quarter of it while the instance works on submissions of callers',
    default: 64,
    min: 1,
    max: 256,
  }),
  BACKGROUND_IDLE_MS: setting.integer({
    description:
      'Longest pause in milliseconds between two queries for due documents; an instance does not wait for it with due times that it stored itself',
    default: 30_000,
    min: 10,
    max: 60_000,
  }),
  MAX_SUBMISSIONS: setting.integer({
    description:
      'Calls of /fe_Submit, /submit_ecf and /submit_fc that one instance works on at the same time, from the end of their body to their answer; further calls get 503 overloaded. One account may use a quarter, and one API key four fifths of that quarter; further calls get 429',
    default: 1_000,
    min: 1,
    max: 100_000,
  }),
  RATE_LIMIT_PER_ACCOUNT: setting.integer({
    description:
      'Documents per second for each account. Calls above the limit get 429. Batch lines wait, and use at most 80 % of the limit. 0 = no limit',
    default: 0,
    min: 0,
    max: 1_000_000,
  }),
  DATABASE_WAIT_MS: setting.integer({
    description: 'Milliseconds that a request waits for an unavailable database before 503',
    default: 8_000,
    min: 0,
    max: 60_000,
  }),
  MAX_BODY_BYTES: setting.integer({
    description: 'Largest request body in bytes',
    default: 10_485_760,
    min: 1_024,
    max: 1_073_741_824,
  }),
});

export type EmissionConfig = z.infer<typeof emissionSettings>;

/** Reads the configuration; throws ConfigError naming the variable and what is allowed. */
export function emissionConfig(env: Record<string, string | undefined>): EmissionConfig {
  return readConfig(emissionSettings, env);
}
