import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  ARCHIVE_OPERATIONS,
  ARCHIVING_SERVICES,
  DELIVERY_OPERATIONS,
  EMISSION_OPERATIONS,
  FOLLOW_UP_OPERATIONS,
  OUTCOME_OPERATIONS,
  QUERY_OPERATIONS,
  RECEPTION_OPERATIONS,
  RESOLUTION_OPERATIONS,
  SERVICE_NAMES,
  type ServiceName,
  STATE_OPERATIONS,
  TAXPAYER_SOURCE_CALLERS,
  TOPICS,
  type Topic,
  WEBHOOK_OPERATIONS,
} from '@ecf/contracts';
import { describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import { parse, parseAllDocuments } from 'yaml';
import { makeServiceKeys } from '../../packages/http/src/identity/service-keys.js';
import { readConfig } from '../../packages/kit/src/config.js';
import { makeSealingKeys } from '../../packages/kit/src/sealing-keys.js';
import { approvalsSettings } from '../../services/approvals/src/config.js';
import { emissionSettings } from '../../services/emission/src/config.js';
import { gatewaySettings } from '../../services/gateway/src/config.js';
import { querySettings } from '../../services/query/src/config.js';
import { receptionSettings } from '../../services/reception/src/config.js';
import { statusPollerSettings } from '../../services/status-poller/src/config.js';
import { addedUpOverInstances, definedMetrics } from '../support/deployment/observability.js';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const CHART = path.join(ROOT, 'deploy/helm/ecf-gateway');
const EXAMPLES = path.join(ROOT, 'deploy/helm/examples');
/** The values in the examples; the other files there are resources and values of other charts. */
const VALUE_FILES = ['small', 'production', 'gateway-api', 'external-services', 'without-monitoring-crds'];

const SETTINGS = {
  gateway: gatewaySettings,
  emission: emissionSettings,
  'status-poller': statusPollerSettings,
  reception: receptionSettings,
  approvals: approvalsSettings,
  query: querySettings,
};

type Values = Record<string, unknown>;
const read = (file: string) => fs.readFileSync(file, 'utf8');
const example = (name: string) => parse(read(path.join(EXAMPLES, `${name}.yaml`))) as Values;

/** Values as Helm merges them: maps are merged, everything else is replaced. */
function merged(below: Values, above: Values): Values {
  const isMap = (value: unknown): value is Values =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  const entries = Object.entries(above).map(([name, value]) => {
    const other = below[name];
    return [name, isMap(value) && isMap(other) ? merged(other, value) : value];
  });
  return { ...below, ...Object.fromEntries(entries) };
}

const defaults = parse(read(path.join(CHART, 'values.yaml'))) as Values;
const validate = new Ajv({ strict: false, allErrors: true }).compile(
  JSON.parse(read(path.join(CHART, 'values.schema.json'))),
);
const isValid = (values: Values) => validate(merged(defaults, values));

/** The calls between services that the code allows: `caller > called`. */
function allowedCalls(): string[] {
  const others = SERVICE_NAMES.filter((name) => name !== 'gateway');
  const owners: [Record<string, { callers: readonly ServiceName[] }>, readonly ServiceName[]][] = [
    [EMISSION_OPERATIONS, ['emission']],
    [FOLLOW_UP_OPERATIONS, ['emission']],
    [RESOLUTION_OPERATIONS, ['emission']],
    [RECEPTION_OPERATIONS, ['reception']],
    [OUTCOME_OPERATIONS, ['approvals']],
    [DELIVERY_OPERATIONS, ['approvals']],
    [QUERY_OPERATIONS, ['query']],
    [WEBHOOK_OPERATIONS, ['query']],
    [STATE_OPERATIONS, others],
    [ARCHIVE_OPERATIONS, ARCHIVING_SERVICES],
    [{ taxpayers: { callers: TAXPAYER_SOURCE_CALLERS } }, ['gateway']],
  ];
  const calls = owners.flatMap(([operations, owned]) =>
    Object.values(operations).flatMap(({ callers }) =>
      callers.flatMap((caller) => owned.filter((called) => called !== caller).map((called) => `${caller} > ${called}`)),
    ),
  );
  return [...new Set(calls)].sort();
}

describe('the values of the Helm chart', () => {
  it.each(VALUE_FILES)('are described by the schema: %s.yaml', (name) => {
    const valid = isValid(example(name));
    expect(validate.errors ?? []).toEqual([]);
    expect(valid).toBe(true);
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

  it('scale on metrics that exist, which the adapter takes from the instance with the most, not from their sum', () => {
    const services = Object.values(defaults.services as Record<string, { autoscaling: { metrics: Metric[] } }>);
    const metrics = services.flatMap(({ autoscaling }) => autoscaling.metrics);
    const pods = metrics.flatMap(({ pods }) => pods?.metric.name ?? []).sort();
    const external = metrics.flatMap(({ external }) => external?.metric.name ?? []).sort();
    const defined = definedMetrics(ROOT);
    for (const name of [...pods, ...external]) expect([name, defined.has(name)]).toEqual([name, true]);
    const { rules } = parse(read(path.join(EXAMPLES, 'prometheus-adapter.yaml'))) as { rules: Adapter };
    const named = (rules: { seriesQuery: string }[]) => rules.map(({ seriesQuery }) => /^\w+/.exec(seriesQuery)?.[0]);
    expect(named(rules.custom).sort()).toEqual([...new Set(pods)]);
    expect(named(rules.external).sort()).toEqual([...new Set(external)]);
    for (const { seriesQuery, metricsQuery } of [...rules.custom, ...rules.external]) {
      const name = /^\w+/.exec(seriesQuery)?.[0] ?? '';
      expect(addedUpOverInstances(metricsQuery.replace('<<.Series>>', name))).toEqual([]);
    }
  });
});

interface Metric {
  pods?: { metric: { name: string } };
  external?: { metric: { name: string } };
}

interface Adapter {
  custom: { seriesQuery: string; metricsQuery: string }[];
  external: { seriesQuery: string; metricsQuery: string }[];
}

describe('the services of the Helm chart', () => {
  const services = JSON.parse(read(path.join(CHART, 'files/services.json'))) as Record<
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
    const resources = parseAllDocuments(read(path.join(EXAMPLES, 'kafka.strimzi.yaml'))).map((one) => one.toJS());
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

const serviceKeys = makeServiceKeys();
const sealingKeys = new Map(Object.entries(makeSealingKeys([Buffer.alloc(32, 1)])));
const lacksHelm = spawnSync('helm', ['version']).status !== 0;

(lacksHelm ? describe.skip : describe).each(VALUE_FILES)('the Helm chart with %s.yaml (needs helm)', (name) => {
  const values = path.join(EXAMPLES, `${name}.yaml`);
  const helm = (...args: string[]) => execFileSync('helm', args, { encoding: 'utf8', stdio: 'pipe' });
  // The version of Kubernetes whose resources are written.
  const rendered = lacksHelm
    ? ''
    : helm('template', 'ecf', CHART, '--values', values, '--kube-version', '1.31.4', '--namespace', 'ecf');
  const resources = parseAllDocuments(rendered).flatMap((one) => (one.toJS() as Resource | null) ?? []);
  const ofKind = (kind: string) => resources.filter((one) => one.kind === kind);
  const serviceOf = ({ metadata }: Resource) => metadata.labels['app.kubernetes.io/component'] as ServiceName;
  const merging = merged(defaults, example(name)) as Merged;

  it('passes helm lint, and has each resource of each service once', () => {
    helm('lint', CHART, '--strict', '--values', values);
    const kinds = ['Deployment', 'Service', 'PodDisruptionBudget', 'NetworkPolicy'];
    if (merging.autoscaling.enabled) kinds.push('HorizontalPodAutoscaler');
    for (const kind of kinds)
      expect([kind, ofKind(kind).map(serviceOf).sort()]).toEqual([kind, [...SERVICE_NAMES].sort()]);
    const keys = resources.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('gives each service only settings that it has, and all that it needs to start', () => {
    for (const deployment of ofKind('Deployment')) {
      const service = serviceOf(deployment);
      const { env } = deployment.spec.template.spec.containers[0] as Container;
      const names = env.map(({ name }) => name);
      expect(new Set(names).size).toBe(names.length);
      const schema = SETTINGS[service];
      const foreign = names.filter((name) => !/^(OTEL|NODE)_/.test(name) && !(name in schema.shape));
      expect([service, foreign]).toEqual([service, []]);
      const secrets: Record<string, string | undefined> = {
        ...SECRET_VALUES,
        ...serviceKeys[service],
        SEALING_KEYS: sealingKeys.get(service),
      };
      const present = env.map(({ name, value }) => [name, value ?? secrets[name]]);
      expect(() => readConfig(schema, Object.fromEntries(present))).not.toThrow();
    }
  });

  it('reads each secret from a Secret', () => {
    const containers = [...ofKind('Deployment'), ...ofKind('Job')].flatMap(({ spec }) => spec.template.spec.containers);
    const secrets = containers
      .flatMap(({ env }) => env)
      .filter(({ name }) => /PASSWORD$|SECRET|_KEYS?$|_TOKEN$|DATABASE_URL|REDIS_URL/.test(name));
    const inClear = secrets.filter(({ valueFrom }) => valueFrom?.secretKeyRef.name === undefined);
    expect([...new Set(inClear.map(({ name }) => name))]).toEqual(['SERVICE_PUBLIC_KEYS']);
  });

  it('has network policies that follow the calls of the code', () => {
    const component = (peer: Peer) => peer.podSelector?.matchLabels['app.kubernetes.io/component'] ?? [];
    const policies = ofKind('NetworkPolicy');
    const accepted = policies.flatMap((policy) =>
      policy.spec.ingress
        .flatMap(({ from }) => from.flatMap(component))
        .map((caller) => `${caller} > ${serviceOf(policy)}`),
    );
    const made = policies.flatMap((policy) =>
      policy.spec.egress
        .flatMap(({ to = [] }) => to.flatMap(component))
        .map((called) => `${serviceOf(policy)} > ${called}`),
    );
    expect(accepted.sort()).toEqual(allowedCalls());
    expect(made.sort()).toEqual(allowedCalls());
  });

  it('runs containers as an unprivileged user, with limits and a read-only root', () => {
    for (const { spec } of [...ofKind('Deployment'), ...ofKind('Job')]) {
      const pod = spec.template.spec;
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
      });
      for (const container of pod.containers) {
        expect(container.image).toMatch(/^registry\.example\.do\/ecf-gateway\/[a-z-]+(:\d|@sha256:)/);
        expect(container.resources.limits.memory).toBeDefined();
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
      }
    }
  });

  it('brings the alarms if the cluster has the Prometheus operator, and one way to the gateway', () => {
    const [rule, ...others] = ofKind('PrometheusRule');
    expect(others).toEqual([]);
    expect(ofKind('ServiceMonitor')).toHaveLength(merging.monitoring.enabled ? 1 : 0);
    const alarms = parse(read(path.join(ROOT, 'deploy/observability/alerts.yaml')));
    if (merging.monitoring.enabled) expect(rule?.spec).toEqual(alarms);
    else expect(rule).toBeUndefined();
    expect(ofKind('Ingress')).toHaveLength(merging.ingress.enabled ? 1 : 0);
    expect(ofKind('HTTPRoute')).toHaveLength(merging.httpRoute.enabled ? 1 : 0);
  });
});

/** Secrets that all services have in common. */
const SECRET_VALUES: Record<string, string | undefined> = {
  DATABASE_URL: 'postgresql://ecf:ecf@postgres:5432/ecf',
  REDIS_URL: 'redis://:password@redis:6379',
  KAFKA_SASL_PASSWORD: 'password',
  S3_ACCESS_KEY: 'access',
  S3_SECRET_KEY: 'secret',
  ADMIN_TOKEN: '0123456789abcdef',
  STATUS_KEY: 'key',
};

interface Container {
  image: string;
  env: { name: string; value?: string; valueFrom?: { secretKeyRef: { name: string; key: string } } }[];
  resources: { limits: { memory?: string } };
  securityContext: unknown;
}

interface Peer {
  podSelector?: { matchLabels: Record<string, string> };
}

interface Resource {
  kind: string;
  metadata: { name: string; labels: Record<string, string> };
  spec: {
    template: { spec: { containers: Container[] } };
    ingress: { from: Peer[] }[];
    egress: { to?: Peer[] }[];
  };
}

type Merged = Record<'autoscaling' | 'monitoring' | 'ingress' | 'httpRoute', { enabled: boolean }>;
