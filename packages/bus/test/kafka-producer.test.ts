import { describe, expect, it } from '@jest/globals';
import type { OpenKafka } from '../src/kafka/kafka-client.js';
import { createKafkaProducer } from '../src/kafka/kafka-producer.js';

/** Clients whose connections answer `answers` requests each; later requests fail as named. The first connects may fail. */
function clients(answers: number, failure = 'KafkaJSRequestTimeoutError', failingConnects = 0) {
  let unconnected = failingConnects;
  const state = { opened: 0, closed: 0, sent: 0 };
  const open = async () => ({
    producer() {
      let left = answers;
      return {
        async connect() {
          unconnected -= 1;
          if (unconnected >= 0) throw new Error('not connected');
          state.opened += 1;
        },
        async sendBatch() {
          left -= 1;
          if (left < 0) throw new Error('given up', { cause: Object.assign(new Error('failed'), { name: failure }) });
          state.sent += 1;
        },
        async disconnect() {
          state.closed += 1;
        },
      };
    },
  });
  return { state, open: open as unknown as OpenKafka };
}

describe('a producer over Kafka', () => {
  const record = { topic: 't', key: 'k', value: '{}', headers: {} };

  it('opens another connection after one does not answer', async () => {
    const { state, open } = clients(1);
    const producer = createKafkaProducer(open);
    await producer.send([record]);
    await expect(Promise.all([producer.send([record]), producer.send([record])])).rejects.toThrow('given up');
    expect(state).toEqual({ opened: 1, closed: 1, sent: 1 });
    await producer.send([record]);
    expect(state).toEqual({ opened: 2, closed: 1, sent: 2 });
    await producer.close();
    expect(state).toMatchObject({ opened: 2, closed: 2 });
  });

  it('keeps the connection after an answer that refuses a request', async () => {
    const { state, open } = clients(0, 'KafkaJSProtocolError');
    const producer = createKafkaProducer(open);
    for (let tries = 0; tries < 2; tries += 1) await expect(producer.send([record])).rejects.toThrow('given up');
    expect(state).toEqual({ opened: 1, closed: 0, sent: 0 });
  });

  it('closes a connection that could not be made', async () => {
    const { state, open } = clients(1, 'KafkaJSRequestTimeoutError', 1);
    const producer = createKafkaProducer(open);
    await expect(producer.send([record])).rejects.toThrow('not connected');
    expect(state).toEqual({ opened: 0, closed: 1, sent: 0 });
    await producer.send([record]);
    expect(state).toEqual({ opened: 1, closed: 1, sent: 1 });
  });

  it('sends what brokers accept in one request, and the rest after it', async () => {
    const { state, open } = clients(10);
    await createKafkaProducer(open).send(Array.from({ length: 5 }, () => ({ ...record, value: 'x'.repeat(400_000) })));
    expect(state).toMatchObject({ opened: 1, sent: 3 });
  });
});
