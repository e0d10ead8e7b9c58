import type { SigningCertificate } from './signing-certificate.js';

/** Key and certificates as bytes, for sealing. They hold the private key in the open: never store them unsealed. */
export function serialiseCertificate(_certificate: SigningCertificate): Uint8Array {
  throw new Error('not yet');
}

/** The reverse of serialiseCertificate; validity in time is not judged here. */
export function deserialiseCertificate(_bytes: Uint8Array): SigningCertificate {
  throw new Error('not yet');
}
