import { once } from 'node:events';
import net from 'node:net';
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  PutObjectLockConfigurationCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { ConfigError, readConfig } from '@ecf/kit';
import { createBucket, type S3Server, s3 } from '@ecf/test-servers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { archiveSettings, openXmlStore } from '../src/open-xml-store.js';
import type { XmlStore } from '../src/xml-store.js';
import { openS3XmlStore } from '../src/xml-store.s3.js';
import { archiveContract, bytes, checksum, name } from './xml-store-contract.js';

const server: S3Server | null = await s3();
const bucket = `ecf-test-${process.pid}`;
const read = (env: Record<string, string>) => readConfig(z.object(archiveSettings), env);

afterAll(() => server?.stop());

(server === null ? describe.skip : describe)('an archive in a bucket', () => {
  const { endpoint, accessKey, secretKey, region } = server as S3Server;
  const client = new S3Client({
    endpoint,
    region,
    forcePathStyle: true,
    credentials: { accessKeyId: accessKey, secretAccessKey: secretKey },
  });
  const env = { S3_BUCKET: bucket, S3_ENDPOINT: endpoint, S3_ACCESS_KEY: accessKey, S3_SECRET_KEY: secretKey };
  let store: XmlStore;

  beforeAll(async () => {
    await createBucket(server as S3Server, bucket);
    store = openXmlStore(read({ ...env, S3_REGION: region }));
  });
  afterAll(() => client.destroy());

  archiveContract(() => store);

  it('lists its objects in several pages', async () => {
    const pathsOf = async (archive: XmlStore) => {
      const paths: string[] = [];
      for await (const { path } of archive.list()) paths.push(path);
      return paths.sort();
    };
    const all = await pathsOf(store);
    expect(all.length).toBeGreaterThan(100);
    const small = openS3XmlStore({ endpoint, bucket, region, accessKey, secretKey, listedAtOnce: 30 });
    expect(await pathsOf(small)).toEqual(all);
    small.close();
  });

  it('notices a missing object', async () => {
    await store.put(name(6), bytes);
    await client.send(new DeleteObjectCommand({ Bucket: bucket, Key: name(6) }));
    await expect(store.get(name(6), checksum)).rejects.toMatchObject({ code: 'missing' });
  });

  it('stores twice in a bucket with object lock, whose storage then refuses to delete the object', async () => {
    const locked = `${bucket}-locked`;
    await client.send(new CreateBucketCommand({ Bucket: locked, ObjectLockEnabledForBucket: true }));
    const Rule = { DefaultRetention: { Mode: 'COMPLIANCE', Years: 10 } } as const;
    const configuration = { ObjectLockEnabled: 'Enabled', Rule } as const;
    await client.send(
      new PutObjectLockConfigurationCommand({ Bucket: locked, ObjectLockConfiguration: configuration }),
    );
    const archive = openXmlStore(read({ ...env, S3_REGION: region, S3_BUCKET: locked }));
    await archive.put(name(10), bytes);
    await archive.put(name(10), bytes);
    const object = { Bucket: locked, Key: name(10) };
    await expect(client.send(new DeleteObjectCommand(object))).rejects.toThrow();
    expect(await archive.get(name(10), checksum)).toEqual(bytes);
  });

  it('refuses to store with a wrong key or without the bucket, and shows no key', async () => {
    const wrong = openXmlStore(read({ ...env, S3_REGION: region, S3_SECRET_KEY: 'another-secret' }));
    await expect(wrong.put(name(7), bytes)).rejects.toThrow(expect.not.stringContaining('another-secret'));
    const nowhere = openXmlStore(read({ ...env, S3_REGION: region, S3_BUCKET: 'no-such-bucket' }));
    await expect(nowhere.put(name(7), bytes)).rejects.toThrow();
    await expect(nowhere.ready()).rejects.toThrow();
    await expect(wrong.ready()).rejects.toThrow();
  });
});

describe('an archive in a bucket whose storage does not work', () => {
  it('fails within the time limit if the storage refuses connections', async () => {
    const env = { S3_BUCKET: 'b', S3_ENDPOINT: 'http://127.0.0.1:1', S3_ACCESS_KEY: 'a', S3_SECRET_KEY: 's' };
    await expect(openXmlStore(read(env)).put(name(8), bytes)).rejects.toThrow();
    await expect(openXmlStore(read(env)).ready()).rejects.toThrow();
  });

  it('fails within the time limit if the storage accepts calls and never answers', async () => {
    const silent = net.createServer(() => undefined).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as net.AddressInfo;
    const env = { S3_ENDPOINT: `http://127.0.0.1:${port}`, S3_ACCESS_KEY: 'a', S3_SECRET_KEY: 's' };
    try {
      await expect(openXmlStore(read(env)).put(name(9), bytes)).rejects.toMatchObject({ code: 'unavailable' });
    } finally {
      silent.close();
    }
  });

  it('cannot be opened without keys, and the error names the variable', () => {
    const env = { S3_ENDPOINT: 'http://127.0.0.1:1', S3_ACCESS_KEY: 'a' };
    expect(() => openXmlStore(read(env))).toThrow(ConfigError);
    expect(() => openXmlStore(read(env))).toThrow(/S3_SECRET_KEY/);
  });
});
