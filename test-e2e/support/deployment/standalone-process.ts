import { randomBytes } from 'node:crypto';
import { dockerAnswers, javaLacks } from '@ecf/deployment/servers';
import { kafka, missing } from '@ecf/test-servers';
import { type DeploymentName, type DeploymentProcess, startDeploymentProcess } from '@ecf/test-servers/deployment';
import { startTestPostgres } from '@ecf/test-servers/postgres';
import { describe } from '@jest/globals';
import { fillDataFolder } from './prepared-folder.js';

export type { Demo as DemoFile, DeploymentProcess as Standalone } from '@ecf/test-servers/deployment';

/** The deployment that scenarios run on: ECF_DEPLOYMENT, by default `standalone`. */
export const DEPLOYMENT = chosen(process.env.ECF_DEPLOYMENT);

function chosen(name = ''): DeploymentName {
  if (name === '' || name === 'standalone') return 'standalone';
  if (name === 'distributed') return name;
  throw new Error(`ECF_DEPLOYMENT is standalone or distributed, not ${name}`);
}

/** The standalone deployment as its users run it. */
export const startStandalone = (dataDir: string, env: Record<string, string> = {}): Promise<DeploymentProcess> =>
  startDeploymentProcess('standalone', dataDir, env);

/** `describe` if the machine has, or can run, a broker; otherwise the tests are skipped, and a message names the remedy. */
export const describeDistributed = (await brokerIsPossible()) ? describe : describe.skip;

async function brokerIsPossible(): Promise<boolean> {
  if (process.env.KAFKA_BROKERS || (await dockerAnswers())) return true;
  const lacks = await javaLacks();
  return lacks === null || missing('Kafka', `Set KAFKA_BROKERS, start Docker, or install ${lacks}.`) !== null;
}

/** The distributed deployment as its users run it, with its own servers. */
export const startDistributed = (dataDir: string, env: Record<string, string> = {}): Promise<DeploymentProcess> =>
  startDeploymentProcess('distributed', dataDir, env);

/**
 * The chosen deployment as its users run it. Distributed ones share a broker and a database server in a test run, each under its
 * own names, unless `ownServers` is set.
 */
export async function startDeployment(
  dataDir: string,
  env: Record<string, string> = {},
  options: { ownServers?: boolean } = {},
): Promise<DeploymentProcess> {
  if (DEPLOYMENT === 'standalone') await fillDataFolder(dataDir);
  const shared = DEPLOYMENT === 'standalone' || options.ownServers === true ? {} : await sharedServers(dataDir);
  return startDeploymentProcess(DEPLOYMENT, dataDir, { ...shared, ...env });
}

const known = new Map<string, Record<string, string>>();

async function sharedServers(dataDir: string): Promise<Record<string, string>> {
  const present = known.get(dataDir);
  if (present !== undefined) return present;
  const broker = await kafka();
  if (broker === null) throw new Error('a distributed deployment needs Kafka; see the message above');
  const servers = {
    KAFKA_BROKERS: broker.brokers,
    KAFKA_TOPIC_PREFIX: `t${randomBytes(4).toString('hex')}.`,
    DATABASE_URL: await (await startTestPostgres()).createDatabase(),
  };
  known.set(dataDir, servers);
  return servers;
}
