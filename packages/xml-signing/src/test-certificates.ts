import type { KeyObject } from 'node:crypto';

export interface TestHolder {
  readonly commonName: string;
  /** RNC, cédula or passport of the holder; becomes the subject's serialNumber `IDCDO-<holderId>`. */
  readonly holderId: string;
  /** RNC of the company the holder represents; becomes the subject's organizationIdentifier. */
  readonly rnc?: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly password: string;
  /** `legacy`: RC2-40 and 3DES as old Windows and OpenSSL write; `modern` (default): PBES2 with AES-256. */
  readonly ciphers?: 'legacy' | 'modern';
  /** A key made earlier; by default a new RSA-2048 key. */
  readonly key?: KeyObject;
}

export interface TestCertificate {
  readonly p12: Buffer;
  readonly password: string;
  /** The holder's certificate. */
  readonly pem: string;
  /** The private key, PKCS#8 PEM. */
  readonly key: string;
}

export interface TestAuthority {
  /** The authority's own certificate, for lists of trusted issuers. */
  readonly pem: string;
  issue(holder: TestHolder): TestCertificate;
}

/** A certificate authority for sandboxes, simulators and tests. */
export function createTestAuthority(
  _options: { commonName?: string; notBefore?: Date; notAfter?: Date } = {},
): TestAuthority {
  throw new Error('not yet');
}
