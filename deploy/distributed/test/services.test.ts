import { describe, expect, it } from '@jest/globals';
import { placesOf, SERVICE_NAMES } from '../src/services.js';

const ports = Array.from({ length: 4 * SERVICE_NAMES.length }, (_, index) => 10_000 + index);
const places = placesOf(2, ports, { host: '0.0.0.0', port: 8080 }, (service) => ({ DATABASE_URL: service }));

describe('the places of two instances of each service', () => {
  it('have ports of their own, and the gateway the configured one', () => {
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
