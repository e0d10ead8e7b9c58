import { openXmlStore } from '@ecf/archive';
import { authorityEndpoints, createAuthorityClient } from '@ecf/authority-client';
import { usesKafka } from '@ecf/bus';
import { countBrokers } from '@ecf/bus/kafka';
import { ConfigError } from '@ecf/kit';
import { pingSharedCache } from '@ecf/kit/cache';
import { createLogger } from '@ecf/kit/telemetry';
import { clockFinding } from './clocks.js';
import { type Finding, fault, ok, reasonOf, skipped, unchecked } from './finding.js';
import type { DoctorSettings } from './settings.js';

/** The brokers, or their absence from the settings. */
export async function checkKafka(settings: DoctorSettings): Promise<Finding> {
  if (!usesKafka(settings)) return skipped('connections', 'Kafka', 'KAFKA_BROKERS is not set');
  const brokers = settings.KAFKA_BROKERS.join(', ');
  try {
    const count = await countBrokers(settings, createLogger({ service: 'ecf', level: 'silent' }));
    return ok('connections', 'Kafka', `${brokers}, ${count} ${count === 1 ? 'broker' : 'brokers'}`);
  } catch (error) {
    const remedy = 'Start the brokers, or correct the KAFKA_ settings (addresses, TLS, user and password).';
    return fault('connections', 'Kafka', `${brokers}: ${reasonOf(error)}`, remedy);
  }
}

/** The shared cache. Without it services work, with more logins at the authority. */
export async function checkRedis({ REDIS_URL: url }: DoctorSettings): Promise<Finding> {
  if (url === undefined) return skipped('connections', 'Redis', 'REDIS_URL is not set');
  const { host } = new URL(url);
  try {
    await pingSharedCache(url);
    return ok('connections', 'Redis', host);
  } catch (error) {
    return fault('connections', 'Redis', `${host}: ${reasonOf(error)}`, 'Start Redis, or correct REDIS_URL.');
  }
}

/** The bucket or the folder of the XML. */
export async function checkArchive(settings: DoctorSettings): Promise<Finding> {
  const { S3_ENDPOINT: endpoint, S3_BUCKET: bucket, DATA_DIR: folder } = settings;
  const name = endpoint === undefined ? `folder ${folder}/xml` : `bucket ${bucket} at ${new URL(endpoint).host}`;
  try {
    await openXmlStore(settings, { readOnly: true }).ready();
    return ok('connections', 'archive', name);
  } catch (error) {
    if (error instanceof ConfigError) return unchecked('connections', 'archive', 'its settings are at fault');
    const remedy =
      endpoint === undefined
        ? 'Start the gateway once, or correct DATA_DIR; the user of the services must be able to write there.'
        : 'Start the storage and make the bucket, or correct the S3_ settings.';
    return fault('connections', 'archive', `${name}: ${reasonOf(error)}`, remedy);
  }
}

/** The login service of the authority, at which a seed needs no certificate; and the clock of its answer. */
export async function checkAuthority(settings: DoctorSettings, address: string | undefined): Promise<Finding[]> {
  const env = settings.DEFAULT_ENV ?? 'TesteCF';
  const endpoints = authorityEndpoints(address);
  const name = `${new URL(endpoints.hosts.main).host} (${env})`;
  const found: Finding[] = [];
  const client = createAuthorityClient({
    endpoints,
    userAgent: 'ecf-gateway',
    circuit: false,
    timeouts: { responseMs: settings.AUTHORITY_TIMEOUT_MS, totalMs: settings.AUTHORITY_TIMEOUT_MS },
    onCall({ date }) {
      // The header has whole seconds.
      if (date !== null) found.push(clockFinding('this machine', 'authority', (Date.now() - date.getTime()) / 1_000));
    },
  });
  try {
    const answer = await client.requestSeed({ env });
    if (answer.outcome === 'verdict') return [ok('connections', 'authority', name), ...found];
    const reason = 'cause' in answer ? `no seed (${answer.cause.replaceAll('_', ' ')})` : answer.outcome;
    const remedy =
      'Check the way out to the authority (DNS, firewall, proxy). While it is unreachable, documents wait or are signed in contingency.';
    return [fault('connections', 'authority', `${name}: ${reason}`, remedy), ...found];
  } finally {
    client.close();
  }
}
