import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ConfigError } from '@ecf/service-kit';
import { afterAll, describe, expect, it } from '@jest/globals';
import { readReceptionConfig } from '../src/config.js';
import { authority } from './support/senders.js';
import { MASTER_KEY } from './support/taxpayers.js';

const folder = mkdtempSync(path.join(os.tmpdir(), 'ecf-config-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const least = { DATABASE_URL: 'postgresql://u:p@127.0.0.1/reception', MASTER_KEY: MASTER_KEY.toString('base64') };

function fileWith(name: string, text: string): string {
  const file = path.join(folder, name);
  writeFileSync(file, text);
  return file;
}

function problems(env: Record<string, string>): string[] {
  try {
    readReceptionConfig({ ...least, ...env });
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(({ variable }) => variable);
    throw error;
  }
  return [];
}

describe('configuration', () => {
  it('tokens are ignored, any issuer counts and nobody signs for others unless it says so', () => {
    const config = readReceptionConfig(least);
    expect(config.RECEPTION_SIGNER_RNC).toBeUndefined();
    expect(config).toMatchObject({
      PROVIDER_AUTH: 'off',
      trustedIssuers: null,
      MAX_BODY_BYTES: 10 * 1024 * 1024,
    });
  });

  it('reads trusted issuers', () => {
    const config = readReceptionConfig({ ...least, TRUSTED_ISSUERS_FILE: fileWith('issuers.pem', authority.pem) });
    expect(config.trustedIssuers?.size).toBe(1);
  });

  it.each([
    ['DATABASE_URL', 'mysql://x'],
    ['MASTER_KEY', 'short'],
    ['PROVIDER_AUTH', 'maybe'],
    ['RECEPTION_SIGNER_RNC', '123'],
    ['TRUSTED_ISSUERS_FILE', path.join(folder, 'missing.pem')],
    ['TRUSTED_ISSUERS_FILE', fileWith('empty.pem', 'no certificate')],
    ['PROVIDER_TOKEN_SECONDS', '0'],
    ['MAX_BODY_BYTES', '10MB'],
  ])('%s=%s does not start, and is named', (variable, value) => {
    expect(problems({ [variable]: value })).toEqual([variable]);
  });
});
