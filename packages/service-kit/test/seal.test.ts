import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { createMasterKeys, SEAL_HEAD, type SealBinding, taxpayerCertificate } from '../src/security/seal.js';

const secret = Buffer.from('the private key of a taxpayer');
const [older, newer] = [Buffer.alloc(32, 7), Buffer.alloc(32, 8)];
const keys = createMasterKeys([older]);
const binding = taxpayerCertificate({ account_id: 'an account', rnc: '131000001' });
const code = (wanted: string) => expect.objectContaining({ code: wanted });

/** The secret in the first version of the layout, with the older key, bound to the RNC alone. */
const VERSION_1 = Buffer.from(
  'Ac2nzLkBAQEBAQEBAQEBAQEZgFh5YFrVbrsBpNwZ3AgiAonsl+DNhXiwoLkBG1IJEcedNJU441prKFA6BxQ=',
  'base64',
);

describe('a sealed value', () => {
  it('opens with the same key and binding, and is never the same twice', () => {
    const sealed = keys.seal(secret, binding);
    expect(keys.unseal(sealed, binding)).toEqual(secret);
    expect(keys.unseal(new Uint8Array(sealed), binding)).toEqual(secret);
    expect(keys.seal(secret, binding).equals(sealed)).toBe(false);
    expect(sealed.includes(secret)).toBe(false);
    expect(keys.unseal(keys.seal(Buffer.alloc(0), binding), binding)).toEqual(Buffer.alloc(0));
  });

  it.each<[string, SealBinding]>([
    ['account', { ...binding, account: 'another account' }],
    ['RNC', { ...binding, subject: '131000002' }],
    ['purpose', { ...binding, purpose: 'request certificate' }],
    ['split of account and RNC', { ...binding, account: 'an account1', subject: '31000001' }],
  ])('does not open for another %s', (_part, other) => {
    expect(() => keys.unseal(keys.seal(secret, binding), other)).toThrow(code('altered'));
  });

  it('distinguishes another key, alterations and foreign bytes', () => {
    const sealed = keys.seal(secret, binding);
    expect(() => createMasterKeys([randomBytes(32)]).unseal(sealed, binding)).toThrow(code('other_key'));
    for (let at = SEAL_HEAD; at < sealed.length; at += 1) {
      const altered = Buffer.from(sealed);
      altered[at] = (altered[at] ?? 0) ^ 1;
      expect(() => keys.unseal(altered, binding)).toThrow(code('altered'));
    }
    for (const bytes of [Buffer.alloc(0), Buffer.alloc(32), Buffer.from('PKCS#12')])
      expect(() => keys.unseal(bytes, binding)).toThrow(code('not_sealed'));
    expect(() => keys.unseal(sealed.subarray(0, sealed.length - 1), binding)).toThrow(code('altered'));
  });

  it('of the first version opens for its RNC, and does not pass for one of the second', () => {
    expect(keys.unseal(VERSION_1, binding)).toEqual(secret);
    expect(() => keys.unseal(VERSION_1, { ...binding, subject: '131000002' })).toThrow(code('altered'));
    const renamed = Buffer.from(VERSION_1);
    renamed[0] = 2;
    expect(() => keys.unseal(renamed, binding)).toThrow(code('altered'));
  });
});

describe('several master keys', () => {
  const both = createMasterKeys([newer, older]);

  it('open what any of them sealed, and seal with the first', () => {
    expect(both.unseal(keys.seal(secret, binding), binding)).toEqual(secret);
    const sealed = both.seal(secret, binding);
    expect(createMasterKeys([newer]).unseal(sealed, binding)).toEqual(secret);
    expect(() => keys.unseal(sealed, binding)).toThrow(code('other_key'));
  });

  it('tell by the first bytes whether they open a value, and whether it is to be sealed anew', () => {
    const old = keys.seal(secret, binding);
    const head = (value: Buffer) => value.subarray(0, SEAL_HEAD);
    expect(both.hasKeyOf(head(old))).toBe(true);
    expect(createMasterKeys([newer]).hasKeyOf(head(old))).toBe(false);
    expect(both.isCurrent(head(old))).toBe(false);
    expect(both.isCurrent(head(both.seal(secret, binding)))).toBe(true);
    expect(keys.isCurrent(VERSION_1)).toBe(false);
  });
});
