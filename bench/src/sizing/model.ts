import { SERVICE_NAMES, type ServiceName, TOPICS } from '@ecf/contracts';
import {
  CALLS_IN_FLIGHT,
  CONNECTIONS,
  DAY_SECONDS,
  FREE_SPACE,
  KEPT_DAYS,
  LEAST_INSTANCES,
  RELAY_CONNECTIONS,
  UTILISATION,
  YEAR_DAYS,
} from './assumptions.js';
import { type Costs, costsOf, idleOf, SERVERS } from './costs.js';
import { type Limit, limitsOf } from './limits.js';
import type { Measured } from './measured.js';
import type { Demand } from './options.js';
import { waitOf } from './queue.js';

export interface ServicePlan {
  name: ServiceName;
  instances: number;
  /** What decides the number. */
  because: 'processor' | 'availability' | 'calls in flight';
  /** Cores that all instances use at the peak, idle work included. */
  cores: number;
  /** MiB of one instance. */
  mebibytes: number;
  /** To its database, of all instances. */
  connections: number;
  /** Milliseconds that 99 of 100 documents wait at most for the main thread at the peak, simulated. */
  waitMs: number;
}

/** Bytes in a database, a topic or the archive. */
export interface DiskPlan {
  name: string;
  /** Growth in a year; 0 for what is deleted after days. */
  perYear: number;
  /** After all years. */
  total: number;
}

export interface Plan {
  demand: Demand;
  meanRate: number;
  peakRate: number;
  services: ServicePlan[];
  servers: { name: string; cores: number }[];
  databases: DiskPlan[];
  walPerDay: number;
  topics: (DiskPlan & { partitions: number; perDay: number })[];
  archive: DiskPlan & { objectsPerYear: number };
  limits: Limit[];
  /** Parts that cost most, by their share of all cores and of all bytes after the years. */
  drivers: { cores: Share[]; disk: Share[] };
}

interface Share {
  name: string;
  share: number;
}

/** What a load needs, from measured costs. Figures beyond the measured instances are extrapolated. */
export function planOf(measured: Measured, demand: Demand): Plan {
  const costs = costsOf(measured, demand);
  const meanRate = demand.documentsPerHour / 3_600;
  const peakRate = meanRate * demand.peak;
  const services = SERVICE_NAMES.map((name) => serviceOf(name, costs, { ...demand, peakRate }));
  const ofEach = services.reduce((sum, { instances }) => sum + instances, 0) / services.length;
  const servers = SERVERS.map((name) => ({ name, cores: coresOf(name, costs, peakRate, ofEach) }));
  const databases = databasesOf(costs, meanRate, demand.years);
  const perYear = meanRate * DAY_SECONDS * YEAR_DAYS;
  const archive = {
    name: 'archive',
    perYear: costs.archive.bytes * perYear,
    total: costs.archive.bytes * perYear * demand.years,
    objectsPerYear: costs.archive.objects * perYear,
  };
  const topics = topicsOf(costs, meanRate, services);
  const kafka = { name: 'kafka', perYear: 0, total: topics.reduce((sum, { total }) => sum + total, 0) };
  return {
    demand,
    meanRate,
    peakRate,
    services,
    servers,
    databases,
    walPerDay: costs.wal * meanRate * DAY_SECONDS,
    topics,
    archive,
    limits: limitsOf(costs, demand, measured.drawMs),
    drivers: {
      cores: shares([...services, ...servers], ({ cores }) => cores),
      disk: shares([...databases, kafka, archive], ({ total }) => total),
    },
  };
}

function coresOf(name: string, costs: Costs, rate: number, instances: number): number {
  return ((costs.ms[name] ?? 0) * rate + idleOf(costs, name, instances)) / 1_000;
}

function serviceOf(name: ServiceName, costs: Costs, load: Demand & { peakRate: number }): ServicePlan {
  const { peakRate, authorityMs } = load;
  const mainMs = costs.mainMs[name] ?? 0;
  const forProcessor = Math.ceil((peakRate * mainMs) / (1_000 * UTILISATION - (costs.idleMs[name] ?? 0)));
  const inFlight = CALLS_IN_FLIGHT[name];
  const forCalls = inFlight === undefined ? 0 : Math.ceil((peakRate * authorityMs) / (1_000 * inFlight));
  const instances = Math.max(LEAST_INSTANCES, forProcessor, forCalls);
  const because =
    instances === forProcessor ? 'processor' : instances === forCalls ? 'calls in flight' : 'availability';
  return {
    name,
    instances,
    because,
    cores: coresOf(name, costs, peakRate, instances),
    mebibytes: costs.mebibytes[name] ?? 0,
    connections: instances * (CONNECTIONS[name] + RELAY_CONNECTIONS),
    waitMs: waitOf({ instances, rate: peakRate, ms: mainMs }),
  };
}

function databasesOf(costs: Costs, meanRate: number, years: number): DiskPlan[] {
  const perDay = meanRate * DAY_SECONDS * FREE_SPACE;
  return SERVICE_NAMES.map((name) => {
    const plan = { name, perYear: 0, total: 0 };
    for (const [key, bytes] of Object.entries(costs.tables)) {
      const [service, table = ''] = key.split('.');
      if (service !== name) continue;
      const days = KEPT_DAYS[table];
      if (days === undefined) plan.perYear += bytes * perDay * YEAR_DAYS;
      else plan.total += bytes * perDay * days;
    }
    return { ...plan, total: plan.total + plan.perYear * years };
  });
}

function topicsOf(costs: Costs, meanRate: number, services: readonly ServicePlan[]): Plan['topics'] {
  return Object.values(TOPICS).flatMap((topic) => {
    const perDay = (costs.topics[topic.name] ?? 0) * meanRate * DAY_SECONDS;
    if (perDay === 0 || topic.retention === 'compacted') return [];
    // A partition has one reader. Instances that only wait for the authority need none.
    const readers = services.filter(({ name, because }) => {
      return because === 'processor' && topic.consumers.some((consumer) => consumer === name);
    });
    const partitions = Math.max(topic.partitions, ...readers.map(({ instances }) => instances));
    return [
      { name: topic.name, partitions, perDay, perYear: 0, total: (perDay * topic.retention) / (DAY_SECONDS * 1_000) },
    ];
  });
}

function shares<T extends { name: string }>(parts: readonly T[], amount: (part: T) => number): Share[] {
  const all = parts.reduce((sum, part) => sum + amount(part), 0);
  return parts.map((part) => ({ name: part.name, share: amount(part) / all })).sort((a, b) => b.share - a.share);
}
