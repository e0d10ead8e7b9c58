import { testKey } from '@ecf/test-support';
import { createCertificateAuthority } from '@ecf/xml-signing/certificate-authority';

/** A certificate for a TLS server of that name, and the authority to trust for it. */
export function serverCertificate(name: string): { tls: { key: string; cert: string }; ca: string } {
  const authority = createCertificateAuthority({ key: testKey(1) });
  const { key, pem } = authority.issue({
    commonName: name,
    holderId: '00100000001',
    notBefore: new Date('2020-01-01T00:00:00Z'),
    notAfter: new Date('2100-01-01T00:00:00Z'),
    password: 'test',
    key: testKey(0),
  });
  return { tls: { key, cert: pem }, ca: authority.pem };
}
