import { silentLogger } from '@ecf/test-support/services';
import { openKafkaDeadLetters } from '../src/bus/kafka/dead-letters.kafka.js';
import { describeBus } from './bus-contract.js';
import { describeOnKafka, kafkaSettings, openKafkaBus } from './kafka.js';

describeOnKafka('over a real broker', () => {
  describeBus('the bus over Kafka', async () => {
    const settings = kafkaSettings();
    return { bus: openKafkaBus(settings), deadLetters: openKafkaDeadLetters(settings, silentLogger) };
  });
});
