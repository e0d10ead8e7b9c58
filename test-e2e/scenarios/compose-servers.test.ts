/** The servers of compose, as far as they can be tried without a container engine: their users and passwords. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { connect } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { type Bus, type BusEvent, type KafkaSettings, readBusSettings } from '@ecf/bus';
import { brokerUser, createKafkaBus, prepareTopics } from '@ecf/bus/kafka';
import { identifierOf, SERVICE_NAMES, TOPICS, type Topic } from '@ecf/contracts';
import { freePort, javaLacks, prepareJavaBroker, reachable, redisProgram, waitFor } from '@ecf/deployment/servers';
import { openRateCounters } from '@ecf/http';
import { createMasterKeys } from '@ecf/kit';
import { openSharedCache } from '@ecf/kit/cache';
import { createMetrics } from '@ecf/kit/telemetry';
import { createDatabaseIfMissing, openDatabase } from '@ecf/postgres';
import { runJavaBroker } from '@ecf/test-servers';
import { startTestPostgres } from '@ecf/test-servers/postgres';
import { testKey } from '@ecf/test-support';
import { memoryDeadLetters, silentLogger } from '@ecf/test-support/services';
import { createCertificateAuthority } from '@ecf/xml-signing/certificate-authority';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { until } from '../support/until.js';

const COMPOSE = fileURLToPath(new URL('../../deploy/compose', import.meta.url));
const DATABASES = SERVICE_NAMES.map(identifierOf);
const PASSWORDS = Object.fromEntries([
  ['KAFKA_ADMIN_PASSWORD', 'secret-of-admin'],
  ['REDIS_PASSWORD', 'secret-of-redis'],
  ...DATABASES.map((name) => [`${name.toUpperCase()}_PASSWORD`, `secret-of-${name}`]),
]);
/** The text with the passwords of `.env`, as compose fills them in. */
const filledIn = (text: string) => text.replace(/\$\{(\w+):\?[^}]*\}/g, (_, variable) => PASSWORDS[variable] as string);
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'ecf-compose-'));
afterAll(() => fs.rmSync(folder, { recursive: true }));

describe('PostgreSQL of compose', () => {
  let server: URL;
  const urlOf = (user: string, database: string) => {
    const url = new URL(server);
    Object.assign(url, { username: `ecf_${user}`, password: `secret-of-${user}`, pathname: `/ecf_${database}` });
    return url.href;
  };

  beforeAll(async () => {
    server = new URL(await (await startTestPostgres()).createDatabase());
    // The script calls psql. Here a program of that name notes the statements, and they run over the usual connection.
    const noted = path.join(folder, 'statements');
    fs.writeFileSync(path.join(folder, 'psql'), `#!/bin/sh\ncat >> ${noted}\n`, { mode: 0o755 });
    const env = { ...process.env, ...PASSWORDS, POSTGRES_USER: 'ecf', PATH: `${folder}:${process.env.PATH}` };
    execFileSync('sh', [path.join(COMPOSE, 'postgres-users.sh')], { env });
    const admin = openDatabase(server.href, { max: 1 });
    for (const statement of fs.readFileSync(noted, 'utf8').split(';\n').filter(Boolean)) await admin.query(statement);
    await admin.close();
  });
  afterAll(async () => {
    const admin = openDatabase(server.href, { max: 1 });
    for (const name of DATABASES) {
      await admin.query(`DROP DATABASE ecf_${name} WITH (FORCE)`);
      await admin.query(`DROP ROLE ecf_${name}`);
    }
    await admin.close();
  });

  it.each(DATABASES)('gives %s its own database and no other', async (name) => {
    expect(await createDatabaseIfMissing(urlOf(name, name))).toBe(false);
    const own = openDatabase(urlOf(name, name), { max: 1 });
    await own.query('CREATE TABLE kept (id int)');
    await own.close();
    for (const other of DATABASES.filter((one) => one !== name)) {
      const foreign = openDatabase(urlOf(name, other), { max: 1 });
      await expect(foreign.query('SELECT 1')).rejects.toMatchObject({ code: '42501' });
      await foreign.close();
    }
  });
});

describe('PostgreSQL with TLS', () => {
  it('is used with sslmode=verify-full and its authority, and not with another authority', async () => {
    const plain = new URL(await (await startTestPostgres()).createDatabase());
    const admin = openDatabase(plain.href, { max: 1 });
    const authority = createCertificateAuthority({ key: testKey(1) });
    const server = authority.issue({
      commonName: 'localhost',
      holderId: '00100000001',
      notBefore: new Date('2020-01-01T00:00:00Z'),
      notAfter: new Date('2044-01-01T00:00:00Z'),
      password: 'test',
      key: testKey(0),
    });
    const [data] = (await admin.query<{ data_directory: string }>('SHOW data_directory')).rows;
    const { uid, gid } = fs.statSync(data?.data_directory as string);
    const file = (name: string, text: string) => {
      const place = path.join(data?.data_directory as string, name);
      fs.writeFileSync(place, text, { mode: 0o600 });
      fs.chownSync(place, uid, gid);
      return place;
    };
    file('server.crt', server.pem);
    file('server.key', server.key);
    const own = file('own.pem', authority.pem);
    const other = file('other.pem', createCertificateAuthority({ key: testKey(2) }).pem);
    await admin.query('ALTER SYSTEM SET ssl = on');
    await admin.query('SELECT pg_reload_conf()');
    try {
      const url = (ca: string) => {
        const { port, username, password, pathname } = plain;
        return `postgresql://${username}:${password}@localhost:${port}${pathname}?sslmode=verify-full&sslrootcert=${ca}`;
      };
      const inUse = 'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()';
      const encrypted = await until(
        () => queryOnce(url(own), inUse),
        (rows) => Array.isArray(rows),
      );
      expect(encrypted).toEqual([{ ssl: true }]);
      expect(await createDatabaseIfMissing(url(own))).toBe(false);
      expect(await queryOnce(url(other), inUse)).toMatchObject({ message: expect.stringMatching(/certificate/) });
    } finally {
      await admin.query('ALTER SYSTEM RESET ssl');
      await admin.query('SELECT pg_reload_conf()');
      await admin.close();
    }
  });
});

/** The rows, or the error: the server takes a moment to read its new settings. */
async function queryOnce(url: string, sql: string): Promise<unknown> {
  const database = openDatabase(url, { max: 1 });
  try {
    return (await database.query(sql)).rows;
  } catch (error) {
    return error;
  } finally {
    await database.close();
  }
}

const redis = await redisProgram();
if (redis === null) process.stderr.write('The Redis of compose is not tried: redis-server is missing.\n');

(redis === null ? describe.skip : describe)('Redis of the production variant', () => {
  let server: ChildProcess | undefined;
  let port = 0;
  let tlsPort = 0;

  beforeAll(async () => {
    const own = path.join(folder, 'compose');
    fs.cpSync(COMPOSE, own, { recursive: true });
    execFileSync(path.join(own, 'certificates.sh'));
    const { services, configs } = parse(fs.readFileSync(path.join(own, 'compose.production.yaml'), 'utf8'), {
      merge: true,
    });
    fs.writeFileSync(path.join(own, 'users.acl'), filledIn(configs['redis-users'].content));
    port = await freePort();
    tlsPort = await freePort(port);
    const { file, libraries } = redis as NonNullable<typeof redis>;
    // The command of the container, with files of this machine, and a port without TLS for clients that do not know the authority.
    const command = (services.redis.command[2] as string)
      .replace(/^.*exec docker-entrypoint.sh redis-server/, file)
      .replace('/run/redis.key', '/etc/ecf-tls/redis.key')
      .replaceAll(/\/etc\/ecf-tls\/(redis\.\w+)/g, `${own}/tls/$1`)
      .replace('/etc/ecf-tls/ca.pem', `${own}/files/ca.pem`)
      .replace('/etc/ecf-tls', own)
      .replace('--port 0 --tls-port 6379', `--port ${port} --tls-port ${tlsPort}`);
    const env = libraries === null ? process.env : { ...process.env, LD_LIBRARY_PATH: libraries };
    server = spawn('sh', ['-c', `exec ${command}`], { env, stdio: 'ignore' });
    await waitFor(() => reachable(port), 60_000, 'Redis');
  });
  afterAll(() => void server?.kill('SIGKILL'));

  const urlOf = (user: string) => `redis://${user}:secret-of-${user}@127.0.0.1:${port}`;

  it('has a certificate of the authority of this deployment', async () => {
    const ca = fs.readFileSync(path.join(folder, 'compose/files/ca.pem'));
    const socket = connect({ host: '127.0.0.1', port: tlsPort, ca, servername: 'redis' });
    await once(socket, 'secureConnect');
    expect(socket.authorized).toBe(true);
    socket.destroy();
  });

  it('lets the services share rates and tokens, and refuses a user the keys of others', async () => {
    const counters = openRateCounters({ REDIS_URL: urlOf('gateway') }, silentLogger);
    const others = openRateCounters({ REDIS_URL: urlOf('emission') }, silentLogger);
    const counter = counters.open('test', 10);
    // The counters are their own until they are connected.
    await until(
      async () => {
        await counter.count('caller');
        return others.open('test', 10).used('caller');
      },
      (used) => used !== null && used.remaining < 10,
    );
    counters.close();
    others.close();
    // The gateway has no right to tokens.
    for (const user of ['emission', 'reception', 'approvals', 'gateway']) {
      const metrics = createMetrics();
      const sealingKeys = createMasterKeys([Buffer.alloc(32, 7)]);
      const cache = openSharedCache({ REDIS_URL: urlOf(user) }, { sealingKeys, logger: silentLogger, metrics });
      const failures = async () =>
        Number(
          /^ecf_shared_cache_failures_total\{reason="unreachable"\} (\d+)/m.exec(await metrics.render())?.[1] ?? 0,
        );
      // The client is loaded by the first call, and not connected yet.
      await cache?.get('authority-token:none');
      await until(
        () => metrics.render(),
        (text) => /^ecf_shared_cache_up 1$/m.test(text),
      );
      const before = await failures();
      await cache?.set('authority-token:test', user, 60_000);
      expect(await cache?.alone('authority-token:test', async () => cache.get('authority-token:test'))).toBe(user);
      await cache?.remove('authority-token:test', user);
      expect([user, (await failures()) > before]).toEqual([user, user === 'gateway']);
      await cache?.close();
    }
  });
});

const lacks = await javaLacks();
if (lacks !== null) process.stderr.write(`The Kafka of compose is not tried: ${lacks} is missing.\n`);

(lacks === null ? describe : describe.skip)('Kafka of compose', () => {
  let pid: number | undefined;
  let address = '';

  /** The settings of the container as a file, as its image writes them. */
  function properties(port: number, localPort: number, controllerPort: number): string {
    const { services } = parse(fs.readFileSync(path.join(COMPOSE, 'compose.yaml'), 'utf8'), { merge: true });
    const lines = Object.entries<string>(services.kafka.environment).map(([name, value]) => {
      const property = name.replace('KAFKA_', '').toLowerCase().replaceAll('_', '.');
      return `${property}=${filledIn(value)}`;
    });
    const ports: Record<string, number> = { '9092': port, '9094': localPort, '9093': controllerPort };
    return `${lines.join('\n')}\n`
      .replace(/:(909[234])\b/g, (_, number) => `:${ports[number]}`)
      .replaceAll(/(SASL:\/\/)(?:kafka)?:/g, '$1127.0.0.1:')
      .replace('/var/lib/kafka/data', path.join(folder, 'kafka', 'data'))
      .replace('/etc/kafka/ecf', folder);
  }

  const settingsOf = (user: string, KAFKA_SASL_PASSWORD = `secret-of-${user}`) =>
    readBusSettings({
      KAFKA_BROKERS: address,
      KAFKA_SSL: 'true',
      KAFKA_SSL_CA_FILE: path.join(folder, 'ca.pem'),
      KAFKA_SASL_MECHANISM: 'plain',
      KAFKA_SASL_USERNAME: user,
      KAFKA_SASL_PASSWORD,
      KAFKA_CREATE_TOPICS: user === 'admin' ? 'true' : 'false',
    }) as KafkaSettings;
  const busOf = (user: string, password?: string) =>
    createKafkaBus({ settings: settingsOf(user, password), logger: silentLogger });

  beforeAll(async () => {
    const data = path.join(folder, 'kafka');
    const port = await freePort();
    await prepareJavaBroker(data, port);
    const files = ['-keyout', path.join(folder, 'key.pem'), '-out', path.join(folder, 'ca.pem')];
    const subject = ['-subj', '/CN=kafka', '-addext', 'subjectAltName=IP:127.0.0.1'];
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...subject, ...files], {
      stdio: 'ignore',
    });
    const pem = ['key.pem', 'ca.pem'].map((name) => fs.readFileSync(path.join(folder, name)));
    fs.writeFileSync(path.join(folder, 'broker.pem'), Buffer.concat(pem));
    const [local, controller] = [await freePort(port), await freePort(port)] as const;
    fs.writeFileSync(path.join(data, 'server.properties'), properties(port, local, controller));
    pid = (await runJavaBroker(data, port)).pid;
    address = `127.0.0.1:${port}`;
  });
  afterAll(() => {
    if (pid !== undefined) process.kill(pid, 'SIGKILL');
  });

  it('gives each service its own topics and no others, and a user without a password of a service none', async () => {
    await prepareTopics(settingsOf('admin'), silentLogger, { grant: true });
    const topics = Object.values<Topic>(TOPICS);
    /** The topics that a user can write, or the error of the login. */
    const writable = async (bus: Bus) => {
      const results = await Promise.all(
        topics.map(({ name }) => bus.publish([eventOf(name)]).then(() => name, String)),
      );
      await bus.close();
      return results;
    };
    for (const service of SERVICE_NAMES) {
      const expected = topics.map(({ name, producers, consumers }) => {
        if (producers.includes(service)) return name;
        // A topic that a service does not consume is not visible to it.
        return expect.stringMatching(consumers.includes(service) ? /not authorized/i : /lack the topics/);
      });
      expect([service, await writable(busOf(brokerUser(service)))]).toEqual([service, expected]);
    }
    for (const bus of [busOf('gateway', 'secret-of-emission'), busOf('anybody', 'secret-of-gateway')])
      expect(await writable(bus)).toEqual(
        topics.map(() => expect.stringMatching(/Authentication failed|credentials/i)),
      );
  });

  it('lets a consumer of a topic read it, and another service not', async () => {
    const [reader, other] = [busOf('query'), busOf('status_poller')];
    const seen: string[] = [];
    const handler = async ({ source }: BusEvent) => void seen.push(source);
    const subscription = {
      topics: [TOPICS.refusals.name],
      handler: async () => undefined,
      deadLetters: memoryDeadLetters(),
    };
    await reader.subscribe({ ...subscription, group: 'query', handler });
    await other.subscribe({
      ...subscription,
      group: 'status-poller',
      handler: async () => void seen.push('status-poller'),
    });
    // The bodies are not valid, so those of the topic become dead letters of the group that can read it.
    await until(
      () => Promise.resolve(subscription.deadLetters.kept.map(({ group }) => group)),
      (groups) => groups.length > 0,
    );
    expect(new Set(subscription.deadLetters.kept.map(({ group }) => group))).toEqual(new Set(['query']));
    await Promise.all([reader.close(), other.close()]);
  });
});

/** An event without valid data: the brokers do not read it. */
function eventOf(topic: string): BusEvent {
  const about = { type: 'nothing', source: 'test', time: new Date().toISOString(), subject: 'x', key: 'x' };
  return { id: randomUUID(), topic, data: null, ...about };
}
