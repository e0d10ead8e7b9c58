import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { readAlarms, readDashboards } from '../support/observability.js';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const SERVICES = ['gateway', 'emission', 'status-poller', 'reception', 'approvals', 'query'];

interface Compose {
  services: Record<
    string,
    {
      environment?: Record<string, string>;
      depends_on?: Record<string, unknown>;
      volumes?: string[];
      read_only?: boolean;
    }
  >;
  volumes: Record<string, unknown>;
}
const folder = path.join(ROOT, 'deploy/compose');
const compose = parse(fs.readFileSync(path.join(folder, 'compose.yaml'), 'utf8'), { merge: true }) as Compose;

describe('alarms', () => {
  it('each have a page that says what to do, and each page an alarm', () => {
    const alarms = readAlarms(ROOT);
    expect(new Set(alarms.map(({ name }) => name)).size).toBe(alarms.length);
    for (const { name, runbook, severity, summary, expr } of alarms) {
      expect(['page', 'ticket']).toContain(severity);
      expect(summary).toMatch(/./);
      const page = fs.readFileSync(path.join(ROOT, runbook), 'utf8');
      expect(page).toContain(`# ${name}\n`);
      // The page shows the rule that is in force.
      expect(page).toContain(expr);
      for (const part of ['## Look', '## Do']) expect(page).toContain(part);
    }
    const pages = fs.readdirSync(path.join(ROOT, 'docs/runbooks')).filter((file) => file !== 'README.md');
    expect(pages.sort()).toEqual(alarms.map(({ runbook }) => path.basename(runbook)).sort());
  });
});

describe('dashboards', () => {
  it('have panels with expressions, and a title each', () => {
    const boards = readDashboards(ROOT);
    expect(boards.length).toBeGreaterThan(3);
    for (const { title, exprs } of boards) {
      expect(title).toMatch(/^e-CF: /);
      expect(exprs.length).toBeGreaterThan(3);
    }
  });
});

describe('compose', () => {
  it('has every service, with a database of its own and no right it does not need', () => {
    expect(Object.keys(compose.services)).toEqual(expect.arrayContaining(SERVICES));
    const databases = SERVICES.map((name) => compose.services[name]?.environment?.DATABASE_URL);
    expect(new Set(databases).size).toBe(SERVICES.length);
    for (const name of SERVICES) expect(compose.services[name]).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
  });

  it('names only services, volumes and files that are there, and keeps secrets out', () => {
    for (const service of Object.values(compose.services)) {
      for (const name of Object.keys(service.depends_on ?? {})) expect(Object.keys(compose.services)).toContain(name);
      for (const volume of service.volumes ?? []) {
        const [source = ''] = volume.split(':');
        if (source.startsWith('.')) expect(fs.existsSync(path.join(folder, source))).toBe(true);
        else expect(Object.keys(compose.volumes)).toContain(source);
      }
    }
    const text = fs.readFileSync(path.join(folder, 'compose.yaml'), 'utf8');
    const secrets = [...text.matchAll(/^ *\w*(?:PASSWORD|SECRET|MASTER_KEY|ADMIN_TOKEN)\w*: (.*)$/gm)].map(
      ([, value]) => value,
    );
    expect(secrets.length).toBeGreaterThan(3);
    for (const value of secrets) expect(value).toMatch(/^\$\{/);
    const example = fs.readFileSync(path.join(folder, '.env.example'), 'utf8');
    for (const [, name] of text.matchAll(/\$\{(\w+):\?/g)) expect(example).toContain(`${name}=`);
  });

  it('sets only settings that the services have', () => {
    const documented = fs.readFileSync(path.join(ROOT, 'docs/configuration.md'), 'utf8');
    const names = new Set(SERVICES.flatMap((name) => Object.keys(compose.services[name]?.environment ?? {})));
    const unknown = [...names].filter((name) => !name.startsWith('OTEL_') && !documented.includes(`\`${name}\``));
    expect(unknown).toEqual([]);
  });
});
