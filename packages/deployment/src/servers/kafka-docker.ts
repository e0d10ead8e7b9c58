import { KAFKA_VERSION } from './kafka-java.js';
import { loginSettings } from './kafka-java-settings.js';

export const KAFKA_IMAGE = `apache/kafka:${KAFKA_VERSION}`;

/**
 * Settings of a one-node broker in a container; its address for clients is `port` of this machine. With passwords every client logs
 * in as one of these users.
 */
export function brokerEnvironment(port: number, passwords?: Readonly<Record<string, string>>): Record<string, string> {
  const name = passwords === undefined ? 'PLAINTEXT' : 'LOGIN';
  const login = Object.entries(passwords === undefined ? {} : loginSettings(passwords)).map(
    ([property, value]) => [`KAFKA_${property.replaceAll('.', '_').toUpperCase()}`, value] as const,
  );
  return {
    KAFKA_NODE_ID: '1',
    KAFKA_PROCESS_ROLES: 'broker,controller',
    KAFKA_CONTROLLER_QUORUM_VOTERS: '1@localhost:9093',
    KAFKA_LISTENERS: `${name}://:9092,CONTROLLER://:9093`,
    KAFKA_ADVERTISED_LISTENERS: `${name}://127.0.0.1:${port}`,
    KAFKA_CONTROLLER_LISTENER_NAMES: 'CONTROLLER',
    KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: 'CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT',
    KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: '1',
    KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR: '1',
    KAFKA_TRANSACTION_STATE_LOG_MIN_ISR: '1',
    KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS: '0',
    KAFKA_AUTO_CREATE_TOPICS_ENABLE: 'false',
    ...Object.fromEntries(login),
  };
}
