import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import * as contracts from '../src/index.js';
import {
  type InternalOperation,
  REPORTED_ACTIONS,
  SERVICE_NAMES,
  type ServiceName,
  TAXPAYER_SOURCE_CALLERS,
  TOPICS,
} from '../src/index.js';

const SERVICES = path.resolve(import.meta.dirname, '../../../services');

function sourcesOf(service: ServiceName): string {
  const folder = path.join(SERVICES, service, 'src');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  return files.map((file) => readFileSync(path.join(folder, file), 'utf8')).join('\n');
}

const sources = new Map(SERVICE_NAMES.map((service) => [service, sourcesOf(service)]));

const operations = Object.entries(contracts)
  .filter(([name]) => /^(?!UNDECIDED).*_OPERATIONS$/.test(name))
  .flatMap(([set, rows]) =>
    Object.entries(rows as Record<string, Partial<InternalOperation>>)
      .filter(([, { path }]) => path?.startsWith('/internal/'))
      .map(([name, operation]) => ({ set, name, operation: operation as InternalOperation })),
  );

/** Services that make a client of the set of operations and use this operation. */
function actualCallers(set: string, operation: string): ServiceName[] {
  const makesClient = new RegExp(`(clientOf|createInternalClient|client)\\(\\s*${set}\\b`);
  const uses = new RegExp(`\\.${operation}\\(|'${operation}'`);
  return SERVICE_NAMES.filter((service) => {
    const source = sources.get(service) ?? '';
    return makesClient.test(source) && uses.test(source);
  });
}

describe('the callers of internal operations', () => {
  it('are the services that really call each of the operations', () => {
    expect(operations.length).toBeGreaterThan(20);
    for (const { set, name, operation } of operations)
      expect({ set, name, callers: [...operation.callers].sort() }).toEqual({
        set,
        name,
        callers: actualCallers(set, name).sort(),
      });
  });

  it("are, for the gateway's taxpayers, the services that make a client of it", () => {
    const callers = SERVICE_NAMES.filter(
      (service) => sources.get(service)?.match(/(gateway|createHttp)TaxpayerSource\(/) !== null,
    );
    expect([...TAXPAYER_SOURCE_CALLERS].sort()).toEqual(callers.sort());
  });
});

describe('the actions that services report to the audit log', () => {
  it('are the acts that each service carries out', () => {
    const reported = Object.entries(REPORTED_ACTIONS).flatMap(([action, { services }]) =>
      services.map((service) => `${service} ${action}`),
    );
    const carriedOut = [...sources].flatMap(([service, source]) =>
      [
        ...(service === 'gateway' ? [] : [...source.matchAll(/action: '(\w+\.\w+)'/g)].map(([, action]) => action)),
        ...(source.includes('createCertificateUses(') ? ['certificate.use'] : []),
      ].map((action) => `${service} ${action}`),
    );
    expect(reported.sort()).toEqual(carriedOut.sort());
  });

  it('come only from producers of the topic', () => {
    const producers: readonly string[] = TOPICS.audit.producers;
    for (const { services } of Object.values(REPORTED_ACTIONS))
      expect(services.filter((service) => !producers.includes(service))).toEqual([]);
  });
});
