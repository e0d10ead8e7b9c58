import { busSettings } from '@ecf/bus';
import { serviceKeySettings } from '@ecf/http/identity';
import { authoritySettings, databaseSettings, readConfig, serverSettings, setting } from '@ecf/kit';
import { z } from 'zod';

/** Every setting of the status poller. */
export const statusPollerSettings = z.object({
  ...serverSettings(8082),
  ...busSettings,
  ...databaseSettings(8),
  ...serviceKeySettings,
  ...authoritySettings,
  EMISSION_URL: setting.optionalUrl({
    description: 'Address of emission, queried for tokens and recent submissions; required unless in one process',
  }),
  FIRST_QUERY_MS: setting.integer({
    description:
      'Milliseconds from a submission to the first query for its result; each further pause doubles, up to an hour',
    min: 10,
    max: 600_000,
    default: 5_000,
  }),
  STATUS_BUDGET_MS: setting.integer({
    description: 'Milliseconds that GET /invoice-status waits for the authority before it answers the last known state',
    min: 50,
    max: 60_000,
    default: 3_000,
  }),
  STATUS_FRESH_MS: setting.integer({
    description: 'Milliseconds in which an answer of the authority is used again without another query',
    min: 0,
    max: 60_000,
    default: 250,
  }),
  POLL_RATE: setting.integer({
    description: 'Queries a second to one environment of the authority, all instances together',
    min: 1,
    max: 1_000,
    default: 50,
  }),
  POLL_CONCURRENCY: setting.integer({
    description: 'Queries of one instance in flight',
    min: 1,
    max: 1_000,
    default: 32,
  }),
  POLL_IDLE_MS: setting.integer({
    description:
      'Longest pause in milliseconds between two queries for due submissions; an instance does not wait for it with due times that it stored itself',
    min: 10,
    max: 60_000,
    default: 30_000,
  }),
  COMPARE_EVERY_MS: setting.integer({
    description:
      'Milliseconds, give or take a quarter, between comparisons with the results that emission awaits; they repair lost events',
    min: 1_000,
    max: 86_400_000,
    default: 300_000,
  }),
  POLL_LEASE_MS: setting.integer({
    description:
      'Milliseconds after which another instance repeats a query of an instance that ended; must exceed the time of one query',
    min: 100,
    max: 3_600_000,
    default: 90_000,
  }),
});

export type StatusPollerConfig = z.infer<typeof statusPollerSettings>;

/** Reads the configuration. Throws ConfigError with the variable and the values it may have. */
export function readStatusPollerConfig(env: Record<string, string | undefined>): StatusPollerConfig {
  return readConfig(statusPollerSettings, env);
}
