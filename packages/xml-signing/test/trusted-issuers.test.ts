import { describe, expect, it } from '@jest/globals';
import { isTrusted, readTrustedIssuers } from '../src/index.js';
import { createTestAuthority } from '../src/test-certificates.js';
import { authority, certificate, now } from './samples.js';

const signer = { der: certificate.certificate, others: [] };

describe('isTrusted', () => {
  it('follows the chain to a listed issuer', () => {
    expect(isTrusted(signer, readTrustedIssuers(`# test\n${authority.pem}`), now)).toBe(true);
  });

  it('does not go by names', () => {
    const namesake = createTestAuthority();
    expect(isTrusted(signer, readTrustedIssuers(namesake.pem), now)).toBe(false);
    expect(isTrusted(signer, readTrustedIssuers(`${namesake.pem}${authority.pem}`), now)).toBe(true);
    const der = authority.pem.replace(/-----[^-]+-----|\s/g, '');
    expect(isTrusted({ ...signer, others: [der] }, readTrustedIssuers(namesake.pem), now)).toBe(false);
  });

  it('asks that every certificate was valid at the time', () => {
    const trusted = readTrustedIssuers(authority.pem);
    expect(isTrusted(signer, trusted, new Date('2019-12-31T23:59:59Z'))).toBe(false);
    expect(isTrusted(signer, trusted, new Date('2050-01-01'))).toBe(false);
  });

  it('stays calm with certificates that are none', () => {
    const trusted = readTrustedIssuers(authority.pem);
    expect(isTrusted({ der: 'AAAA', others: [] }, trusted, now)).toBe(false);
    expect(isTrusted({ ...signer, others: ['AAAA', certificate.certificate] }, trusted, now)).toBe(true);
    expect(() => readTrustedIssuers('nothing')).toThrow('no certificate');
  });
});
