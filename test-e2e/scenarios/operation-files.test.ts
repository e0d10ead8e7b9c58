import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { identifierOf, SERVICE_NAMES } from '@ecf/contracts';
import { promtool } from '@ecf/test-servers';
import { describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { parse } from 'yaml';
import { ALARM_RULES } from '../../services/gateway/src/operations/alarms.js';
import {
  addedUpOverInstances,
  definedMetrics,
  metricsOf,
  readAlarms,
  readAlarmTests,
  readDashboards,
} from '../support/deployment/observability.js';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const { version: VERSION } = JSON.parse(fs.readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as {
  version: string;
};
const PROMTOOL = await promtool();
const withPromtool = PROMTOOL === null ? it.skip : it;

interface Compose {
  services: Record<
    string,
    {
      environment?: Record<string, string>;
      depends_on?: Record<string, { condition: string }>;
      env_file?: { path: string; required: boolean }[];
      volumes?: string[];
      read_only?: boolean;
      image?: string;
      build?: { context: string; dockerfile: string; target: string };
      ports?: string[];
      tmpfs?: string[];
      healthcheck?: { disable?: boolean; test?: unknown };
      configs?: { source: string; target: string }[];
      secrets?: string[];
    }
  >;
  configs: Record<string, { content: string }>;
  secrets: Record<string, unknown>;
  volumes: Record<string, unknown>;
}
const folder = path.join(ROOT, 'deploy/compose');
const images = path.join(ROOT, 'deploy/images');
const read = (file: string) => parse(fs.readFileSync(path.join(folder, file), 'utf8'), { merge: true }) as Compose;
const compose = read('compose.yaml');

/** Merges as compose does: mappings by key, ports and volumes one after the other; other values are replaced. */
function merge(one: unknown, other: unknown, key = ''): unknown {
  if (Array.isArray(one) && Array.isArray(other) && ['ports', 'volumes'].includes(key)) return [...one, ...other];
  if (!isMapping(one) || !isMapping(other)) return other === undefined ? one : other;
  const keys = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return Object.fromEntries(keys.map((name) => [name, merge(one[name], other[name], name)]));
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

describe('alarms', () => {
  it('each have a section in a runbook, and each section has an alarm', () => {
    const alarms = readAlarms(ROOT);
    expect(new Set(alarms.map(({ name }) => name)).size).toBe(alarms.length);
    const index = fs.readFileSync(path.join(ROOT, 'docs/runbooks/README.md'), 'utf8');
    for (const { name, runbook, severity, summary } of alarms) {
      expect(['page', 'ticket']).toContain(severity);
      expect(summary).toMatch(/./);
      const [page = '', anchor] = runbook.split('#');
      expect(anchor).toBe(name.toLowerCase());
      const section = fs.readFileSync(path.join(ROOT, page), 'utf8').split(`## ${name}\n`)[1]?.split('\n## ')[0] ?? '';
      for (const part of ['**Look**', '**Do**']) expect([name, section]).toEqual([name, expect.stringContaining(part)]);
      expect(index).toContain(`[${name}](${path.basename(page)}#${anchor})`);
    }
    const sections = fs
      .readdirSync(path.join(ROOT, 'docs/runbooks'))
      .filter((file) => file !== 'README.md')
      .flatMap((file) =>
        [...fs.readFileSync(path.join(ROOT, 'docs/runbooks', file), 'utf8').matchAll(/^## (.+)$/gm)].map(
          (heading) => heading[1],
        ),
      );
    expect(sections.sort()).toEqual(alarms.map(({ name }) => name).sort());
  });

  it('each have a test in which they fire and are resolved', () => {
    const tests = readAlarmTests(ROOT);
    expect(tests.filter(({ fires, isResolved }) => !fires || !isResolved)).toEqual([]);
    const tested = new Set(tests.map(({ alarm }) => alarm));
    expect([...tested].sort()).toEqual(
      readAlarms(ROOT)
        .map(({ name }) => name)
        .sort(),
    );
  });

  withPromtool('pass these tests', () => {
    const args = ['test', 'rules', path.join(ROOT, 'deploy/observability/alerts.test.yaml')];
    expect(execFileSync(PROMTOOL as string, args, { encoding: 'utf8' })).toContain('SUCCESS');
  });

  it('that compare one gauge with a limit are the rules of GET /admin/state', () => {
    const gauge = /^(?:max|min)(?: by \(([^()]*)\) |)\(ecf_\w+(?:\{[^{}]*\})?\) (?:>|<|==) \d+$/;
    // Prometheus adds the label `job`.
    const alarms = readAlarms(ROOT).filter(({ expr }) => (gauge.exec(expr)?.[1] ?? '') !== 'job' && gauge.test(expr));
    const rules = ALARM_RULES.map(({ alarm, severity, gauge, where, by, of, is, limit, page }) => {
      const labels = Object.entries(where ?? {}).map(([label, value]) => `{${label}="${value}"}`);
      const expr = `${of}${by.length === 0 ? '' : ` by (${by.join(', ')}) `}(${gauge}${labels.join('')}) ${is} ${limit}`;
      return { name: alarm, expr, severity, runbook: `docs/runbooks/${page}.md#${alarm.toLowerCase()}` };
    });
    expect(rules).toEqual(alarms.map(({ name, expr, severity, runbook }) => ({ name, expr, severity, runbook })));
  });
});

describe('metrics', () => {
  const defined = definedMetrics(ROOT);
  const shown = new Set(readDashboards(ROOT).flatMap(({ exprs }) => exprs.flatMap(metricsOf)));
  const ours = (metrics: Iterable<string>) => [...metrics].filter((metric) => metric.startsWith('ecf_'));

  it('named by alarms and panels exist in the code', () => {
    expect(defined.size).toBeGreaterThan(50);
    const alarmed = readAlarms(ROOT).flatMap(({ expr }) => metricsOf(expr));
    expect(ours([...alarmed, ...shown]).filter((metric) => !defined.has(metric))).toEqual([]);
  });

  it('each have a panel, and so has every metric of an alarm', () => {
    expect([...defined].filter((metric) => !shown.has(metric))).toEqual([]);
    for (const { name, expr } of readAlarms(ROOT).filter(({ name }) => !name.startsWith('EcfProcess'))) {
      expect([name, metricsOf(expr).length > 0]).toEqual([name, true]);
      expect([name, ours(metricsOf(expr)).filter((metric) => !shown.has(metric))]).toEqual([name, []]);
    }
  });

  it('of dead letters, public refusals and work for a person have alarms', () => {
    const alarmed = new Set(readAlarms(ROOT).flatMap(({ expr }) => metricsOf(expr)));
    for (const metric of [
      'ecf_dead_letters',
      'ecf_outbox_refused',
      'ecf_reception_refusals_total',
      'ecf_approvals_ingress_refusals_total',
      'ecf_delivery_attempt_seconds',
      'ecf_shared_cache_up',
      'ecf_alarmed_documents',
      'ecf_alarmed_cancellations',
      'ecf_certificates_expiring',
      'ecf_ranges_ending',
    ])
      expect([metric, alarmed.has(metric)]).toEqual([metric, true]);
  });
});

describe('the alarms of a process that is down', () => {
  it('name each job that Prometheus scrapes, and have a separate group for targets that are gone', () => {
    const { scrape_configs } = parse(fs.readFileSync(path.join(folder, 'prometheus.yaml'), 'utf8')) as {
      scrape_configs: { job_name: string }[];
    };
    const { groups } = parse(fs.readFileSync(path.join(ROOT, 'deploy/observability/alerts.yaml'), 'utf8')) as {
      groups: { name: string; rules: { expr: string }[] }[];
    };
    const absent = groups.filter(({ rules }) => rules.some(({ expr }) => expr?.includes('absent(')));
    expect(absent.map(({ name, rules }) => [name, rules.length])).toEqual([['ecf-absent-process', 1]]);
    expect(absent[0]?.rules[0]?.expr.split(' or ').sort()).toEqual(
      scrape_configs.map(({ job_name }) => `absent(up{job="${job_name}"})`).sort(),
    );
    expect(readAlarms(ROOT).find(({ name }) => name === 'EcfProcessDown')?.expr).toBe('up{job=~"ecf-.*"} == 0');
  });
});

describe('gauges that are equal on every instance', () => {
  it('are summed by no rule, dashboard or page', () => {
    const pages = fs
      .readdirSync(path.join(ROOT, 'docs/runbooks'))
      .map((file) => path.join(ROOT, 'docs/runbooks', file));
    const expressions = [
      ...readAlarms(ROOT).map(({ expr }) => expr),
      ...readDashboards(ROOT).flatMap(({ exprs }) => exprs),
      ...pages.map((page) => fs.readFileSync(page, 'utf8')),
    ];
    expect(expressions.flatMap(addedUpOverInstances)).toEqual([]);
    expect(addedUpOverInstances('sum by (env, state) (ecf_status_polls) > 0')).toEqual(['ecf_status_polls']);
    expect(addedUpOverInstances('sum(ecf_reception_in_flight_requests) + sum(rate(ecf_alarms_total[5m]))')).toEqual([]);
  });
});

describe('dashboards', () => {
  withPromtool('have expressions that Prometheus can parse', () => {
    const exprs = readDashboards(ROOT).flatMap(({ exprs }) => exprs);
    const rules = exprs.map((expr, n) => ({ record: `panel_${n}`, expr }));
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'ecf-panels-'));
    const file = path.join(folder, 'panels.yaml');
    fs.writeFileSync(file, JSON.stringify({ groups: [{ name: 'panels', rules }] }));
    const said = execFileSync(PROMTOOL as string, ['check', 'rules', file], { encoding: 'utf8' });
    fs.rmSync(folder, { recursive: true });
    expect(said).toContain(`${exprs.length} rules found`);
  });

  it('have panels, each with an expression and a title', () => {
    const boards = readDashboards(ROOT);
    expect(boards.length).toBeGreaterThan(3);
    for (const { title, exprs } of boards) {
      expect(title).toMatch(/^e-CF: /);
      expect(exprs.length).toBeGreaterThan(3);
    }
  });
});

describe('compose', () => {
  it('has every service, with its own database and without unneeded privileges', () => {
    expect(Object.keys(compose.services)).toEqual(expect.arrayContaining([...SERVICE_NAMES]));
    const databases = SERVICE_NAMES.map((name) => compose.services[name]?.environment?.DATABASE_URL);
    expect(new Set(databases).size).toBe(SERVICE_NAMES.length);
    for (const name of SERVICE_NAMES)
      expect(compose.services[name]).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
  });

  it('passes every setting on: the settings that it does not wire itself come from settings.env', () => {
    for (const name of SERVICE_NAMES) {
      const { env_file, environment = {} } = compose.services[name] ?? {};
      expect([name, env_file]).toEqual([name, [{ path: 'settings.env', required: false }]]);
      // A wired variable without a value would unset the one of settings.env.
      for (const [variable, value] of Object.entries(environment))
        expect([variable, value]).not.toEqual([variable, '']);
      expect(JSON.stringify(environment)).not.toMatch(/\$\{\w+:-\}/);
    }
    const has = (variable: string) => SERVICE_NAMES.filter((name) => compose.services[name]?.environment?.[variable]);
    expect([has('ADMIN_TOKEN'), has('STATUS_KEY')]).toEqual([['gateway'], ['emission', 'query']]);
    expect(has('SEALING_KEYS')).toEqual(['gateway', 'emission', 'reception', 'approvals', 'query']);
    expect(has('MASTER_KEY')).toEqual([]);
    const sealing = has('SEALING_KEYS').map((name) => compose.services[name]?.environment?.SEALING_KEYS);
    expect(new Set(sealing).size).toBe(sealing.length);
    expect(has('REDIS_URL')).toEqual(['gateway', 'emission', 'reception', 'approvals']);
    expect(has('S3_SECRET_KEY')).toEqual(['emission', 'reception', 'approvals', 'query']);
    const passwords = SERVICE_NAMES.map((name) => compose.services[name]?.environment?.KAFKA_SASL_PASSWORD);
    expect(new Set(passwords).size).toBe(SERVICE_NAMES.length);
    const keys = SERVICE_NAMES.map((name) => compose.services[name]?.environment?.SERVICE_PRIVATE_KEY);
    expect(new Set(keys).size).toBe(SERVICE_NAMES.length);
  });

  it('keeps secrets and settings of an installation out of git and of images', () => {
    const files = ['.env', 'settings.env', 'files/issuers.pem', 'kafka/broker.pem', 'tls/ca.key'].map(
      (name) => `deploy/compose/${name}`,
    );
    const ignored = execFileSync('git', ['check-ignore', ...files], { cwd: ROOT, encoding: 'utf8' });
    expect(ignored.trim().split('\n')).toEqual(files);
    const context = fs.readFileSync(path.join(images, 'Dockerfile.dockerignore'), 'utf8').split('\n');
    expect(context).toEqual(
      expect.arrayContaining([
        '**/.env',
        '**/settings.env',
        ...['files', 'kafka', 'tls'].map((name) => `deploy/compose/${name}`),
      ]),
    );
  });

  it('names only existing services, volumes and files, and contains no secrets', () => {
    for (const service of Object.values(compose.services)) {
      for (const name of Object.keys(service.depends_on ?? {})) expect(Object.keys(compose.services)).toContain(name);
      for (const volume of service.volumes ?? []) {
        const [source = ''] = volume.split(':');
        if (source.startsWith('.')) expect(fs.existsSync(path.join(folder, source))).toBe(true);
        else expect(Object.keys(compose.volumes)).toContain(source);
      }
    }
    const text = fs.readFileSync(path.join(folder, 'compose.yaml'), 'utf8');
    const secrets = [...text.matchAll(/^ *\w*(?:PASSWORD|SECRET|SEALING_KEYS|ADMIN_TOKEN)\w*: (.*)$/gm)].map(
      ([, value]) => value,
    );
    expect(secrets.length).toBeGreaterThan(3);
    for (const value of secrets) expect(value).toMatch(/^\$\{/);
    const example = fs.readFileSync(path.join(folder, '.env.example'), 'utf8');
    for (const [, name] of text.matchAll(/\$\{(\w+):\?/g)) expect(example).toContain(`${name}=`);
  });

  it('builds each service from its target of the Dockerfile, under the version of the product', () => {
    const built = Object.entries(compose.services).filter(([, { build }]) => build !== undefined);
    expect(built.map(([name]) => name).sort()).toEqual([...SERVICE_NAMES, 'authority-simulator', 'cli'].sort());
    for (const [name, { build, image }] of built) {
      expect(path.resolve(folder, build?.context ?? '')).toBe(ROOT);
      expect(path.resolve(ROOT, build?.dockerfile ?? '')).toBe(path.join(images, 'Dockerfile'));
      expect([build?.target, image]).toEqual([name, `ecf/${name}:${VERSION}`]);
    }
  });

  it('pins versions and digests, waits only for services with a health check, and publishes ports on loopback alone', () => {
    for (const [name, { image = '', depends_on = {}, ports = [] }] of Object.entries(compose.services)) {
      // No digest of the collector could be checked against two sources.
      const digest = name === 'otel-collector' ? '' : '@sha256:[0-9a-f]{64}';
      const isBuilt = Object.values(compose.services).some(
        (other) => other.image === image && other.build !== undefined,
      );
      if (!isBuilt) expect(image).toMatch(new RegExp(`:v?\\d[\\w.-]*${digest}$`));
      for (const [other, { condition }] of Object.entries(depends_on)) {
        const { healthcheck } = compose.services[other] ?? {};
        if (condition === 'service_healthy')
          expect([name, other, healthcheck?.test]).toEqual([name, other, expect.anything()]);
      }
      for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
    }
    expect(compose.services.gateway?.ports).toEqual([expect.stringMatching(/:8080$/)]);
    for (const name of SERVICE_NAMES) {
      expect(compose.services[name]?.healthcheck).toBeUndefined();
      // The service writes only to this folder, which is removed with the container.
      expect(compose.services[name]?.tmpfs).toContain('/tmp');
      expect(compose.services[name]?.environment?.DATA_DIR).toMatch(/^\/tmp\//);
      expect(compose.services[name]?.volumes).toEqual(['./files:/etc/ecf:ro']);
    }
  });

  it('has addresses at which services listen, and the required settings of each service', () => {
    const listens: Record<string, string> = { kafka: '9092', redis: '6379', postgres: '5432', s3: '7070' };
    Object.assign(listens, { 'otel-collector': '4318', 'authority-simulator': '8090' });
    for (const name of SERVICE_NAMES) listens[name] = '8080';
    const documented = fs.readFileSync(path.join(ROOT, 'docs/configuration.md'), 'utf8');
    const shared = documented.split('\n## Several programs\n')[1]?.split('\n## ')[0] ?? '';
    for (const name of SERVICE_NAMES) {
      const environment = compose.services[name]?.environment ?? {};
      for (const [variable, value] of Object.entries(environment)) {
        if (!/_URL$|_BROKERS$|_ENDPOINT$/.test(variable)) continue;
        const [, host = '', port] = /(?:@|\/\/|^|-http:\/\/)([a-z0-9-]+):(\d+)(?:\/\w+)?\}?$/.exec(String(value)) ?? [];
        expect([variable, port]).toEqual([variable, listens[host]]);
        expect(port).toBeDefined();
      }
      const own = documented.split(`\n## ${name}\n`)[1]?.split('\n## ')[0] ?? '';
      const needed = [...(shared + own).matchAll(/^\| `(\w+)` .*\*\*required\*\* \|(.*)$/gm)]
        .filter(
          ([, , programs = '']) => programs === '' || programs.includes('every service') || programs.includes(name),
        )
        .map(([, variable = '']) => variable);
      expect(needed).toContain('DATABASE_URL');
      for (const variable of needed) expect(Object.keys(environment)).toContain(variable);
    }
  });

  it('lets Prometheus scrape each service at its metrics port', () => {
    const { scrape_configs } = parse(fs.readFileSync(path.join(folder, 'prometheus.yaml'), 'utf8')) as {
      scrape_configs: { dns_sd_configs: { names: string[]; port: number }[] }[];
    };
    const scraped = scrape_configs.flatMap(({ dns_sd_configs }) => dns_sd_configs);
    expect(scraped.flatMap(({ names }) => names).sort()).toEqual([...SERVICE_NAMES].sort());
    for (const { port } of scraped) expect(port).toBe(9464);
  });

  it('sends each alarm by Alertmanager to one receiver, whose address and mail server .env must name', () => {
    const { alerting } = parse(fs.readFileSync(path.join(folder, 'prometheus.yaml'), 'utf8')) as {
      alerting: { alertmanagers: { static_configs: { targets: string[] }[] }[] };
    };
    const [target = ''] = alerting.alertmanagers.flatMap(({ static_configs }) =>
      static_configs.flatMap((one) => one.targets),
    );
    const { ports, configs = [], secrets = [] } = compose.services[target.split(':')[0] ?? ''] ?? {};
    expect(ports).toEqual([expect.stringMatching(new RegExp(`:${target.split(':')[1]}$`))]);
    expect(configs.map(({ source }) => source)).toEqual(['alertmanager']);
    const { route, receivers } = parse(compose.configs.alertmanager?.content ?? '') as {
      route: { receiver: string; routes: { matchers: string[]; receiver?: string }[] };
      receivers: { name: string; email_configs: Record<string, string>[] }[];
    };
    expect(receivers).toHaveLength(1);
    expect(route.receiver).toBe(receivers[0]?.name);
    expect(route.routes.map(({ receiver }) => receiver)).toEqual([undefined]);
    const [email = {}] = receivers[0]?.email_configs ?? [];
    for (const field of ['to', 'from', 'smarthost', 'auth_username']) expect(email[field]).toMatch(/^\$\{\w+:\?/);
    expect(secrets.map((name) => `/run/secrets/${name}`)).toEqual([email.auth_password_file]);
    expect(Object.keys(compose.secrets)).toEqual(secrets);
    const severities = new Set(readAlarms(ROOT).map(({ severity }) => `severity="${severity}"`));
    for (const { matchers } of route.routes) expect(matchers.filter((one) => !severities.has(one))).toEqual([]);
  });

  it('sets only settings that the services have', () => {
    const documented = fs.readFileSync(path.join(ROOT, 'docs/configuration.md'), 'utf8');
    const names = new Set(SERVICE_NAMES.flatMap((name) => Object.keys(compose.services[name]?.environment ?? {})));
    const unknown = [...names].filter((name) => !name.startsWith('OTEL_') && !documented.includes(`\`${name}\``));
    expect(unknown).toEqual([]);
  });
});

describe('the production variant of compose', () => {
  const production = read('compose.production.yaml');
  const merged = merge(compose, production) as Compose;

  it('is valid alone and with compose.yaml by the schema of the Compose Specification, and so is compose.yaml', () => {
    const linter = createRequire(import.meta.url).resolve('dclint/package.json');
    const schema = JSON.parse(
      fs.readFileSync(path.join(path.dirname(linter), 'schemas/compose.schema.json'), 'utf8'),
    ) as object;
    const ajv = new Ajv({ strict: false, validateSchema: false });
    addFormats.default(ajv);
    const validate = ajv.compile(schema);
    for (const file of [compose, production, merged]) expect([validate(file), validate.errors]).toEqual([true, null]);
    expect(validate({ services: { gateway: { image: 1 } } })).toBe(false);
  });

  it('connects every service by TLS as its own user, and calls the real authority', () => {
    for (const name of SERVICE_NAMES) {
      const { DATABASE_URL, REDIS_URL, S3_ENDPOINT, ...rest } = merged.services[name]?.environment ?? {};
      const user = identifierOf(name);
      expect(DATABASE_URL).toMatch(
        new RegExp(`^postgresql://ecf_${user}:.*[?]sslmode=verify-full&sslrootcert=/etc/ecf/ca.pem$`),
      );
      if (REDIS_URL !== undefined) expect(REDIS_URL).toMatch(new RegExp(`^rediss://${name}:`));
      if (S3_ENDPOINT !== undefined) expect(S3_ENDPOINT).toMatch(/^https:/);
      expect(rest).toMatchObject({ KAFKA_SSL: 'true', AUTHORITY_URL: '', NODE_EXTRA_CA_CERTS: '/etc/ecf/ca.pem' });
    }
    expect(merged.services.proxy?.ports).toEqual(expect.arrayContaining(['80:80', '443:443']));
    expect(production.services['authority-simulator']).toEqual({ profiles: ['simulator'] });
  });
});

describe('images', () => {
  const text = fs.readFileSync(path.join(images, 'Dockerfile'), 'utf8').replace(/^#.*\n/gm, '');
  const stages = text
    .split('\nFROM ')
    .slice(1)
    .map((stage) => `FROM ${stage}`);
  const runtime = stages.find((stage) => stage.startsWith('FROM scratch AS runtime\n')) ?? '';

  it('are one for each program that is deployed, each with its package', async () => {
    const { IMAGES } = (await import(pathToFileURL(path.join(images, 'images.mjs')).href)) as {
      IMAGES: Record<string, string>;
    };
    const targets = stages.flatMap((stage) => /^FROM runtime AS (\S+)/.exec(stage)?.[1] ?? []);
    expect(targets).toEqual([...SERVICE_NAMES, 'cli', 'standalone', 'authority-simulator']);
    expect(Object.keys(IMAGES)).toEqual(targets);
    for (const [name, owner] of Object.entries(IMAGES)) {
      const places = ['services', 'packages', 'deploy'].map((place) => path.join(ROOT, place, name, 'package.json'));
      const found = places.find((file) => fs.existsSync(file)) ?? '';
      expect(JSON.parse(fs.readFileSync(found, 'utf8')).name).toBe(owner);
    }
  });

  it('have a base with an exact version and digest, and contain no package manager', () => {
    expect(text).toMatch(/^ARG BASE=\S+:24\.\d+\.\d+-[\w.-]+@sha256:[0-9a-f]{64}$/m);
    const bases = [...text.matchAll(/^FROM (\S+)/gm)].map(([, base = '']) => base.replace(/\W/g, ''));
    expect(new Set(bases)).toEqual(new Set(['BASE', 'scratch', 'runtime']));
    for (const name of ['npm', 'npx', 'corepack', 'yarn*', 'pnpm*']) expect(text).toContain(`/usr/local/bin/${name}`);
    for (const name of ['/usr/bin/apt*', '/usr/bin/dpkg*']) expect(text).toContain(name);
  });

  it('run as an unprivileged user, with labels and a health check', () => {
    expect(runtime).toMatch(/^USER node$/m);
    expect(runtime).toMatch(/^EXPOSE 8080 9464$/m);
    expect(runtime).toMatch(/ PORT=8080 METRICS_PORT=9464$/m);
    expect(runtime).toMatch(/^HEALTHCHECK [^\n]*\n[^\n]*\/health\/live/m);
    expect(runtime).toContain('org.opencontainers.image.licenses=');
    const build = fs.readFileSync(path.join(images, 'build.sh'), 'utf8');
    for (const label of ['version', 'revision', 'base.name']) expect(build).toContain(`--label "$labels.${label}=$`);
    for (const stage of stages.filter((one) => one.startsWith('FROM runtime '))) {
      expect(stage).toMatch(/^LABEL org\.opencontainers\.image\.title="ecf-/m);
      expect(stage).not.toMatch(/^(RUN|USER|ADD) /m);
    }
  });
});

const ANALYZE = spawnSync('systemd-analyze', ['--version']).status === 0;
if (!ANALYZE) process.stderr.write('systemd-analyze is missing. The test of the unit is skipped.\n');

(ANALYZE ? describe : describe.skip)('the unit of systemd', () => {
  it('is accepted without a warning, starts the standalone deployment and exposes little', () => {
    const place = fs.mkdtempSync(path.join(os.tmpdir(), 'ecf-unit-'));
    const text = fs.readFileSync(path.join(ROOT, 'deploy/systemd/ecf-gateway.service'), 'utf8');
    const unit = path.join(place, 'ecf-gateway.service');
    fs.writeFileSync(unit, text.replace('/usr/bin/node', process.execPath).replaceAll('/opt/ecf-gateway', ROOT));
    const checked = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' });
    const exposed = spawnSync('systemd-analyze', ['security', '--offline=true', '--threshold=20', unit]);
    fs.rmSync(place, { recursive: true });
    expect([checked.status, checked.stderr]).toEqual([0, '']);
    expect(exposed.status).toBe(0);
    const program = /^ExecStart=\S+ .* --import (\S+) (\S+)$/m.exec(text) ?? [];
    expect(program.slice(1)).toEqual(['./packages/service/dist/telemetry.js', 'deploy/standalone/dist/main.js']);
  });
});

describe('the collector of traces', () => {
  const text = fs.readFileSync(path.join(folder, 'otel-collector.yaml'), 'utf8');
  const collector = parse(text) as {
    receivers: object;
    exporters: object;
    processors: { tail_sampling: { policies: { type: string }[] } };
    service: { pipelines: Record<string, { receivers: string[]; processors: string[]; exporters: string[] }> };
  };

  it('uses only parts that it configures, and decides about a trace before it sends batches', () => {
    for (const { receivers, processors, exporters } of Object.values(collector.service.pipelines)) {
      expect(Object.keys(collector.receivers)).toEqual(expect.arrayContaining(receivers));
      expect(Object.keys(collector.exporters)).toEqual(expect.arrayContaining(exporters));
      expect(Object.keys(collector.processors)).toEqual(expect.arrayContaining(processors));
      expect(processors).toEqual(['memory_limiter', 'tail_sampling', 'batch']);
    }
    // The distribution without contributions cannot sample whole traces.
    expect(compose.services['otel-collector']?.image).toMatch(/collector-contrib:/);
  });

  it('gets every trace from productions, so that it can keep each one with an error', () => {
    const { services } = merge(compose, read('compose.production.yaml')) as Compose;
    for (const name of SERVICE_NAMES)
      expect(services[name]?.environment?.OTEL_TRACES_SAMPLER_ARG).toMatch(/^..TRACE_RATIO:-1\.0.$/);
    const values = fs.readFileSync(path.join(ROOT, 'deploy/helm/examples/production.yaml'), 'utf8');
    expect((parse(values) as { env: object }).env).toMatchObject({ OTEL_TRACES_SAMPLER_ARG: '1.0' });
  });

  it('keeps traces with errors, slow traces, and a share of the others', () => {
    const { policies } = collector.processors.tail_sampling;
    for (const policy of policies) expect(policy).toHaveProperty(policy.type);
    expect(policies.map(({ type }) => type)).toEqual(['status_code', 'latency', 'probabilistic']);
  });
});

describe('the rules of migrations', () => {
  it.each([
    ['ALTER TABLE "a" ADD COLUMN "b" TEXT;', []],
    ['ALTER TABLE "a" ADD COLUMN "b" INTEGER NOT NULL DEFAULT 0;', []],
    ['ALTER TABLE "a" ADD COLUMN "b" INTEGER NOT NULL;', [/a default/]],
    ['CREATE TABLE "a" ("b" INTEGER NOT NULL);\nCREATE INDEX "a_b" ON "a"("b");', []],
    ['CREATE INDEX "a_b" ON "a"("b");', [/CONCURRENTLY/]],
    ['DROP INDEX CONCURRENTLY IF EXISTS "a_b";\nCREATE INDEX CONCURRENTLY "a_b" ON "a"("b");', []],
    ['CREATE INDEX CONCURRENTLY "a_b" ON "a"("b");', [/DROP INDEX/]],
    ['CREATE INDEX "a_b" ON ONLY "a"("b");', [/CONCURRENTLY/]],
    ['CREATE INDEX "m_b" ON ONLY "public"."m"("b");', []],
    ['DROP INDEX "a_key";', [/contract/]],
    ['DROP INDEX CONCURRENTLY IF EXISTS "a_key";\nCREATE INDEX CONCURRENTLY "a_key" ON "a"("b");', [/contract/]],
    ['-- contract: unused since 1.1.0\nDROP INDEX CONCURRENTLY "a_key";', []],
    ['ALTER TABLE "a" DROP CONSTRAINT "c";', [/contract/]],
    ['ALTER TABLE "a" ALTER COLUMN "b" DROP DEFAULT;', [/contract/]],
    ['DO $$ BEGIN UPDATE "a" SET "b" = 1; END $$;', [/so that they are checked/]],
    ['WITH "w" AS (SELECT 1) UPDATE "a" SET "b" = 1;', [/number of rows at a time/]],
    ['INSERT INTO "a" SELECT * FROM "d";', [/number of rows at a time/]],
    ['INSERT INTO "a" VALUES (\'SELECT\');\nCREATE TABLE "e" ("b" TEXT);\nINSERT INTO "e" SELECT "b" FROM "a";', []],
    ['CREATE TABLE IF NOT EXISTS "a" ("b" TEXT);\nUPDATE "a" SET "b" = 1;', [/number of rows at a time/]],
    ['CREATE TABLE "public"."e" ("b" TEXT);\nUPDATE "public"."a" SET "b" = 1;', [/number of rows at a time/]],
    ['LOCK TABLE "a";\nREINDEX TABLE "a";', [/whole table/, /whole table/]],
    [
      'ALTER TABLE "a" ADD CONSTRAINT "c" CHECK ("b" > 0) NOT VALID;\nALTER TABLE "a" VALIDATE CONSTRAINT "c";',
      [/nothing else/],
    ],
    ['ALTER TABLE "a" VALIDATE CONSTRAINT "c";\nALTER TABLE "d" VALIDATE CONSTRAINT "e";', []],
    ['-- not CONCURRENTLY\nCOMMENT ON TABLE "a" IS \'CONCURRENTLY\';\nALTER TABLE "a" ADD COLUMN "b" TEXT;', []],
    ['DROP INDEX CONCURRENTLY IF EXISTS "a_b";\nDROP TABLE "a";', [/nothing else/, /contract/]],
    ['ALTER TABLE "a" DROP COLUMN "b";', [/contract/]],
    ['-- contract: unused since 1.1.0\nALTER TABLE "a" DROP COLUMN "b";', []],
    ['ALTER TABLE "a" RENAME COLUMN "b" TO "c";', [/new name/]],
    ['ALTER TABLE "a" ALTER COLUMN "b" SET DATA TYPE BIGINT;', [/new type/]],
    ['ALTER TABLE "a" ADD CONSTRAINT "c" FOREIGN KEY ("b") REFERENCES "d"("e");', [/NOT VALID/]],
    ["SET lock_timeout = '0';", [/three seconds/]],
    ['ALTER TABLE "a" ADD COLUMN "b" TEXT NOT NULL, ADD COLUMN "c" TEXT NOT NULL DEFAULT \'x, y;\';', [/a default/]],
    ['ALTER TABLE "a" ADD "b" TEXT NOT NULL;', [/a default/]],
    ['ALTER TABLE ONLY "a" DROP "b";', [/contract/]],
    ['ALTER TABLE "a" ALTER "b" TYPE BIGINT;', [/new type/]],
    ['ALTER TABLE "a" ADD COLUMN "b" DECIMAL(18, 2) NOT NULL DEFAULT 0.00, ADD COLUMN "c" DATE DEFAULT now();', []],
    ['ALTER TABLE "a" ADD COLUMN "b" UUID DEFAULT gen_random_uuid();', [/constant default/]],
    ['ALTER TABLE "a" ADD COLUMN "b" BIGSERIAL;', [/constant default/]],
    ['DROP TRIGGER "t" ON "a";\nDROP FUNCTION f(integer);', [/contract/, /contract/]],
    [
      'CREATE OR REPLACE FUNCTION f() RETURNS int AS $x$ BEGIN UPDATE "a" SET "b" = 1; RETURN 1; END; $x$ LANGUAGE plpgsql;',
      [],
    ],
    ['UPDATE "a" SET "b" = 1;\nDELETE FROM "a";', [/number of rows at a time/, /number of rows at a time/]],
    ['CREATE TABLE "a" ("b" TEXT);\nUPDATE "a" SET "b" = 1;', []],
    ['ALTER TABLE "a" ADD CONSTRAINT "c" UNIQUE ("b");', [/USING INDEX/]],
    ['ALTER TABLE "a" ADD PRIMARY KEY ("b");', [/USING INDEX/]],
    ['ALTER TABLE "a" ADD CONSTRAINT "c" UNIQUE USING INDEX "a_b";', []],
    ['ALTER TABLE "a" ADD CHECK ("b" > 0);', [/NOT VALID/]],
    ['-- contract: unused since 99.9.9\nDROP TABLE "a";', [/99\.9\.9: git has no tag/, /contract/]],
  ])('hold for %s', async (sql, remedies) => {
    const { migrationFaults } = (await import(pathToFileURL(path.join(ROOT, 'scripts/lint/migrations.mjs')).href)) as {
      migrationFaults: (sql: string, released: string[], earlier: string) => string[];
    };
    const earlier = 'CREATE TABLE "m" ("id" INT) PARTITION BY RANGE ("id");\nCREATE UNIQUE INDEX "a_key" ON "a"("b");';
    expect(migrationFaults(sql, ['1.1.0'], earlier)).toEqual(remedies.map((remedy) => expect.stringMatching(remedy)));
  });
});

describe('licences of packages', () => {
  it.each([
    ['MIT', true],
    ['(MIT OR GPL-3.0-only)', true],
    ['(MIT) AND (BSD-3-Clause)', true],
    ['(MIT OR GPL-2.0-only) AND (ISC OR GPL-3.0-only)', true],
    ['MIT AND (BSD-3-Clause OR GPL-2.0-only)', true],
    ['(MIT) AND (GPL-3.0-only)', false],
    ['(GPL-2.0-only) OR (AGPL-3.0-only)', false],
    ['Apache-2.0 WITH LLVM-exception', false],
    ['SEE LICENSE IN LICENSE.txt', false],
    ['Unknown', false],
    ['', false],
  ])('are allowed or refused as a whole: %s', async (expression, allowed) => {
    const { isAllowedLicence } = (await import(pathToFileURL(path.join(ROOT, 'scripts/licence-rule.mjs')).href)) as {
      isAllowedLicence: (expression: string) => boolean;
    };
    expect(isAllowedLicence(expression)).toBe(allowed);
  });
});
