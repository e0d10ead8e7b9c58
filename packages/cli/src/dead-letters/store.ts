import { existsSync } from 'node:fs';
import path from 'node:path';
import { readBusSettings, usesKafka } from '@ecf/service-kit/bus';
import { openKafkaDeadLetters } from '@ecf/service-kit/bus/kafka';
import { ConfigError } from '@ecf/service-kit/config';
import { type FileDeadLetters, openFileDeadLetters, type ReplayableDeadLetters } from '@ecf/service-kit/dead-letters';
import { createLogger } from '@ecf/service-kit/telemetry';
import { UsageError } from '../usage-error.js';

/** The dead-letter messages of a deployment. */
export interface DeadLetterStore {
  readonly deadLetters: ReplayableDeadLetters;
  /** The files of a standalone deployment, which show the outcome of a replay; null over Kafka. */
  readonly files: FileDeadLetters | null;
  /** The place, as text for people. */
  readonly place: string;
  close(): Promise<void>;
}

/**
 * Opens the brokers if KAFKA_BROKERS is set and no folder is given, otherwise a data folder.
 *
 * @throws UsageError
 */
export function openDeadLetterStore(folder: string | undefined, env: NodeJS.ProcessEnv): DeadLetterStore {
  const settings = settingsOf(env);
  if (folder === undefined && usesKafka(settings)) {
    const deadLetters = openKafkaDeadLetters(settings, createLogger({ service: 'cli', level: 'silent' }));
    return {
      deadLetters,
      files: null,
      place: `at ${settings.KAFKA_BROKERS.join(', ')}`,
      close: () => deadLetters.close(),
    };
  }
  const data = folder ?? env.DATA_DIR ?? '.data';
  if (!existsSync(data))
    throw new UsageError(`the data folder ${data} does not exist; name it with --data-dir, or set KAFKA_BROKERS.`);
  const files = openFileDeadLetters(path.join(data, 'dead-letters'));
  return { deadLetters: files, files, place: `in ${data}`, close: async () => {} };
}

function settingsOf(env: NodeJS.ProcessEnv) {
  try {
    return readBusSettings(env);
  } catch (error) {
    if (error instanceof ConfigError)
      throw new UsageError(error.problems.map(({ variable, message }) => `${variable} ${message}`).join('; '), {
        cause: error,
      });
    throw error;
  }
}
