import { randomBytes } from 'node:crypto';
import { SEALING_SERVICES, type SealingService } from '@ecf/contracts';
import { describe, expect, it } from '@jest/globals';
import { ConfigError } from '../src/config.js';
import { createMasterKeys, SEAL_HEAD, type SealBinding, taxpayerCertificate } from '../src/seal.js';
import { makeSealingKeys, readSealingKeys, SEALING_PURPOSES } from '../src/sealing-keys.js';

const secret = Buffer.from('the private key of a taxpayer');
const [older, newer] = [Buffer.alloc(32, 7), Buffer.alloc(32, 8)];
const keys = createMasterKeys([older]);
const binding = taxpayerCertificate({ account_id: 'an account', rnc: '131000001' });
const code = (wanted: string) => expect.objectContaining({ code: wanted });

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

  it('is refused with distinct errors for another key, alterations and foreign bytes', () => {
    const sealed = keys.seal(secret, binding);
    expect(() => createMasterKeys([randomBytes(32)]).unseal(sealed, binding)).toThrow(code('other_key'));
    for (let at = SEAL_HEAD; at < sealed.length; at += 1) {
      const altered = Buffer.from(sealed);
      altered[at] = (altered[at] ?? 0) ^ 1;
      expect(() => keys.unseal(altered, binding)).toThrow(code('altered'));
    }
    for (const bytes of [Buffer.alloc(0), Buffer.alloc(32), Buffer.alloc(64), Buffer.from('PKCS#12')])
      expect(() => keys.unseal(bytes, binding)).toThrow(code('not_sealed'));
    expect(() => keys.unseal(sealed.subarray(0, sealed.length - 1), binding)).toThrow(code('altered'));
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

  it('show by the first bytes of a value whether they open it, and whether it must be sealed anew', () => {
    const old = keys.seal(secret, binding);
    const head = (value: Buffer) => value.subarray(0, SEAL_HEAD);
    expect(both.hasKeyOf(head(old))).toBe(true);
    expect(createMasterKeys([newer]).hasKeyOf(head(old))).toBe(false);
    expect(both.isCurrent(head(old))).toBe(false);
    expect(both.isCurrent(head(both.seal(secret, binding)))).toBe(true);
  });
});

describe('the sealing keys of a service', () => {
  const open = (service: SealingService, masters: [Buffer, ...Buffer[]] = [older]) =>
    readSealingKeys(service, { SEALING_KEYS: makeSealingKeys(masters)[service] });
  const webhook = { purpose: 'webhook secret', account: 'an account', subject: 'w' } as const;

  it('open values that the master key or another service sealed for the same purpose', () => {
    for (const service of ['gateway', 'emission', 'reception', 'approvals'] as const) {
      expect(open(service).unseal(keys.seal(secret, binding), binding)).toEqual(secret);
      expect(open('emission').unseal(open(service).seal(secret, binding), binding)).toEqual(secret);
      expect(keys.unseal(open(service).seal(secret, binding), binding)).toEqual(secret);
    }
    expect(open('query').unseal(keys.seal(secret, webhook), webhook)).toEqual(secret);
  });

  it('neither open nor seal values of another purpose, even if the service holds the master key', () => {
    const sealed = keys.seal(secret, binding);
    for (const query of [open('query'), readSealingKeys('query', { MASTER_KEY: older.toString('base64') })]) {
      expect(() => query.unseal(sealed, binding)).toThrow('holds no key for a taxpayer certificate');
      expect(() => query.seal(secret, binding)).toThrow('holds no key for a taxpayer certificate');
    }
    const text = makeSealingKeys([older]).query;
    expect(Buffer.from(text).includes(older.toString('base64'))).toBe(false);
    // A key of one purpose under the name of another opens nothing.
    const renamed = { SEALING_KEYS: text.replace('webhook-secret', 'taxpayer-certificate') };
    expect(() => readSealingKeys('gateway', renamed).unseal(sealed, binding)).toThrow(code('altered'));
  });

  it('of several master keys seal with the newest, carry their ids, and open what any of them sealed', () => {
    const both = open('gateway', [newer, older]);
    expect(both.keyIds).toEqual(createMasterKeys([newer, older]).keyIds);
    expect(both.unseal(keys.seal(secret, binding), binding)).toEqual(secret);
    expect(both.isCurrent(keys.seal(secret, binding))).toBe(false);
    expect(open('gateway', [newer]).unseal(both.seal(secret, binding), binding)).toEqual(secret);
  });

  it('are refused at the start if a purpose is missing, the master keys differ, or neither setting is present', () => {
    const emission = makeSealingKeys([older]).emission.split(',');
    const refused: [string, RegExp][] = [
      [emission.slice(1).join(), /SEALING_KEYS: lacks a key for taxpayer-certificate/],
      [[...emission.slice(1), ...makeSealingKeys([newer]).gateway.split(',')].join(), /of the same master keys/],
      ['taxpayer-certificate:0a', /SEALING_KEYS: is not allowed/],
      ['another-purpose:00000000:AAAA', /SEALING_KEYS: is not allowed/],
      ['', /MASTER_KEY: is required, unless SEALING_KEYS is set/],
    ];
    for (const [text, message] of refused) {
      const starting = () => readSealingKeys('emission', { SEALING_KEYS: text });
      expect(starting).toThrow(ConfigError);
      expect(starting).toThrow(message);
    }
  });

  it('are made for each service that seals, and only for the purposes that it needs', () => {
    expect(Object.keys(SEALING_PURPOSES)).toEqual([...SEALING_SERVICES]);
    for (const service of SEALING_SERVICES)
      expect(
        makeSealingKeys([older])
          [service].split(',')
          .map((key) => key.split(':')[0]?.replaceAll('-', ' ')),
      ).toEqual(SEALING_PURPOSES[service]);
  });
});
