import { createPrivateKey, generateKeyPairSync, type KeyObject, X509Certificate } from 'node:crypto';
import { testKey } from '@ecf/test-support';
import { describe, expect, it, jest } from '@jest/globals';
import { createCertificateAuthority } from '../src/certificates/certificate-authority.js';
import { chainFault, readTrustedIssuers } from '../src/index.js';
import { authority, certificate, now } from './samples.js';

const signer = { der: certificate.certificate, others: [] };

describe('chainFault', () => {
  it('follows the chain to a listed issuer', () => {
    expect(chainFault(signer, readTrustedIssuers(`# test\n${authority.pem}`), now, null)).toBeNull();
  });

  it('does not go by names', () => {
    const namesake = createCertificateAuthority({ key: testKey(3) });
    expect(chainFault(signer, readTrustedIssuers(namesake.pem), now, null)).not.toBeNull();
    expect(chainFault(signer, readTrustedIssuers(`${namesake.pem}${authority.pem}`), now, null)).toBeNull();
    const der = authority.pem.replace(/-----[^-]+-----|\s/g, '');
    expect(chainFault({ ...signer, others: [der] }, readTrustedIssuers(namesake.pem), now, null)).not.toBeNull();
  });

  it('requires every certificate to be valid at the time', () => {
    const trusted = readTrustedIssuers(authority.pem);
    expect(chainFault(signer, trusted, new Date('2019-12-31T23:59:59Z'), null)).not.toBeNull();
    expect(chainFault(signer, trusted, new Date('2050-01-01'), null)).not.toBeNull();
  });

  it('does not follow issuers whose keys take long to verify with', () => {
    const long = createCertificateAuthority({ commonName: 'Long', key: keyWithExponent(2n ** 89n - 1n) });
    const held = {
      commonName: 'A',
      holderId: '1',
      notBefore: new Date('2024-01-01'),
      notAfter: new Date('2030-01-01'),
    };
    const { pem } = long.issue({ ...held, password: 'x' });
    expect(new X509Certificate(pem).verify(new X509Certificate(long.pem).publicKey)).toBe(true);
    expect(chainFault({ der: derOf(pem), others: [] }, readTrustedIssuers(long.pem), now, null)).not.toBeNull();
  });

  it('verifies only a few certificates if many have the name of the issuer', () => {
    const { privateKey: key } = generateKeyPairSync('rsa', { modulusLength: 1024 });
    const namesakes = Array.from({ length: 40 }, () => createCertificateAuthority({ key }).pem);
    const verify = jest.spyOn(X509Certificate.prototype, 'verify');
    expect(
      chainFault({ ...signer, others: namesakes.map(derOf) }, readTrustedIssuers(namesakes[0] ?? ''), now, null),
    ).not.toBeNull();
    expect(verify.mock.calls.length).toBeLessThanOrEqual(16);
    expect(
      chainFault({ ...signer, others: namesakes.map(derOf) }, readTrustedIssuers(authority.pem), now, null),
    ).toBeNull();
    verify.mockRestore();
  });

  it('stays calm with certificates that are none', () => {
    const trusted = readTrustedIssuers(authority.pem);
    expect(chainFault({ der: 'AAAA', others: [] }, trusted, now, null)).not.toBeNull();
    expect(chainFault({ ...signer, others: ['AAAA', certificate.certificate] }, trusted, now, null)).toBeNull();
    expect(() => readTrustedIssuers('nothing')).toThrow('no certificate');
  });
});

function derOf(pem: string): string {
  return pem.replace(/-----[^-]+-----|\s/g, '');
}

/** An RSA key with an exponent that no tool chooses by default. */
function keyWithExponent(e: bigint): KeyObject {
  const jwk = testKey(0).export({ format: 'jwk' });
  const number = (text = ''): bigint => BigInt(`0x${Buffer.from(text, 'base64url').toString('hex')}`);
  const text = (value: bigint): string => {
    const hex = value.toString(16);
    return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex').toString('base64url');
  };
  const [p, q] = [number(jwk.p), number(jwk.q)];
  const d = inverse(e, (p - 1n) * (q - 1n));
  const parts = { e: text(e), d: text(d), dp: text(d % (p - 1n)), dq: text(d % (q - 1n)) };
  return createPrivateKey({ key: { ...jwk, ...parts }, format: 'jwk' });
}

function inverse(value: bigint, modulus: bigint): bigint {
  let [r, next, t, following] = [modulus, value % modulus, 0n, 1n];
  while (next !== 0n) {
    const quotient = r / next;
    [r, next, t, following] = [next, r - quotient * next, following, t - quotient * following];
  }
  return t < 0n ? t + modulus : t;
}
