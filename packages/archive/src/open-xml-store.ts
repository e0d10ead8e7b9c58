import path from 'node:path';
import { ConfigError, readConfig, setting } from '@ecf/kit';
import { z } from 'zod';
import { openFileXmlStore } from './xml-store.files.js';
import { type XmlStore, XmlStoreError } from './xml-store.js';

/** Settings of the archive, to be spread into the settings of a service. */
export const archiveSettings = {
  DATA_DIR: setting.text({
    description: 'Folder of stored files; also of stored XML, unless S3_ENDPOINT is set',
    default: '.data',
  }),
  S3_ENDPOINT: setting.optionalUrl({
    description: 'Address of the S3-compatible storage that keeps XML; unset = files under DATA_DIR',
  }),
  S3_BUCKET: setting.text({ description: 'Bucket of stored XML', default: 'ecf' }),
  S3_REGION: setting.text({ description: 'Region in the signature of requests to the storage', default: 'us-east-1' }),
  S3_ACCESS_KEY: setting.optionalText({ description: 'Key id at the storage; needed with S3_ENDPOINT' }),
  S3_SECRET_KEY: setting.optionalText({
    description: 'Secret key at the storage; needed with S3_ENDPOINT',
    secret: true,
  }),
};

const schema = z.object(archiveSettings);

export type ArchiveSettings = z.infer<typeof schema>;

/** The archive's settings out of environment variables; throws ConfigError. */
export function readArchiveSettings(env: Record<string, string | undefined>): ArchiveSettings {
  return readConfig(schema, env);
}

/**
 * The archive that the settings name: a bucket, or files. It is opened at the first use, so that wiring needs no I/O.
 *
 * @param readOnly for files: the store creates and removes no file
 * @throws ConfigError if the keys of the storage are missing
 */
export function openXmlStore(settings: ArchiveSettings, { readOnly = false } = {}): XmlStore {
  const open = opener(settings, readOnly);
  let opened: Promise<XmlStore> | undefined;
  const archive = () => {
    // The next call tries again.
    opened ??= open().catch((error) => {
      opened = undefined;
      throw error;
    });
    return opened;
  };
  return {
    put: (relative, bytes, checksum) => reached(async () => (await archive()).put(relative, bytes, checksum)),
    get: (relative, checksum) => reached(async () => (await archive()).get(relative, checksum)),
    ready: async () => (await archive()).ready(),
    async *list(prefix) {
      yield* (await archive()).list(prefix);
    },
  };
}

/** An unnamed error comes from storage that is down or full, or that refuses the request. */
async function reached<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof XmlStoreError) throw cause;
    throw new XmlStoreError('unavailable', 'The storage of documents cannot be reached.', { cause });
  }
}

function opener(settings: ArchiveSettings, readOnly: boolean): () => Promise<XmlStore> {
  const { S3_BUCKET: bucket, S3_ENDPOINT: endpoint, S3_ACCESS_KEY: accessKey, S3_SECRET_KEY: secretKey } = settings;
  if (endpoint === undefined) return () => openFileXmlStore(path.join(settings.DATA_DIR, 'xml'), { readOnly });
  if (accessKey === undefined || secretKey === undefined) {
    const needed = { S3_ACCESS_KEY: accessKey, S3_SECRET_KEY: secretKey };
    throw new ConfigError(
      Object.entries(needed).flatMap(([variable, value]) =>
        value === undefined ? [{ variable, message: 'is required where S3_ENDPOINT is set' }] : [],
      ),
    );
  }
  const { S3_REGION: region } = settings;
  // Loaded on demand: a deployment on files does not load the S3 client.
  return async () =>
    (await import('./xml-store.s3.js')).openS3XmlStore({ endpoint, bucket, region, accessKey, secretKey });
}
