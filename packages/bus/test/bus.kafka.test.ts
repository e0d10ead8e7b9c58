import { describeBus } from './bus-contract.js';
import { describeOnKafka, kafkaSettings, openKafkaBus } from './kafka.js';

describeOnKafka('over a real broker', () => {
  describeBus('the bus over Kafka', () => openKafkaBus(kafkaSettings()));
});
