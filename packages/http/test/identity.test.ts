import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { ConfigError } from '@ecf/kit';
import { identitiesOf, TEST_SERVICE_KEYS } from '@ecf/test-support/services';
import { describe, expect, it } from '@jest/globals';
import { SignJWT } from 'jose';
import {
  createIdentities,
  effectiveEnvironment,
  IDENTITY_HEADER,
  type Identity,
  identify,
  identityOf,
  requireIdentity,
} from '../src/identity/identity.js';
import { makeServiceKeys, readServiceKeys } from '../src/identity/service-keys.js';

const now = new Date('2026-03-01T12:00:00Z');
const later = (seconds: number) => () => new Date(now.getTime() + seconds * 1000);
const gateway = identitiesOf('gateway', () => now);
const emission = identitiesOf('emission', () => now);
const submit = { method: 'POST', path: '/fe_Submit' };
const identity: Identity = {
  kind: 'account',
  account_id: 'a1',
  environments: ['TesteCF', 'CerteCF'],
  env: 'TesteCF',
  env_given: false,
  taxpayers_revision: 7,
  request_id: 'r-ñ-1',
};

describe('a signed identity', () => {
  it('is read back as it was signed', async () => {
    const signed = await gateway.sign(identity, { audience: 'emission', ...submit });
    expect(await emission.verify(signed, { method: 'POST', path: '/fe_Submit?validate=true' })).toEqual(identity);
    expect(signed).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
  });

  it('is valid for one minute, with clocks that differ by ten seconds', async () => {
    const signed = await gateway.sign(identity, { audience: 'emission', ...submit });
    const at = (seconds: number) => identitiesOf('emission', later(seconds)).verify(signed, submit);
    const found = await Promise.all([-11, -10, 69, 71].map(at));
    expect(found.map((caller) => caller !== null)).toEqual([false, true, true, false]);
  });

  it('is valid only for the service, the method and the address that it was made for', async () => {
    const signed = await gateway.sign(identity, { audience: 'emission', ...submit });
    expect(await identitiesOf('query', () => now).verify(signed, submit)).toBeNull();
    expect(await emission.verify(signed, { ...submit, method: 'GET' })).toBeNull();
    expect(await emission.verify(signed, { ...submit, path: '/batches' })).toBeNull();
  });

  it('names an account or a sender only if the gateway signed it; other services name themselves', async () => {
    const query = identitiesOf('query', () => now);
    const call = { audience: 'emission', ...submit } as const;
    expect(await emission.verify(await query.sign(identity, call), submit)).toBeNull();
    const open = { kind: 'public', env: 'TesteCF', request_id: 'r' } as const;
    expect(await emission.verify(await query.sign(open, call), submit)).toBeNull();
    const named = { kind: 'service', service: 'gateway', request_id: 'r' } as const;
    expect(await emission.verify(await query.sign(named, call), submit)).toEqual({ ...named, service: 'query' });
  });

  it('is refused when forged, altered, malformed or missing', async () => {
    const call = { audience: 'emission', ...submit } as const;
    const signed = await gateway.sign(identity, call);
    const [head, payload = '', signature = ''] = signed.split('.');
    const altered = Buffer.from(payload, 'base64url').toString().replace('"a1"', '"a2"');
    const foreign = createIdentities({ keys: readServiceKeys('gateway', makeServiceKeys().gateway), clock: () => now });
    const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.`;
    const { keyId } = readServiceKeys('gateway', TEST_SERVICE_KEYS.gateway);
    const publicKey = createPublicKey(readServiceKeys('gateway', TEST_SERVICE_KEYS.gateway).privateKey);
    const withPublicKeyAsSecret = await new SignJWT({ ...identity, operation: 'POST /fe_Submit' })
      .setProtectedHeader({ alg: 'HS256', kid: keyId })
      .setIssuer('gateway')
      .setAudience('emission')
      .setIssuedAt(now)
      .setExpirationTime(later(60)())
      .sign(new Uint8Array(publicKey.export({ format: 'der', type: 'spki' })));
    const bad = [
      undefined,
      '',
      '..',
      'x',
      payload,
      `${head}.${Buffer.from(altered).toString('base64url')}.${signature}`,
      `${signed}x`,
      signed.slice(0, -2),
      unsigned,
      withPublicKeyAsSecret,
      await foreign.sign(identity, call),
      await gateway.sign({ ...identity, env: 'ECF' as never }, call),
      await gateway.sign({ kind: 'root', request_id: '' } as never, call),
    ];
    for (const value of bad) expect(await emission.verify(value, submit)).toBeNull();
  });

  it('is required, and a kind of caller that the route does not allow is refused', async () => {
    const guarded = async (headers: Record<string, string>, caller?: Identity) => {
      const req = { headers, method: 'POST', originalUrl: '/fe_Submit' } as never;
      if (caller !== undefined) identify(req, caller);
      await requireIdentity(emission)(req, {} as never, () => undefined);
      return identityOf(req);
    };
    const call = { audience: 'emission', ...submit } as const;
    expect(await guarded({ [IDENTITY_HEADER]: await gateway.sign(identity, call) })).toEqual(identity);
    expect(await guarded({}, identity)).toEqual(identity);
    const refused = 'only calls that come through the gateway';
    await expect(guarded({})).rejects.toThrow(refused);
    const open = await gateway.sign({ kind: 'public', env: 'TesteCF', request_id: 'r' }, call);
    await expect(guarded({ [IDENTITY_HEADER]: open })).rejects.toThrow(refused);
  });
});

describe('the keys of the services', () => {
  it('are replaced one by one: first the public key everywhere, then the private one', async () => {
    const fresh = makeServiceKeys();
    const publicOf = (keys: typeof fresh, service: string) =>
      keys.gateway.SERVICE_PUBLIC_KEYS.split(',').find((one) => one.startsWith(`${service}:`));
    const both = `${TEST_SERVICE_KEYS.emission.SERVICE_PUBLIC_KEYS},${publicOf(fresh, 'gateway')}`;
    const receiver = createIdentities({
      keys: readServiceKeys('emission', { ...TEST_SERVICE_KEYS.emission, SERVICE_PUBLIC_KEYS: both }),
      clock: () => now,
    });
    const renewed = createIdentities({ keys: readServiceKeys('gateway', fresh.gateway), clock: () => now });
    for (const signer of [gateway, renewed])
      expect(await receiver.verify(await signer.sign(identity, { audience: 'emission', ...submit }), submit)).toEqual(
        identity,
      );
  });

  it('are refused with the setting at fault', () => {
    const problem = (settings: Record<string, string>) => {
      try {
        readServiceKeys('emission', { ...TEST_SERVICE_KEYS.emission, ...settings });
      } catch (error) {
        if (error instanceof ConfigError) return error.problems.map(({ variable }) => variable).join();
      }
      return null;
    };
    const rsa = generateKeyPairSync('rsa', { modulusLength: 1024 });
    const rsaKey = rsa.privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64');
    expect(problem({})).toBeNull();
    expect(problem({ SERVICE_PRIVATE_KEY: rsaKey })).toBe('SERVICE_PRIVATE_KEY');
    expect(problem({ SERVICE_PRIVATE_KEY: '' })).toBe('SERVICE_PRIVATE_KEY');
    expect(problem({ SERVICE_PUBLIC_KEYS: 'emission' })).toBe('SERVICE_PUBLIC_KEYS');
    expect(problem({ SERVICE_PUBLIC_KEYS: makeServiceKeys().query.SERVICE_PUBLIC_KEYS })).toBe('SERVICE_PUBLIC_KEYS');
    expect(problem({ SERVICE_PRIVATE_KEY: TEST_SERVICE_KEYS.query.SERVICE_PRIVATE_KEY })).toBe('SERVICE_PUBLIC_KEYS');
  });
});

describe('the environment of a body that names one', () => {
  it('is that of the header, else that of the body, else TesteCF, and the key must allow it', () => {
    const given = { ...identity, env: 'CerteCF' as const, env_given: true };
    expect(effectiveEnvironment(identity, undefined)).toBe('TesteCF');
    expect(effectiveEnvironment(identity, 'CerteCF')).toBe('CerteCF');
    expect(effectiveEnvironment(given, 'CerteCF')).toBe('CerteCF');
    expect(effectiveEnvironment(given, undefined)).toBe('CerteCF');
    expect(() => effectiveEnvironment(given, 'TesteCF')).toThrow(expect.objectContaining({ status: 422 }));
    expect(() => effectiveEnvironment(identity, 'eCF')).toThrow(
      expect.objectContaining({ status: 401, code: 'environment_not_allowed' }),
    );
    expect(() => effectiveEnvironment({ ...identity, production_refused: true }, 'eCF')).toThrow(
      expect.objectContaining({ status: 422, code: 'environment_not_served' }),
    );
    expect(() => effectiveEnvironment({ ...identity, environments: ['eCF'] }, undefined)).toThrow(
      expect.objectContaining({ status: 401 }),
    );
  });
});
