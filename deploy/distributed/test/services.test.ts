import { SERVICE_NAMES } from '@ecf/contracts';
import { readConfig } from '@ecf/kit';
import { describe, expect, it } from '@jest/globals';
import { distributedSettings } from '../src/config.js';
import { placesOf } from '../src/services.js';

const ports = Array.from({ length: 4 * SERVICE_NAMES.length }, (_, index) => 10_000 + index);
const places = placesOf({ instances: 2 }, ports, { host: '0.0.0.0', port: 8080 }, (service) => ({
  DATABASE_URL: service,
}));

describe('the places of two instances of each service', () => {
  it('have separate ports, and the gateway the configured one', () => {
    const urls = places.flatMap(({ url, metricsUrl }) => [new URL(url).port, new URL(metricsUrl).port]);
    expect(new Set(urls).size).toBe(urls.length);
    expect(places[0]).toMatchObject({
      name: 'gateway',
      url: 'http://0.0.0.0:8080',
      env: { HOST: '0.0.0.0', PORT: '8080' },
    });
    for (const { service, env } of places) {
      expect(env.DATABASE_URL).toBe(service);
      if (service !== 'gateway') expect(env.HOST).toBe('127.0.0.1');
    }
  });

  it('know those of the same number', () => {
    for (const { env, instance } of places) {
      const emission = places.find((one) => one.service === 'emission' && one.instance === instance);
      expect(env.EMISSION_URL).toBe(emission?.url);
    }
    expect(places.map(({ name }) => name)).toContain('status-poller-2');
  });
});

describe('two instances of some services', () => {
  it('know the others by their only one', () => {
    const some = placesOf(
      { instances: 2, several: ['gateway', 'emission'] },
      ports,
      { host: '::1', port: 0 },
      () => ({}),
    );
    const further = some.filter(({ instance }) => instance === 2);
    expect(further.map(({ name }) => name)).toEqual(['gateway-2', 'emission-2']);
    expect(some).toHaveLength(SERVICE_NAMES.length + 2);
    const urlOf = (name: string) => some.find((one) => one.name === name)?.url;
    expect(further[0]?.env).toMatchObject({ EMISSION_URL: urlOf('emission-2'), QUERY_URL: urlOf('query') });
  });

  it('are of services that there are', () => {
    expect(readConfig(distributedSettings, { INSTANCES_OF: 'emission, query' }).INSTANCES_OF).toEqual([
      'emission',
      'query',
    ]);
    expect(() => readConfig(distributedSettings, { INSTANCES_OF: 'emision' })).toThrow(
      /INSTANCES_OF: .*names of services/,
    );
  });
});
