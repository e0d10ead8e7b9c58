import {
  GetObjectCommand,
  HeadBucketCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { checkedBytes, checkXmlPath, sha256Of, type XmlStore, XmlStoreError } from './xml-store.js';

export interface S3Settings {
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  readonly accessKey: string;
  readonly secretKey: string;
  /** Most objects that one answer lists; by default the storage decides. */
  readonly listedAtOnce?: number;
}

/** Milliseconds for one attempt of a call, and number of attempts. */
const REQUEST_MS = 5_000;
const CONNECT_MS = 2_000;
const ATTEMPTS = 3;

/**
 * Objects in a bucket of an S3-compatible storage. A put carries `If-None-Match: *`: the storage refuses to overwrite. It also
 * carries the SHA-256: the storage refuses bytes that were altered on the way.
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
      const checksum = known ?? sha256Of(bytes);
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
        // 412: the object exists, perhaps by an earlier attempt. 409: another put of the same object is in flight. 403: the object
        // exists and is locked, or the key has no right to write.
        if (![403, 409, 412].includes(statusOf(error) ?? 0)) throw error;
        const stored = await read(path).catch((unread) => {
          throw statusOf(error) === 403 ? error : unread;
        });
        if (sha256Of(stored) !== checksum)
          throw new XmlStoreError(
            'exists',
            `Another document is stored under ${path}; stored documents are never overwritten.`,
          );
      }
      return { checksum };
    },
    async get(path, checksum) {
      checkXmlPath(path);
      return checkedBytes(path, await read(path), checksum);
    },
    async ready() {
      await client.send(new HeadBucketCommand({ Bucket: bucket }));
    },
    async *list(prefix) {
      for (let token: string | undefined; ; ) {
        const page = await client.send(
          new ListObjectsV2Command({
            Bucket: bucket,
            ...(prefix === undefined ? {} : { Prefix: prefix }),
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
