import { SERVICE_NAMES, type ServiceName, TOPICS, type Topic } from '@ecf/contracts';
import { describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import { parse, parseAllDocuments } from 'yaml';
import {
  allowedCalls,
  defaults,
  example,
  madeSecrets,
  merged,
  ROOT,
  readChart,
  readExample,
  VALUE_FILES,
  type Values,
  writtenSecrets,
} from '../support/deployment/helm.js';
import { addedUpOverInstances, definedMetrics } from '../support/deployment/observability.js';

const validate = new Ajv({ strict: false, allErrors: true }).compile(JSON.parse(readChart('values.schema.json')));
const isValid = (values: Values) => validate(merged(defaults, values));

describe('the values of the Helm chart', () => {
  it.each(VALUE_FILES)('are described by the schema: %s.yaml', (name) => {
    const valid = isValid(example(name));
    expect(validate.errors ?? []).toEqual([]);
    expect(valid).toBe(true);
  });

  it('keep the administration of a production inside the cluster, with the same token in each run of make-secrets.sh', () => {
    const { services, ingress } = example('production') as Record<'services' | 'ingress', Values>;
    expect([ingress?.enabled, services?.gateway]).toMatchObject([true, { settings: { ADMIN_HOST: '127.0.0.1' } }]);
    const [first, second] = writtenSecrets(2);
    expect(first).toMatch(/^ {2}ADMIN_TOKEN: '.{44}'$/m);
    expect(second).toBe(first);
  });

  it('need no other Secrets for the users of the PostgreSQL of the example, whose passwords the services have', () => {
    const cluster = parseAllDocuments(readExample('postgres.cloudnative-pg.yaml'))[0]?.toJS();
    const secrets = madeSecrets();
    const users = cluster.spec.managed.roles.map(({ name, passwordSecret }: Role) => {
      const { username, password } = secrets.get(passwordSecret.name) ?? {};
      const service = passwordSecret.name.replace('postgres-', 'ecf-');
      expect(secrets.get(service)?.DATABASE_URL).toContain(`//${username}:${password}@`);
      return [name, username];
    });
    const names = SERVICE_NAMES.map((service) => `ecf_${service.replace('-', '_')}`);
    expect(users).toEqual(names.map((name) => [name, name]));
  });

  it('are refused where a setting is missing, unknown, of another service, of a wrong type, or a secret', () => {
    const small = example('small');
    const withSettings = (settings: Values) => merged(small, { settings });
    const ofPoller = (settings: Values) => merged(small, { services: { 'status-poller': { settings } } });
    const without = (setting: string) => {
      const { [setting]: _, ...settings } = small.settings as Values;
      return { ...small, settings };
    };
    for (const setting of ['DEFAULT_ENV', 'KAFKA_BROKERS', 'S3_ENDPOINT', 'SERVICE_PUBLIC_KEYS', 'ANY_ISSUER'])
      expect([setting, isValid(without(setting))]).toEqual([setting, false]);
    for (const [setting, value] of [
      ['KAFKA_BROKER', 'kafka:9092'],
      ['DEFAULT_ENV', 'Production'],
      ['ANY_ISSUER', false],
      ['KAFKA_SSL', 'true'],
      ['STATUS_WAIT_MS', '3000'],
      ['STATUS_WAIT_MS', 60_001],
      ['DATABASE_URL', 'postgresql://ecf:ecf@postgres/ecf'],
      ['MASTER_KEY', 'x'],
      ['PORT', 8080],
      ['EMISSION_URL', 'http://emission:8080'],
    ] as const)
      expect([setting, value, isValid(withSettings({ [setting]: value }))]).toEqual([setting, value, false]);
    expect(isValid(ofPoller({ POLL_RATE: 20 }))).toBe(true);
    expect(isValid(ofPoller({ DELIVERY_HOURS: 20 }))).toBe(false);
    for (const values of [
      { image: { digest: { gateway: 'latest' } } },
      { services: { poller: {} } },
      { services: { gateway: { replicas: 0 } } },
      { secrets: { LOG_LEVEL: { name: 'a', key: 'b' } } },
      { secrets: { REDIS_URL: 'redis://:password@redis' } },
      { env: { DATABASE_URL: 'postgresql://' } },
      { networkPolicy: { egress: { KAFKA: [{}] } } },
      { httpRoute: { enabled: true } },
      { ingress: { enabled: true, host: '' } },
    ])
      expect([values, isValid(merged(small, values))]).toEqual([values, false]);
  });

  it('are refused if any of them has a wrong type', () => {
    const small = merged(defaults, example('small'));
    const schema = JSON.parse(readChart('values.schema.json'));
    const settings = Object.keys(schema.definitions.settings.properties);
    const paths = [...leavesOf(small), ...settings.map((setting) => ['settings', setting])];
    expect(paths.length).toBeGreaterThan(150);
    const accepted = paths.filter((names) => {
      const wrong = names.reduceRight<unknown>((inner, name) => ({ [name]: inner }), { wrong: [{}] });
      return validate(merged(small, wrong as Values));
    });
    expect(accepted).toEqual([]);
  });

  it('scale on metrics that exist, which the adapter takes from the instance with the most, not from their sum', () => {
    const services = Object.values(defaults.services as Record<string, { autoscaling: { metrics: Metric[] } }>);
    const metrics = services.flatMap(({ autoscaling }) => autoscaling.metrics);
    const pods = metrics.flatMap(({ pods }) => pods?.metric.name ?? []).sort();
    const external = metrics.flatMap(({ external }) => external?.metric.name ?? []).sort();
    const defined = definedMetrics(ROOT);
    for (const name of [...pods, ...external]) expect([name, defined.has(name)]).toEqual([name, true]);
    const { rules } = parse(readExample('prometheus-adapter.yaml')) as { rules: Adapter };
    const named = (rules: { seriesQuery: string }[]) => rules.map(({ seriesQuery }) => /^\w+/.exec(seriesQuery)?.[0]);
    expect(named(rules.custom).sort()).toEqual([...new Set(pods)]);
    expect(named(rules.external).sort()).toEqual([...new Set(external)]);
    for (const { seriesQuery, metricsQuery } of [...rules.custom, ...rules.external]) {
      const name = /^\w+/.exec(seriesQuery)?.[0] ?? '';
      expect(addedUpOverInstances(metricsQuery.replace('<<.Series>>', name))).toEqual([]);
    }
  });
});

/** The paths of all values that are not maps. */
function leavesOf(values: Values): string[][] {
  return Object.entries(values).flatMap(([name, value]) => {
    const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isMap ? leavesOf(value as Values).map((rest) => [name, ...rest]) : [[name]];
  });
}

interface Role {
  name: string;
  passwordSecret: { name: string };
}

interface Metric {
  pods?: { metric: { name: string } };
  external?: { metric: { name: string } };
}

interface Adapter {
  custom: { seriesQuery: string; metricsQuery: string }[];
  external: { seriesQuery: string; metricsQuery: string }[];
}

describe('the services of the Helm chart', () => {
  const services = JSON.parse(readChart('files/services.json')) as Record<
    ServiceName,
    { settings: string[]; secrets: Record<string, boolean>; calls: Record<string, ServiceName> }
  >;

  it('call the services that accept their calls', () => {
    const calls = Object.entries(services).flatMap(([name, { calls }]) =>
      Object.values(calls).map((called) => `${name} > ${called}`),
    );
    expect(calls.sort()).toEqual(allowedCalls());
  });

  it('may write and read the topics of their contracts at the Kafka of the example', () => {
    const resources = parseAllDocuments(readExample('kafka.strimzi.yaml')).map((one) => one.toJS());
    const users = resources.filter(({ kind }) => kind === 'KafkaUser') as KafkaUser[];
    const access = users.flatMap(({ metadata, spec }) =>
      (spec.authorization?.acls ?? []).flatMap(({ resource, operations }) =>
        operations.map((operation) => `${metadata.name} ${operation} ${resource.type} ${resource.name}`),
      ),
    );
    const expected = SERVICE_NAMES.flatMap((service) => {
      const topics = Object.values<Topic>(TOPICS);
      const published = topics.filter(({ producers }) => producers.includes(service));
      const consumed = topics.filter(({ consumers }) => consumers.includes(service));
      return [
        ...published.map(({ name }) => `${service} Write topic ${name}`),
        ...consumed.map(({ name }) => `${service} Read topic ${name}`),
        ...[...published, ...consumed].map(({ name }) => `${service} DescribeConfigs topic ${name}`),
        `${service} Read group ${service}`,
      ];
    });
    expect(access.sort()).toEqual(expected.sort());
  });
});

interface KafkaUser {
  metadata: { name: string };
  spec: { authorization?: { acls: { resource: { type: string; name: string }; operations: string[] }[] } };
}
