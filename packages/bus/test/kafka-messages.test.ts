import { ConfigError, readConfig } from '@ecf/kit';
import { silentLogger } from '@ecf/test-support/services';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { busSettings, usesKafka } from '../src/bus-settings.js';
import { kafkaClients } from '../src/kafka/kafka-client.js';
import { describeUnreadable, readEvent, toRecord } from '../src/kafka/kafka-messages.js';
import { taxpayerEvent } from './sample-events.js';

/** A record as received from the broker. */
function received(record: ReturnType<typeof toRecord>) {
  const headers = Object.fromEntries(Object.entries(record.headers).map(([name, text]) => [name, Buffer.from(text)]));
  return { key: Buffer.from(record.key), value: Buffer.from(record.value ?? ''), headers, offset: '7' };
}

describe('an event as a message', () => {
  it('has CloudEvents’ attributes as headers and the data alone as body, and is read back unchanged', () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const event = { ...taxpayerEvent('131000001'), traceparent };
    const record = toRecord(event, 'p.taxpayers.v1');
    expect(record).toMatchObject({ topic: 'p.taxpayers.v1', key: '131000001' });
    expect(record.headers).toEqual({
      ce_specversion: '1.0',
      ce_id: event.id,
      ce_type: 'taxpayer.changed',
      ce_source: 'gateway',
      ce_time: event.time,
      ce_subject: '131000001',
      'content-type': 'application/json',
      traceparent,
    });
    expect(JSON.parse(record.value as string)).toEqual(event.data);
    expect(readEvent('taxpayers.v1', received(record))).toEqual(event);
    const untraced = taxpayerEvent('131000002');
    expect(readEvent('taxpayers.v1', received(toRecord(untraced, 'x')))).toEqual(untraced);
  });

  it('is refused with the reason if something is missing, and can still be described', () => {
    const good = received(toRecord(taxpayerEvent('131000001'), 'taxpayers.v1'));
    const without = (name: string) => ({ ...good, headers: { ...good.headers, [name]: undefined } });
    expect(() => readEvent('taxpayers.v1', { ...good, value: Buffer.from('{') })).toThrow('the body is not JSON');
    expect(() => readEvent('taxpayers.v1', { ...good, value: null })).toThrow('no body');
    const numbered = { ...good, headers: { ...good.headers, ce_id: Buffer.from('7') } };
    expect(() => readEvent('taxpayers.v1', numbered)).toThrow('the header ce_id is not a UUID');
    expect(() => readEvent('taxpayers.v1', without('ce_id'))).toThrow('the header ce_id is missing');
    expect(() => readEvent('taxpayers.v1', without('ce_specversion'))).toThrow('ce_specversion is missing');
    expect(
      describeUnreadable('taxpayers.v1', 3, { key: null, value: Buffer.from('{'), headers: {}, offset: '7' }),
    ).toEqual({
      id: 'taxpayers.v1-3-7',
      type: 'unknown',
      source: 'unknown',
      time: '',
      subject: '',
      topic: 'taxpayers.v1',
      key: '',
      data: '{',
    });
  });
});

describe('the settings of the bus', () => {
  const read = (env: Record<string, string>) => readConfig(z.object(busSettings), env);

  it('choose Kafka if brokers are named', () => {
    expect(usesKafka(read({}))).toBe(false);
    const settings = read({ KAFKA_BROKERS: 'a.example:9092, [::1]:9093', KAFKA_SSL: 'true', KAFKA_REPLICATION: '3' });
    expect(usesKafka(settings)).toBe(true);
    expect(settings).toMatchObject({
      KAFKA_BROKERS: ['a.example:9092', '[::1]:9093'],
      KAFKA_SSL: true,
      KAFKA_REPLICATION: 3,
      KAFKA_CREATE_TOPICS: true,
      KAFKA_CLIENT_ID: 'ecf',
    });
  });

  it('are refused with the name of the setting at fault', () => {
    expect(() => read({ KAFKA_BROKERS: 'kafka://a' })).toThrow('KAFKA_BROKERS: is not allowed; allowed: host:port');
    expect(() => read({ KAFKA_SASL_MECHANISM: 'gssapi' })).toThrow('KAFKA_SASL_MECHANISM');
    const brokers = ['a:1'];
    const login = { ...read({ KAFKA_SASL_MECHANISM: 'plain', KAFKA_SASL_USERNAME: 'u' }), KAFKA_BROKERS: brokers };
    expect(() => kafkaClients(login, silentLogger)).toThrow(ConfigError);
    expect(() => kafkaClients(login, silentLogger)).toThrow('KAFKA_SASL_PASSWORD: is required');
    const ca = { ...read({ KAFKA_SSL: 'true', KAFKA_SSL_CA_FILE: '/not/there.pem' }), KAFKA_BROKERS: brokers };
    expect(() => kafkaClients(ca, silentLogger)).toThrow('KAFKA_SSL_CA_FILE: cannot be read (ENOENT)');
  });
});
