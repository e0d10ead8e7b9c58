import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
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
  variablePrefix,
  WEBHOOK_OPERATIONS,
} from '@ecf/contracts';
import { parse, parseAllDocuments } from 'yaml';
import { makeServiceKeys } from '../../../packages/http/src/identity/service-keys.js';
import { makeSealingKeys } from '../../../packages/kit/src/sealing-keys.js';

export const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../..');
export const CHART = path.join(ROOT, 'deploy/helm/ecf-gateway');
export const EXAMPLES = path.join(ROOT, 'deploy/helm/examples');
/** The values in the examples; the other files there are resources and values of other charts. */
export const VALUE_FILES = ['small', 'production', 'gateway-api', 'external-services', 'without-monitoring-crds'];

export type Values = Record<string, unknown>;

/** The text of a file in the chart. */
export const readChart = (file: string) => fs.readFileSync(path.join(CHART, file), 'utf8');

/** The text of a file in the examples. */
export const readExample = (file: string) => fs.readFileSync(path.join(EXAMPLES, file), 'utf8');

export const example = (name: string) => parse(readExample(`${name}.yaml`)) as Values;

export const defaults = parse(readChart('values.yaml')) as Values;

/** Values as Helm merges them: maps are merged, everything else is replaced. */
export function merged(below: Values, above: Values): Values {
  const isMap = (value: unknown): value is Values =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  const entries = Object.entries(above).map(([name, value]) => {
    const other = below[name];
    return [name, isMap(value) && isMap(other) ? merged(other, value) : value];
  });
  return { ...below, ...Object.fromEntries(entries) };
}

/** The calls between services that the code allows: `caller > called`. */
export function allowedCalls(): string[] {
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

/** The Secrets that `make-secrets.sh` writes, by name. */
export function madeSecrets(): Map<string, Record<string, string>> {
  const secrets = parseAllDocuments(writtenSecrets(1)[0] as string).map((one) => one.toJS());
  return new Map(secrets.map(({ metadata, stringData }) => [metadata.name, stringData]));
}

/** What `make-secrets.sh` writes in each of several runs with the same keys. */
export function writtenSecrets(runs: number): string[] {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'ecf-secrets-'));
  try {
    const keys = path.join(folder, 'keys.env');
    const lineOf = (service: string, name: string, value: string) => `${variablePrefix(service)}_${name}=${value}\n`;
    const pairs = Object.entries(makeServiceKeys()).map(
      ([service, one]) =>
        lineOf(service, 'PRIVATE_KEY', one.SERVICE_PRIVATE_KEY) + lineOf(service, 'PASSWORD', `of-${service}`),
    );
    const sealing = Object.entries(makeSealingKeys([Buffer.alloc(32, 1)]));
    fs.writeFileSync(keys, [...pairs, ...sealing.map(([name, key]) => lineOf(name, 'SEALING_KEYS', key))].join(''));
    const env = { ...process.env, S3_ACCESS_KEY: 'access', S3_SECRET_KEY: 'secret', REDIS_URL: 'redis://redis:6379' };
    const script = path.join(ROOT, 'deploy/helm/make-secrets.sh');
    const write = () => execFileSync(script, [keys, 'postgres:5432'], { env, encoding: 'utf8' });
    return Array.from({ length: runs }, write);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}
