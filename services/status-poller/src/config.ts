import { busSettings } from '@ecf/service-kit/bus';
import {
  authoritySettings,
  databaseSettings,
  identitySettings,
  readConfig,
  serverSettings,
  setting,
} from '@ecf/service-kit/config';
import { z } from 'zod';

/** Every setting of the status poller. */
export const statusPollerSettings = z.object({
  ...serverSettings(8082),
  ...busSettings,
  ...databaseSettings(8),
  ...identitySettings,
  ...authoritySettings,
  EMISSION_URL: setting.optionalUrl({
    description:
      'Address of emission, asked for tokens and for submissions of a moment ago; required unless in one process',
  }),
  FIRST_QUERY_MS: setting.integer({
    description:
      'Milliseconds from a submission to the first question for its result; each further pause doubles, up to an hour',
    min: 10,
    max: 600_000,
    default: 5_000,
  }),
  STATUS_BUDGET_MS: setting.integer({
    description: 'Milliseconds that GET /invoice-status waits for the authority before it answers what is known',
    min: 50,
    max: 60_000,
    default: 3_000,
  }),
  STATUS_FRESH_MS: setting.integer({
    description: 'Milliseconds that an answer of the authority is given again without asking once more',
    min: 0,
    max: 60_000,
    default: 250,
  }),
  POLL_RATE: setting.integer({
    description: 'Questions a second to one environment of the authority, all instances together',
    min: 1,
    max: 1_000,
    default: 50,
  }),
  POLL_CONCURRENCY: setting.integer({
    description: 'Questions of one instance under way at the same time',
    min: 1,
    max: 1_000,
    default: 32,
  }),
  POLL_IDLE_MS: setting.integer({
    description: 'Milliseconds between looks for due submissions while none is known to be due',
    min: 10,
    max: 60_000,
    default: 1_000,
  }),
  COMPARE_EVERY_MS: setting.integer({
    description:
      'Milliseconds, give or take a quarter, between comparisons with what emission awaits: they mend what events did not tell',
    min: 1_000,
    max: 86_400_000,
    default: 300_000,
  }),
  POLL_LEASE_MS: setting.integer({
    description:
      'Milliseconds after which a question of an instance that ended is asked by another; longer than one question takes',
    min: 100,
    max: 3_600_000,
    default: 90_000,
  }),
});

export type StatusPollerConfig = z.infer<typeof statusPollerSettings>;

/** Reads the configuration; throws ConfigError naming the variable and what is allowed. */
export function readStatusPollerConfig(env: Record<string, string | undefined>): StatusPollerConfig {
  return readConfig(statusPollerSettings, env);
}
