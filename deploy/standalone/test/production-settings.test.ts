import { readFileSync } from 'node:fs';
import { readApprovalsConfig } from '@ecf/approvals';
import { emissionConfig } from '@ecf/emission';
import { readGatewayConfig } from '@ecf/gateway';
import { ConfigError } from '@ecf/kit';
import { readQueryConfig } from '@ecf/query';
import { readReceptionConfig } from '@ecf/reception';
import { readStatusPollerConfig } from '@ecf/status-poller';
import { describe, expect, it } from '@jest/globals';

/** The settings that a service started as a program lacks without any. */
function missing(read: (env: Record<string, string | undefined>) => unknown): string[] {
  try {
    read({});
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(({ variable }) => variable);
    throw error;
  }
  return [];
}

const page = readFileSync(new URL('../../../docs/operators.md', import.meta.url), 'utf8');
const section = page.split('### Settings of a production start')[1]?.split('\n## ')[0] ?? '';
const listed = new Set(section.match(/^\|[^|]+\|/gm)?.flatMap((cell) => cell.match(/[A-Z][A-Z_]+/g) ?? []));
const KEYS = ['SERVICE_PRIVATE_KEY', 'SERVICE_PUBLIC_KEYS'];

describe('a service that is started as a program without settings', () => {
  it.each([
    ['gateway', readGatewayConfig, ['DEFAULT_ENV', 'MASTER_KEY']],
    ['emission', emissionConfig, ['MASTER_KEY']],
    ['status-poller', readStatusPollerConfig, []],
    ['reception', readReceptionConfig, ['MASTER_KEY', 'TRUSTED_ISSUERS_FILE']],
    ['approvals', readApprovalsConfig, ['MASTER_KEY', 'TRUSTED_ISSUERS_FILE']],
    ['query', readQueryConfig, ['MASTER_KEY']],
  ] as const)('names all that %s needs in one refusal, and docs/operators.md lists each', (_service, read, own) => {
    const named = missing(read);
    expect([...named].sort()).toEqual([...own, ...KEYS, 'DATABASE_URL'].sort());
    expect(named.filter((name) => !listed.has(name))).toEqual([]);
  });
});
