import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import {
  type Caller,
  effectiveEnvironment,
  IDENTITY_HEADER,
  type Identity,
  identityKeyFrom,
  identityOf,
  requireIdentity,
  signIdentity,
  verifyIdentity,
} from '../src/security/identity.js';

const key = randomBytes(32);
const now = new Date('2026-03-01T12:00:00Z');
const iat = now.getTime() / 1000;
const identity: Identity = {
  kind: 'account',
  account_id: 'a1',
  environments: ['TesteCF', 'CerteCF'],
  env: 'TesteCF',
  env_given: false,
  taxpayers_revision: 7,
  request_id: 'r-ñ-1',
  iat,
  exp: iat + 120,
};

describe('a signed identity', () => {
  it('is read back as it was signed', () => {
    const signed = signIdentity(identity, key);
    expect(verifyIdentity(signed, key, now)).toEqual(identity);
    expect(signed).toMatch(/^[\w-]+\.[\w-]+$/);
  });

  it('counts for two minutes, and not before its time', () => {
    const signed = signIdentity(identity, key);
    const at = (seconds: number) => verifyIdentity(signed, key, new Date(now.getTime() + seconds * 1000));
    expect(at(119)).not.toBeNull();
    expect(at(120)).toBeNull();
    expect(at(-60)).not.toBeNull();
    expect(at(-121)).toBeNull();
  });

  it('is refused when forged, altered, malformed or missing', () => {
    const signed = signIdentity(identity, key);
    const [payload = '', mac = ''] = signed.split('.');
    const other = Buffer.from(JSON.stringify({ ...identity, account_id: 'a2' })).toString('base64url');
    const bad = [
      undefined,
      '',
      '.',
      'x',
      payload,
      `${payload}.`,
      `${other}.${mac}`,
      `${signed}x`,
      `${payload}.${mac.slice(0, -2)}`,
      signIdentity(identity, randomBytes(32)),
    ];
    for (const value of bad) expect(verifyIdentity(value, key, now)).toBeNull();
    expect(verifyIdentity(signIdentity({ ...identity, env: 'ECF' } as never, key), key, now)).toBeNull();
    expect(verifyIdentity(signIdentity({ kind: 'root' } as never, key), key, now)).toBeNull();
  });

  it('is required, and a kind that is not allowed is refused', () => {
    const guarded = (caller: Caller, signedWith = key) => {
      const req = { headers: { [IDENTITY_HEADER]: signIdentity(caller, signedWith) } };
      requireIdentity({ key, clock: () => now })(req as never, {} as never, () => undefined);
      return identityOf(req as never);
    };
    expect(guarded(identity)).toEqual(identity);
    const refused = 'only calls that come through the gateway';
    expect(() => guarded(identity, randomBytes(32))).toThrow(refused);
    expect(() => guarded({ kind: 'public', env: 'TesteCF', request_id: 'r', iat, exp: iat + 120 })).toThrow(refused);
  });

  it('has a key that is not the master key', () => {
    const derived = identityKeyFrom(key);
    expect(derived).toHaveLength(32);
    expect(derived.equals(key)).toBe(false);
    expect(identityKeyFrom(key)).toEqual(derived);
  });
});

describe('the environment of a body that names one', () => {
  it('is the header, else the body, else TesteCF, and the key must allow it', () => {
    const given = { ...identity, env: 'CerteCF' as const, env_given: true };
    expect(effectiveEnvironment(identity, undefined)).toBe('TesteCF');
    expect(effectiveEnvironment(identity, 'CerteCF')).toBe('CerteCF');
    expect(effectiveEnvironment(given, 'CerteCF')).toBe('CerteCF');
    expect(effectiveEnvironment(given, undefined)).toBe('CerteCF');
    expect(() => effectiveEnvironment(given, 'TesteCF')).toThrow(expect.objectContaining({ status: 422 }));
    expect(() => effectiveEnvironment(identity, 'eCF')).toThrow(
      expect.objectContaining({ status: 401, code: 'environment_not_allowed' }),
    );
    expect(() => effectiveEnvironment({ ...identity, environments: ['eCF'] }, undefined)).toThrow(
      expect.objectContaining({ status: 401 }),
    );
  });
});
