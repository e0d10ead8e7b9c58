import { testKey } from '@ecf/test-support';
import { openCertificate, type SigningCertificate } from '@ecf/xml-signing';
import {
  type CertificateAuthority,
  createCertificateAuthority,
  type IssuedCertificate,
} from '@ecf/xml-signing/certificate-authority';

/** The present time of the tests. */
export const NOW = new Date('2026-06-23T12:00:00-04:00');

export const PROVIDER = '199999991';
export const OTHER_PROVIDER = '177777772';
export const BUYER = '188888885';
export const OTHER_BUYER = '166666663';
export const STRANGER = '155555554';

/** All holders share a key, except the holders that tests distinguish by key. */
const [key, ownKey] = [testKey(0), testKey(2)];
const PASSWORD = 'clave';

export const authority: CertificateAuthority = createCertificateAuthority({ key: testKey(1) });

export function issue(holder: {
  commonName: string;
  holderId: string;
  notBefore?: string;
  notAfter?: string;
  by?: CertificateAuthority;
  ownKey?: boolean;
}): { issued: IssuedCertificate; certificate: SigningCertificate } {
  const notBefore = new Date(holder.notBefore ?? '2024-01-01T00:00:00Z');
  const notAfter = new Date(holder.notAfter ?? '2030-01-01T00:00:00Z');
  const issued = (holder.by ?? authority).issue({
    commonName: holder.commonName,
    holderId: holder.holderId,
    notBefore,
    notAfter,
    password: PASSWORD,
    key: holder.ownKey ? ownKey : key,
  });
  return { issued, certificate: openCertificate(issued.p12, PASSWORD, new Date((+notBefore + +notAfter) / 2)) };
}

/** The signer of the provider, and the signer of the buyers. */
export const provider = issue({ commonName: 'Provider Representative', holderId: '00100000001' });
export const buyer = issue({ commonName: 'Buyer Representative', holderId: '00200000002' });
/** Another holder with a certificate of the same authority. */
export const forger = issue({ commonName: 'Somebody Else', holderId: '00300000003', ownKey: true });
export const expired = issue({ commonName: 'Too Late', holderId: '00400000004', notAfter: '2025-12-31T00:00:00Z' });
