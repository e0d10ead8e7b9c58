/**
 * Creates the topics of a deployment and gives each service access to its own: run it once with the login of a super user of the
 * brokers (settings KAFKA_...), before the services start and after an upgrade.
 */
import { createLogger } from '@ecf/kit/telemetry';
import { readBusSettings, usesKafka } from '../bus-settings.js';
import { prepareTopics } from './kafka-topics.js';

const settings = readBusSettings(process.env);
if (!usesKafka(settings)) throw new Error('KAFKA_BROKERS is required');
await prepareTopics(settings, createLogger({ service: 'topics', level: 'info' }), { grant: true });
