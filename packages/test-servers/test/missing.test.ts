import { afterEach, describe, expect, it } from '@jest/globals';
import { missing } from '../src/missing.js';

describe('a server that is missing', () => {
  const before = process.env.CI;
  afterEach(() => {
    if (before === undefined) delete process.env.CI;
    else process.env.CI = before;
  });

  it('is skipped with the remedy, and fails if CI=true', () => {
    process.env.CI = 'true';
    expect(() => missing('Kafka', 'Set KAFKA_BROKERS.')).toThrow('Kafka is missing. Set KAFKA_BROKERS.');
    process.env.CI = '';
    expect(missing('Kafka', 'Set KAFKA_BROKERS.')).toBeNull();
  });
});
