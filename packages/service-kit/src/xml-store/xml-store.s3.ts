import { createHash } from 'node:crypto';
import {
  GetObjectCommand,
  HeadBucketCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { checkXmlPath, type XmlStore, XmlStoreError } from './xml-store.js';

export interface S3Settings {
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  readonly accessKey: string;
  readonly secretKey: string;
  /** Objects that one answer lists; by default as many as the storage gives. */
  readonly listedAtOnce?: number;
}

/** Milliseconds for one attempt of a call, and attempts in all: a caller waits for the answer. */
const REQUEST_MS = 5_000;
const CONNECT_MS = 2_000;
const ATTEMPTS = 3;

/**
 * Objects in a bucket of an S3-compatible storage. A put carries `If-None-Match: *`, so that the storage itself refuses to
 * overwrite, and the SHA-256, so that it refuses bytes that were altered on their way.
 */
export function openS3XmlStore(settings: S3Settings): XmlStore & { close(): void } {
  const { bucket } = settings;
  const client = new S3Client({
    endpoint: settings.endpoint,
    region: settings.region,
    credentials: { accessKeyId: settings.accessKey, secretAccessKey: settings.secretKey },
    forcePathStyle: true,
    maxAttempts: ATTEMPTS,
    requestHandler: { requestTimeout: REQUEST_MS, connectionTimeout: CONNECT_MS, throwOnRequestTimeout: true },
  });

  async function read(path: string): Promise<Buffer> {
    try {
      const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: path }));
      return Buffer.from((await Body?.transformToByteArray()) ?? []);
    } catch (cause) {
      if (statusOf(cause) !== 404) throw cause;
      throw new XmlStoreError('missing', `There is no document under ${path}.`, { cause });
    }
  }

  return {
    async put(path, bytes, known) {
      checkXmlPath(path);
      const checksum = known ?? sha256(bytes, 'hex');
      try {
        await client.send(
          new PutObjectCommand({
            Bucket: bucket,
            Key: path,
            Body: bytes,
            ContentType: 'application/xml',
            ChecksumSHA256: Buffer.from(checksum, 'hex').toString('base64'),
            IfNoneMatch: '*',
          }),
        );
      } catch (error) {
        // 412: it is there. 409: another put of the same object is under way. A first attempt may also have got through.
        if (statusOf(error) !== 412 && statusOf(error) !== 409) throw error;
        if (sha256(await read(path), 'hex') !== checksum)
          throw new XmlStoreError(
            'exists',
            `Another document stands under ${path}; stored documents are never overwritten.`,
          );
      }
      return { checksum };
    },
    async get(path, checksum) {
      checkXmlPath(path);
      const bytes = await read(path);
      if (checksum !== undefined && sha256(bytes, 'hex') !== checksum)
        throw new XmlStoreError('altered', `The document under ${path} is not the one that was stored.`);
      return bytes;
    },
    async ready() {
      await client.send(new HeadBucketCommand({ Bucket: bucket }));
    },
    async *list() {
      for (let token: string | undefined; ; ) {
        const page = await client.send(
          new ListObjectsV2Command({
            Bucket: bucket,
            ...(settings.listedAtOnce === undefined ? {} : { MaxKeys: settings.listedAtOnce }),
            ...(token === undefined ? {} : { ContinuationToken: token }),
          }),
        );
        for (const { Key: path, LastModified: storedAt } of page.Contents ?? [])
          if (path !== undefined) yield { path, storedAt: storedAt ?? new Date(0) };
        token = page.NextContinuationToken;
        if (token === undefined) return;
      }
    },
    close: () => client.destroy(),
  };
}

function statusOf(error: unknown): number | undefined {
  return error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
}

function sha256(bytes: Uint8Array, encoding: 'hex' | 'base64'): string {
  return createHash('sha256').update(bytes).digest(encoding);
}
