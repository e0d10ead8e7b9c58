import { TOPICS } from '@ecf/contracts';
import {
  DAY_SECONDS,
  DEFAULTS,
  FREE_SPACE,
  KEPT_DAYS,
  MONTHLY,
  MOST_POLLS,
  SERVER_CORES,
  TABLE_BYTES,
  UTILISATION,
  YEAR_DAYS,
} from './assumptions.js';
import type { Costs } from './costs.js';
import type { Demand } from './options.js';

/** A part that more instances do not speed up. */
export interface Limit {
  name: string;
  /** Mean of issued documents an hour up to which it suffices, with the planned peak. */
  documentsPerHour: number;
  /** What raises it. */
  movedBy: string;
  /** `range`: of one number range, whatever the others do. */
  kind: 'setting' | 'part' | 'range';
}

const PER_CORE_MS = 1_000 * UTILISATION;

/** The limits of the deployment, the nearest first. */
export function limitsOf(costs: Costs, demand: Demand, drawMs: number): Limit[] {
  const atPeak = (documentsPerSecond: number) => (documentsPerSecond * 3_600) / demand.peak;
  const limits = [...settings(atPeak), ...processors(costs, atPeak), largestTable(costs, demand.years)];
  limits.push({
    name: 'automatic numbers of one range: each draw waits for the one before',
    documentsPerHour: atPeak(1_000 / drawMs),
    movedBy: 'a faster commit of the database of emission; numbers that the ERP states',
    kind: 'range',
  });
  // A part that was not measured costs nothing and limits nothing.
  const known = limits.filter(({ documentsPerHour }) => Number.isFinite(documentsPerHour));
  return known.sort((a, b) => a.documentsPerHour - b.documentsPerHour);
}

function settings(atPeak: (rate: number) => number): Limit[] {
  return [
    {
      name: `POLL_RATE: ${DEFAULTS.POLL_RATE} queries a second to the authority`,
      // Those of the peak are made after it.
      documentsPerHour: DEFAULTS.POLL_RATE * 3_600,
      movedBy: `POLL_RATE up to ${MOST_POLLS}, as far as the authority allows`,
      kind: 'setting',
    },
    {
      name: `RATE_LIMIT_PER_KEY: ${DEFAULTS.RATE_LIMIT_PER_KEY} calls a second with one API key`,
      documentsPerHour: atPeak(DEFAULTS.RATE_LIMIT_PER_KEY),
      movedBy: 'batches, several API keys, or RATE_LIMIT_PER_KEY',
      kind: 'setting',
    },
  ];
}

function processors(costs: Costs, atPeak: (rate: number) => number): Limit[] {
  const { partitions } = TOPICS.invoices;
  const part = (name: string, rate: number, movedBy: string): Limit => {
    return { name, documentsPerHour: atPeak(rate), movedBy, kind: 'part' };
  };
  return [
    part(
      'the one instance of emission that publishes its events',
      PER_CORE_MS / (costs.publisherMs.emission ?? 0),
      'a faster core; the taxpayers divided over two deployments',
    ),
    part(
      `the ${partitions} partitions of ${TOPICS.invoices.name}: as many instances of query read them`,
      (partitions * PER_CORE_MS) / (costs.mainMs.query ?? 0),
      'more partitions of the topics that query reads',
    ),
    part(
      `one PostgreSQL server of ${SERVER_CORES} cores for all databases`,
      (SERVER_CORES * PER_CORE_MS) / (costs.ms.postgresql ?? 0),
      'a server for each database, by DATABASE_URL of each service',
    ),
    part(
      `one PostgreSQL server of ${SERVER_CORES} cores for the database of emission`,
      (SERVER_CORES * PER_CORE_MS) / (costs.postgresMs.emission ?? 0),
      'faster cores; the taxpayers divided over two deployments',
    ),
  ];
}

/** PostgreSQL keeps at most 32 TiB in a table or a partition. */
function largestTable(costs: Costs, years: number): Limit {
  const whole = Object.entries(costs.tables).filter(([name]) => {
    return !MONTHLY.includes(name) && KEPT_DAYS[name.split('.')[1] ?? ''] === undefined;
  });
  const [name, bytes] = whole.reduce((most, one) => (one[1] > most[1] ? one : most));
  const hours = years * YEAR_DAYS * (DAY_SECONDS / 3_600);
  return {
    name: `the table ${name} after ${years} years: 32 TiB with its indexes`,
    documentsPerHour: TABLE_BYTES / (bytes * FREE_SPACE * hours),
    movedBy: 'fewer years in one deployment; the taxpayers divided over two deployments',
    kind: 'part',
  };
}
