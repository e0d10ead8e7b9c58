import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { SERVICE_NAMES } from '@ecf/contracts';
import { openDatabase, serviceDatabaseUrl } from '@ecf/postgres';
import { type KafkaServer, kafka, type RedisServer, redis } from '@ecf/test-servers';
import { StoredEverywhere } from '../agreement/stored-everywhere.js';
import { bucket, type TestBucket } from '../deployment/bucket.js';
import { type Standalone, startDistributed } from '../deployment/standalone-process.js';
import { until } from '../until.js';
import { type FailingStorage, failingStorage } from './failing-storage.js';
import { ObservedDeployment } from './observed-deployment.js';
import { ReplicatedPostgres } from './replicated-postgres.js';
import { Switchboard } from './switchboard.js';

/** Settings of a deployment that tries again soon. */
export const SETTINGS = {
  STATUS_WAIT_MS: '0',
  AUTHORITY_TIMEOUT_MS: '2000',
  DELIVERY_FIRST_RETRY_MS: '200',
  RESEND_AFTER_MS: '1000',
  FIRST_RETRY_MS: '200',
  FIRST_QUERY_MS: '300',
  POLL_LEASE_MS: '5000',
  PROCESSING_MS: '50',
  UPSTREAM_TIMEOUT_MS: '20000',
  COMPARE_EVERY_MS: '5000',
  BACKGROUND_IDLE_MS: '250',
};

/** A distributed deployment whose servers belong to the test, with a switchboard in front of each. */
export class FaultyDeployment {
  readonly observed: ObservedDeployment;
  /** The port that the services know the database server by. */
  readonly databasePort: number;

  private constructor(
    readonly dataDir: string,
    readonly running: Standalone,
    readonly board: Switchboard,
    readonly postgres: ReplicatedPostgres,
    readonly broker: KafkaServer,
    readonly cache: RedisServer,
    private readonly bucket: TestBucket,
    readonly storage: FailingStorage,
    private readonly stopServers: () => Promise<void>,
  ) {
    this.databasePort = postgres.port;
    this.observed = new ObservedDeployment(running, () => this.#stored());
  }

  static async start(): Promise<FaultyDeployment> {
    const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'ecf-faults-'));
    fs.chmodSync(dataDir, 0o755);
    fs.mkdirSync(path.join(dataDir, 'servers'));
    const [board, postgres, broker, cache, objects] = await Promise.all([
      Switchboard.start(),
      ReplicatedPostgres.start(path.join(dataDir, 'servers')),
      kafka({ own: true }),
      redis(),
      bucket(),
    ]);
    if (broker === null || cache === null || objects === null)
      throw new Error('a server is missing; see the message above');
    const storage = await failingStorage(objects.settings.S3_ENDPOINT as string);
    const stopServers = async () => {
      await Promise.all([storage, objects, cache, broker, postgres, board].map((server) => server.stop()));
      fs.rmSync(dataDir, { recursive: true, force: true });
    };
    const running = await startDistributed(path.join(dataDir, 'data'), {
      ...SETTINGS,
      ...board.settings,
      ...objects.settings,
      S3_ENDPOINT: `http://127.0.0.1:${storage.port}`,
      DATABASE_URL: postgres.url('ecf'),
      KAFKA_BROKERS: broker.brokers,
      REDIS_URL: cache.url,
    }).catch(async (error) => {
      await stopServers();
      throw error;
    });
    return new FaultyDeployment(dataDir, running, board, postgres, broker, cache, objects, storage, stopServers);
  }

  /** The ports of each part, by its name. */
  ports(): Record<string, number> {
    const portOf = (address: string) => Number(new URL(address).port);
    const services = this.running.processes().filter(({ name }) => SERVICE_NAMES.some((service) => service === name));
    return {
      postgresql: this.databasePort,
      kafka: Number(this.broker.brokers.split(':')[1]),
      redis: portOf(this.cache.url),
      storage: this.storage.port,
      authority: portOf(this.running.demo.authority_url as string),
      ...Object.fromEntries(services.map(({ name, url }) => [name, portOf(url as string)])),
    };
  }

  /** The replica takes the place of the killed database server, at the same address. */
  async failOver(): Promise<void> {
    await this.postgres.failOver();
    this.board.redirect(this.databasePort, this.postgres.port);
  }

  /** Records in the database of each service that it, or what the others know, is back at an older state (docs/backup.md). */
  async recordRestore(backupAt: Date, { ofOthers }: { ofOthers: boolean }): Promise<void> {
    for (const service of SERVICE_NAMES) {
      const database = openDatabase(this.#databaseOf(service), { max: 1 });
      const recorded = database.query(
        `INSERT INTO restored (restored_at, backup_at, of_others) VALUES (now(), $1, $2)
         ON CONFLICT (of_others) DO UPDATE SET restored_at = excluded.restored_at, backup_at = excluded.backup_at, settled_at = NULL`,
        [backupAt, ofOthers],
      );
      await recorded.finally(() => database.close());
    }
  }

  /** Kills every service; the deployment starts them again. */
  async restartServices(): Promise<void> {
    const before = this.running.processes().filter(({ name }) => SERVICE_NAMES.some((service) => service === name));
    for (const { pid } of before) process.kill(pid as number, 'SIGKILL');
    const pids = async () => this.running.processes().map(({ pid }) => pid);
    await until(pids, (now) => now.every((pid) => pid !== null && !before.some((one) => one.pid === pid)));
    const ready = () => fetch(`${this.running.demo.base_url}/health/ready`).catch(() => null);
    await until(ready, (answer) => answer?.status === 200, 120_000);
  }

  async stop(): Promise<void> {
    this.board.break(null);
    await this.running.end('SIGTERM');
    await this.stopServers();
  }

  #databaseOf = (service: string) => serviceDatabaseUrl(this.postgres.url('ecf'), service);

  #stored(): StoredEverywhere {
    const settings = { ...this.bucket.settings };
    return new StoredEverywhere(path.join(this.dataDir, 'data'), settings, (service) =>
      openDatabase(this.#databaseOf(service), { max: 1 }),
    );
  }
}
