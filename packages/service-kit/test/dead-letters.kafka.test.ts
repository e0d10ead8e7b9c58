import { expect, it } from '@jest/globals';
import { keepKafkaDeadLetter } from '../src/bus/kafka/dead-letters.kafka.js';
import type { KafkaRecord } from '../src/bus/kafka/kafka-messages.js';

it('a dead-letter message that brokers refuse for its size is kept cut, each group under a key of its own', async () => {
  const kept: KafkaRecord[] = [];
  const producer = {
    async send(records: readonly KafkaRecord[]) {
      const [record] = records;
      if (record === undefined || record.key.length > 10_000 || String(record.value).length > 10_000)
        throw Object.assign(new Error('refused'), { type: 'MESSAGE_TOO_LARGE' });
      kept.push(record);
    },
  };
  const id = 'x'.repeat(50_000);
  for (const group of ['one', 'two']) {
    const deadLetter = {
      id: `${id}.${group}`,
      event: { topic: 't', key: 'k' },
      group,
      reason: 'x',
      attempts: 1,
      time: '',
    };
    const original = { message: { offset: '7', value: Buffer.alloc(20_000), headers: {} }, partition: 3 };
    const topics = { nameOf: (name: string) => name };
    await keepKafkaDeadLetter(deadLetter as never, original as never, { producer, topics } as never);
  }
  expect(kept.map(({ key }) => key)).toEqual(['t-3-7.one', 't-3-7.two']);
});
