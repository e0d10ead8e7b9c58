import { existsSync } from 'node:fs';
import path from 'node:path';
import { readBusSettings, usesKafka } from '@ecf/service-kit/bus';
import { openKafkaDeadLetters } from '@ecf/service-kit/bus/kafka';
import { ConfigError } from '@ecf/service-kit/config';
import { type FileDeadLetters, openFileDeadLetters, type ReplayableDeadLetters } from '@ecf/service-kit/dead-letters';
import { createLogger } from '@ecf/service-kit/telemetry';
import { UsageError } from '../usage-error.js';

/** The dead-letter messages of a deployment. */
export interface LetterBox {
  readonly letters: ReplayableDeadLetters;
  /** Reports the result of a replay on a standalone deployment; null over Kafka. */
  readonly files: FileDeadLetters | null;
  /** Their place, for people. */
  readonly place: string;
  close(): Promise<void>;
}

/**
 * The messages of the brokers if KAFKA_BROKERS is set and no folder is named, else those of a data folder.
 *
 * @throws UsageError
 */
export function openLetterBox(folder: string | undefined, env: NodeJS.ProcessEnv): LetterBox {
  const settings = settingsOf(env);
  if (folder === undefined && usesKafka(settings)) {
    const letters = openKafkaDeadLetters(settings, createLogger({ service: 'cli', level: 'silent' }));
    return { letters, files: null, place: `at ${settings.KAFKA_BROKERS.join(', ')}`, close: () => letters.close() };
  }
  const data = folder ?? env.DATA_DIR ?? '.data';
  if (!existsSync(data))
    throw new UsageError(`there is no data folder ${data}; name it with --data-dir, or set KAFKA_BROKERS.`);
  const files = openFileDeadLetters(path.join(data, 'dead-letters'));
  return { letters: files, files, place: `in ${data}`, close: async () => {} };
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
