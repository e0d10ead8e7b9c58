import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { SERVICE_NAMES, type ServiceName } from '@ecf/contracts';
import { describe, expect, it } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';
import { readConfig } from '../../packages/kit/src/config.js';
import { approvalsSettings } from '../../services/approvals/src/config.js';
import { emissionSettings } from '../../services/emission/src/config.js';
import { gatewaySettings } from '../../services/gateway/src/config.js';
import { querySettings } from '../../services/query/src/config.js';
import { receptionSettings } from '../../services/reception/src/config.js';
import { statusPollerSettings } from '../../services/status-poller/src/config.js';
import {
  allowedCalls,
  CHART,
  defaults,
  EXAMPLES,
  example,
  madeSecrets,
  merged,
  ROOT,
  VALUE_FILES,
} from '../support/deployment/helm.js';

const MEBIBYTE = 1024 * 1024;

const SETTINGS = {
  gateway: gatewaySettings,
  emission: emissionSettings,
  'status-poller': statusPollerSettings,
  reception: receptionSettings,
  approvals: approvalsSettings,
  query: querySettings,
};

const helm = (...args: string[]) => execFileSync('helm', args, { encoding: 'utf8', stdio: 'pipe' });
const lacksHelm = spawnSync('helm', ['version']).status !== 0;

(lacksHelm ? describe.skip : describe).each(VALUE_FILES)('the Helm chart with %s.yaml (needs helm)', (name) => {
  const values = path.join(EXAMPLES, `${name}.yaml`);
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
      const present = env.map(({ name, value, valueFrom }) => [name, value ?? secretOf(name, valueFrom?.secretKeyRef)]);
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
        const bytes = container.env.find(({ name }) => name === 'MAX_BODY_BYTES_IN_FLIGHT')?.value ?? 256 * MEBIBYTE;
        const limit = Number.parseInt(container.resources.limits.memory, 10);
        // The poller keeps no bodies, and a Job is small.
        if (container.resources.limits.memory.endsWith('Gi'))
          expect(limit * 1024 * MEBIBYTE).toBeGreaterThanOrEqual(4 * Number(bytes));
        else expect(container.name).toMatch(/^(status-poller|migrate|topics)$/);
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
    const alarms = parse(fs.readFileSync(path.join(ROOT, 'deploy/observability/alerts.yaml'), 'utf8'));
    if (merging.monitoring.enabled) expect(rule?.spec).toEqual(alarms);
    else expect(rule).toBeUndefined();
    expect(ofKind('Ingress')).toHaveLength(merging.ingress.enabled ? 1 : 0);
    expect(ofKind('HTTPRoute')).toHaveLength(merging.httpRoute.enabled ? 1 : 0);
  });
});

(lacksHelm ? describe.skip : describe)('Helm (needs helm)', () => {
  it.each([
    ['an unknown setting', ['--set', 'settings.KAFKA_BROKER=kafka:9092'], /KAFKA_BROKER/],
    [
      'a setting of another service',
      ['--set', 'services.query.settings.POLL_RATE=5'],
      /services.query.settings: Property name of "POLL_RATE"/,
    ],
    ['a number out of range', ['--set', 'services.emission.settings.STATUS_WAIT_MS=60001'], /STATUS_WAIT_MS/],
    ['a secret in the values', ['--set', 'settings.ADMIN_TOKEN=0123456789abcdef'], /ADMIN_TOKEN/],
    ['values without required settings', ['--set', 'settings.KAFKA_BROKERS=null'], /KAFKA_BROKERS/],
    ['a name that is too long', ['--name-template', 'a'.repeat(42)], /more than 41 characters/],
  ])('refuses %s', (_, args, message) => {
    const values = path.join(EXAMPLES, 'small.yaml');
    const name = args.includes('--name-template') ? [] : ['ecf'];
    expect(() => helm('template', ...name, CHART, '--kube-version', '1.31.4', '--values', values, ...args)).toThrow(
      message,
    );
  });
});

const secrets = madeSecrets();

/** What a key of a Secret has. Secrets of operators and users, which the script does not make, have any text. */
function secretOf(setting: string, source: SecretKey | undefined): string | undefined {
  const { name, key, optional } = source as SecretKey;
  const made = secrets.get(name);
  if (made === undefined) return setting === 'REDIS_URL' ? 'redis://redis:6379' : 'any';
  if (!optional) expect([name, Object.keys(made)]).toEqual([name, expect.arrayContaining([key])]);
  return made[key];
}

interface SecretKey {
  name: string;
  key: string;
  optional: boolean;
}

interface Container {
  name: string;
  image: string;
  env: { name: string; value?: string; valueFrom?: { secretKeyRef: SecretKey } }[];
  resources: { limits: { memory: string } };
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
