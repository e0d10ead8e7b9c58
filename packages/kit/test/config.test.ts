import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { ConfigError, ConfigProblems, readConfig, setting, settingMeta } from '../src/config.js';

const schema = z.object({
  PORT: setting.integer({ description: 'Port', min: 0, max: 65_535, default: 8080 }),
  WAIT_MS: setting.integer({ description: 'Wait', min: 0, max: 1_000 }),
  DEBUG: setting.flag({ description: 'Debug', default: false }),
  MODE: setting.oneOf(['off', 'required'], { description: 'Mode', default: 'off' }),
  KEY: setting.optionalBase64Keys({ description: 'Key', bytes: 32 }),
  URL: setting.optionalUrl({ description: 'Address' }),
  BROKERS: setting.list({ description: 'Brokers' }),
  NAME: setting.optionalText({ description: 'Name', min: 3 }),
});
const KEY = Buffer.alloc(32, 0xfb).toString('base64');

function problems(env: Record<string, string>): string[] {
  try {
    readConfig(schema, env);
    return [];
  } catch (error) {
    return (error as ConfigError).problems.map((problem) => `${problem.variable} ${problem.message}`);
  }
}

describe('a configuration', () => {
  it('is read from variables, with defaults; empty ones count as absent', () => {
    expect(
      readConfig(schema, {
        WAIT_MS: '0',
        KEY,
        PORT: '',
        DEBUG: 'Yes',
        BROKERS: ' a:1, b:2 ,',
        URL: 'https://x.example',
        UNKNOWN: '1',
      }),
    ).toEqual({
      PORT: 8080,
      WAIT_MS: 0,
      DEBUG: true,
      MODE: 'off',
      KEY: [Buffer.alloc(32, 0xfb)],
      URL: 'https://x.example',
      BROKERS: ['a:1', 'b:2'],
    });
    const urlSafe = Buffer.alloc(32, 0xfb).toString('base64url');
    expect(readConfig(schema, { WAIT_MS: '1', KEY: urlSafe }).KEY).toEqual([Buffer.alloc(32, 0xfb)]);
    expect(readConfig(schema, { WAIT_MS: '1', KEY: `${KEY}, ${urlSafe}` }).KEY).toHaveLength(2);
  });

  it('names every wrong variable and its allowed values, and repeats no value', () => {
    expect(
      problems({ KEY: 'hunter2', PORT: '-1', WAIT_MS: '1e2', DEBUG: 'perhaps', MODE: 'on', URL: 'not one', NAME: 'x' }),
    ).toEqual([
      'PORT is not allowed; allowed: a whole number from 0 to 65535',
      'WAIT_MS is not allowed; allowed: a whole number from 0 to 1000',
      'DEBUG is not allowed; allowed: true or false',
      'MODE is not allowed; allowed: off, required',
      'KEY is not allowed; allowed: 32 bytes in base64',
      'URL is not allowed; allowed: an address with http:// or https://',
      'NAME is not allowed; allowed: text of at least 3 characters',
    ]);
    expect(problems({})).toEqual(['WAIT_MS is required; allowed: a whole number from 0 to 1000']);
    expect(new ConfigError([{ variable: 'PORT', message: 'is required' }]).message).toContain('PORT: is required');
  });

  it('describes each setting, its allowed values and its default', () => {
    expect(settingMeta(schema.shape.PORT)).toEqual({
      description: 'Port',
      allowed: 'a whole number from 0 to 65535',
      default: '8080',
    });
    expect(settingMeta(schema.shape.KEY)).toMatchObject({ secret: true });
    expect(settingMeta(schema.shape.URL)).toEqual({
      description: 'Address',
      allowed: 'an address with http:// or https://',
    });
  });
});

describe('the configurations of one start', () => {
  const one = z.object({ A_MS: setting.integer({ description: 'A', min: 0, max: 9, default: 1 }) });
  const other = z.object({ B_MS: setting.integer({ description: 'B', min: 0, max: 9 }), ...one.shape });
  const variables = (read: () => unknown) => {
    try {
      return read();
    } catch (error) {
      return (error as ConfigError).problems.map(({ variable }) => variable);
    }
  };

  it('are all read before errors are reported, each variable once', () => {
    const env = { A_MS: 'x' };
    const all = (found: ConfigProblems) =>
      found.readAll({ one: () => readConfig(one, env), other: () => readConfig(other, env) });
    expect(variables(() => all(new ConfigProblems()))).toEqual(['A_MS', 'B_MS']);
    const before = new ConfigProblems();
    before.add('EARLIER', 'is not allowed');
    expect(variables(() => all(before))).toEqual(['EARLIER', 'A_MS', 'B_MS']);
    expect(new ConfigProblems().readAll({ one: () => readConfig(one, {}) })).toEqual({ one: { A_MS: 1 } });
  });

  it('are read to the end although some settings are wrong or missing', () => {
    const wrong = new ConfigProblems();
    expect(wrong.readOn({ A_MS: 'x' }, one)).toEqual({ A_MS: 1 });
    expect(variables(() => wrong.refuse())).toEqual(['A_MS']);
    const missing = new ConfigProblems();
    expect(missing.readOn({ A_MS: '5' }, other)).toEqual({ A_MS: 5 });
    expect(variables(() => missing.refuse())).toEqual(['B_MS']);
  });
});
