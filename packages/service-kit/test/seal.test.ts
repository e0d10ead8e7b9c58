import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { seal, unseal } from '../src/security/seal.js';

const key = randomBytes(32);
const secret = Buffer.from('the private key of a taxpayer');

describe('a sealed value', () => {
  it('opens with the same key and context, and is never the same twice', () => {
    const sealed = seal(key, secret, '131000001');
    expect(unseal(key, sealed, '131000001')).toEqual(secret);
    expect(unseal(key, new Uint8Array(sealed), '131000001')).toEqual(secret);
    expect(seal(key, secret, '131000001').equals(sealed)).toBe(false);
    expect(sealed.includes(secret)).toBe(false);
    expect(unseal(key, seal(key, Buffer.alloc(0), ''), '')).toEqual(Buffer.alloc(0));
  });

  it('distinguishes another key, another context, alterations and foreign bytes', () => {
    const sealed = seal(key, secret, '131000001');
    expect(() => unseal(randomBytes(32), sealed, '131000001')).toThrow(expect.objectContaining({ code: 'other_key' }));
    expect(() => unseal(key, sealed, '131000002')).toThrow(expect.objectContaining({ code: 'altered' }));
    for (let at = 5; at < sealed.length; at += 1) {
      const altered = Buffer.from(sealed);
      altered[at] = (altered[at] ?? 0) ^ 1;
      expect(() => unseal(key, altered, '131000001')).toThrow(expect.objectContaining({ code: 'altered' }));
    }
    for (const bytes of [Buffer.alloc(0), Buffer.alloc(32), Buffer.from('PKCS#12')])
      expect(() => unseal(key, bytes, '131000001')).toThrow(expect.objectContaining({ code: 'not_sealed' }));
    expect(() => unseal(key, sealed.subarray(0, sealed.length - 1), '131000001')).toThrow(
      expect.objectContaining({ code: 'altered' }),
    );
  });
});
