import type { ServiceName } from '@ecf/contracts';

/** Share of a core that is planned for; the rest is for gusts, restarts and other work. */
export const UTILISATION = 0.6;
/** One may fail or restart. */
export const LEAST_INSTANCES = 2;
export const DAY_SECONDS = 86_400;
export const YEAR_DAYS = 365;
/** Tables are rewritten before they are measured. In use, pages of tables and indexes are partly empty. */
export const FREE_SPACE = 1.3;
/** Most connections to the database of a service, by default; the relay of its outbox has three more. */
export const CONNECTIONS: Record<ServiceName, number> = {
  gateway: 10,
  emission: 10,
  'status-poller': 8,
  approvals: 16,
  reception: 16,
  query: 12,
};
export const RELAY_CONNECTIONS = 3;
/** Calls of one instance that are in flight to the authority: sockets of emission, POLL_CONCURRENCY, DELIVERY_CONCURRENCY. */
export const CALLS_IN_FLIGHT: Partial<Record<ServiceName, number>> = {
  emission: 128,
  'status-poller': 32,
  approvals: 64,
};
/** Days that rows of a table are kept; others are kept for all years. Rows of 0 days wait for work. */
export const KEPT_DAYS: Record<string, number> = {
  inbox: 7,
  feed_event: 90,
  batch: 30,
  batch_line: 30,
  submission_key: 30,
  outbox: 0,
  pending_document: 0,
  poll: 0,
  webhook_delivery: 0,
  reserved_number: 0,
  sealed_certificate: 0,
};

/** Defaults of settings that bound a deployment. */
export const DEFAULTS = { POLL_RATE: 50, RATE_LIMIT_PER_KEY: 200 };
/** The largest value of POLL_RATE. */
export const MOST_POLLS = 1_000;
/** Cores of a large database server. */
export const SERVER_CORES = 64;
/** Largest table, or partition of one, of PostgreSQL. Source: PostgreSQL, Appendix K. */
export const TABLE_BYTES = 32 * 2 ** 40;
/** Tables with a partition for each month. */
export const MONTHLY = ['emission.attempt', 'emission.exchange'];
