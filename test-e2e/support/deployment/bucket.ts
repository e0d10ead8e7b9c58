import { CuttableProxy, createBucket, s3 } from '@ecf/test-servers';

/** A real S3-compatible storage with an empty bucket, behind a connection that tests can cut. */
export interface TestBucket {
  /** The settings with which a deployment stores its XML there. */
  readonly settings: Record<string, string>;
  readonly line: CuttableProxy;
  stop(): Promise<void>;
}

/** Null if the machine can run no storage. Ignores S3_ENDPOINT, which does not belong to the test. */
export async function bucket(): Promise<TestBucket | null> {
  const storage = process.env.S3_ENDPOINT === undefined ? await s3() : null;
  if (storage === null) return null;
  const { endpoint, region, accessKey, secretKey } = storage;
  await createBucket(storage, 'ecf');
  const line = await CuttableProxy.start({ host: '127.0.0.1', port: Number(new URL(endpoint).port) });
  return {
    line,
    settings: {
      S3_ENDPOINT: `http://127.0.0.1:${line.port}`,
      S3_ACCESS_KEY: accessKey,
      S3_SECRET_KEY: secretKey,
      S3_REGION: region,
      S3_BUCKET: 'ecf',
    },
    async stop() {
      await line.cut();
      await storage.stop();
    },
  };
}
