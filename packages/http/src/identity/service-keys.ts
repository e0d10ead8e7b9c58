import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { SERVICE_NAMES, type ServiceName } from '@ecf/contracts';
import { ConfigError, describeSetting, readConfig } from '@ecf/kit';
import { z } from 'zod';

/** A public key and the service that holds its private key. */
export interface PublicServiceKey {
  readonly service: ServiceName;
  readonly key: KeyObject;
}

/** The Ed25519 keys of a service: its private one, and the public ones of all services by their id. */
export interface ServiceKeys {
  readonly service: ServiceName;
  /** The id of the private key. */
  readonly keyId: string;
  readonly privateKey: KeyObject;
  readonly publicKeys: ReadonlyMap<string, PublicServiceKey>;
}

/** Settings of every service: with these keys it signs its calls of other services. */
export const serviceKeySettings = {
  SERVICE_PRIVATE_KEY: describeSetting(
    key((text) => createPrivateKey({ key: der(text), format: 'der', type: 'pkcs8' })),
    {
      description: 'The private key of this service, for calls of other services; made by ecf keys services',
      allowed: 'an Ed25519 key (PKCS #8, DER) in base64',
      secret: true,
    },
  ),
  SERVICE_PUBLIC_KEYS: describeSetting(
    z.string().transform((text, context) => {
      try {
        return text.split(',').map(publicKeyOf);
      } catch {
        context.addIssue({ code: 'custom' });
        return z.NEVER;
      }
    }),
    {
      description: 'The public keys of all services; a service is listed twice while its key is replaced',
      allowed: 'service:key, separated by commas; a key is Ed25519 (SPKI, DER) in base64',
    },
  ),
};

const schema = z.object(serviceKeySettings);

/** The keys of a service from its settings. Throws ConfigError if its own public key is missing among the public ones. */
export function createServiceKeys(service: ServiceName, config: z.infer<typeof schema>): ServiceKeys {
  const publicKeys = new Map(config.SERVICE_PUBLIC_KEYS.map((one) => [keyIdOf(one.key), one]));
  const keyId = keyIdOf(createPublicKey(config.SERVICE_PRIVATE_KEY));
  if (publicKeys.get(keyId)?.service !== service)
    throw new ConfigError([
      {
        variable: 'SERVICE_PUBLIC_KEYS',
        message: `must contain ${service} with the public key of SERVICE_PRIVATE_KEY`,
      },
    ]);
  return { service, keyId, privateKey: config.SERVICE_PRIVATE_KEY, publicKeys };
}

/** The keys of a service from environment variables. Throws ConfigError. */
export function readServiceKeys(service: ServiceName, env: Record<string, string | undefined>): ServiceKeys {
  return createServiceKeys(service, readConfig(schema, env));
}

/** New keys for all services of a deployment, as their settings. */
export function makeServiceKeys(): Record<ServiceName, Record<keyof typeof serviceKeySettings, string>> {
  const pairs = SERVICE_NAMES.map((service) => [service, generateKeyPairSync('ed25519')] as const);
  const SERVICE_PUBLIC_KEYS = pairs
    .map(
      ([service, { publicKey }]) =>
        `${service}:${publicKey.export({ format: 'der', type: 'spki' }).toString('base64')}`,
    )
    .join(',');
  const settings = pairs.map(([service, { privateKey }]) => [
    service,
    {
      SERVICE_PRIVATE_KEY: privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64'),
      SERVICE_PUBLIC_KEYS,
    },
  ]);
  return Object.fromEntries(settings);
}

function key(read: (text: string) => KeyObject) {
  return z.string().transform((text, context) => {
    try {
      return ed25519(read(text));
    } catch {
      context.addIssue({ code: 'custom' });
      return z.NEVER;
    }
  });
}

function publicKeyOf(entry: string): PublicServiceKey {
  const colon = entry.indexOf(':');
  const service = entry.slice(0, colon).trim();
  if (!SERVICE_NAMES.some((name) => name === service)) throw new TypeError('no service of this name');
  const key = createPublicKey({ key: der(entry.slice(colon + 1)), format: 'der', type: 'spki' });
  return { service: service as ServiceName, key: ed25519(key) };
}

function ed25519(key: KeyObject): KeyObject {
  if (key.asymmetricKeyType !== 'ed25519') throw new TypeError('not an Ed25519 key');
  return key;
}

function der(text: string): Buffer {
  return Buffer.from(text.trim(), 'base64');
}

/** The first 16 bytes of the SHA-256 of the public key, in base64url. */
function keyIdOf(publicKey: KeyObject): string {
  const spki = publicKey.export({ format: 'der', type: 'spki' });
  return createHash('sha256').update(spki).digest().subarray(0, 16).toString('base64url');
}
