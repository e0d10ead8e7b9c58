import { describe, expect, it } from '@jest/globals';
import { readSettings, SettingRefused } from '../src/settings.js';

describe('settings', () => {
  it('have defaults', () => {
    expect(readSettings({})).toEqual({
      port: 0,
      host: '127.0.0.1',
      dataDir: null,
      processingMs: 200,
      strictCertification: false,
      latencyMs: 0,
      errorRate: 0,
      statusKey: null,
      demo: [],
    });
  });

  it('are read from the environment', () => {
    const settings = readSettings({
      SIMULATOR_PORT: '8081',
      SIMULATOR_HOST: '0.0.0.0',
      SIMULATOR_DATA: '/data',
      SIMULATOR_PUBLIC_URL: 'https://authority.example/',
      SIMULATOR_TAXPAYERS: '[{"rnc":"101672919","name":"UNO"}]',
      SIMULATOR_STATUS_KEY: 'KEY',
      SIMULATOR_LATENCY_MS: '5',
      SIMULATOR_ERROR_RATE: '0.25',
      PROCESSING_MS: '0',
      STRICT_CERTIFICATION: '1',
    });
    expect(settings).toMatchObject({
      port: 8081,
      host: '0.0.0.0',
      dataDir: '/data',
      publicUrl: 'https://authority.example',
      statusKey: 'KEY',
      latencyMs: 5,
      errorRate: 0.25,
      processingMs: 0,
      strictCertification: true,
      demo: [{ rnc: '101672919', name: 'UNO', active: true, ranges: null }],
    });
  });

  it.each([
    ['SIMULATOR_PORT', '70000'],
    ['SIMULATOR_PORT', '1.5'],
    ['PROCESSING_MS', '-1'],
    ['SIMULATOR_LATENCY_MS', 'x'],
    ['SIMULATOR_ERROR_RATE', '2'],
    ['STRICT_CERTIFICATION', 'maybe'],
    ['SIMULATOR_TAXPAYERS', '{'],
    ['SIMULATOR_TAXPAYERS', '{}'],
    ['SIMULATOR_TAXPAYERS', '[{"rnc":"1"}]'],
  ])('refuse %s=%s and name it', (name, value) => {
    expect(() => readSettings({ [name]: value })).toThrow(SettingRefused);
    expect(() => readSettings({ [name]: value })).toThrow(new RegExp(`^${name} has to be`));
  });

  it('are refused together, in one message', () => {
    const wrong = { PROCESSING_MS: 'x', STRICT_CERTIFICATION: 'x', SIMULATOR_TAXPAYERS: 'x', SIMULATOR_PORT: 'x' };
    const refused = () => {
      try {
        return readSettings(wrong);
      } catch (error) {
        return (error as SettingRefused).problems.map(({ variable }) => variable).sort();
      }
    };
    expect(refused()).toEqual(Object.keys(wrong).sort());
  });
});
