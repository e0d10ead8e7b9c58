import type { KeyObject } from 'node:crypto';

/** A private key with its certificate, ready to sign: the key is parsed once and kept as a KeyObject. */
export interface SigningCertificate {
  readonly privateKey: KeyObject;
  /** The holder's certificate, DER in base64 without line breaks, as it stands in X509Certificate. */
  readonly certificate: string;
  /** The issuers' certificates that came with it, nearest first, each as `certificate`. */
  readonly chain: readonly string[];
  /** `CN=..., serialNumber=IDCDO-..., C=DO` */
  readonly subject: string;
  readonly issuer: string;
  /** Of the certificate, in hexadecimal. */
  readonly serialNumber: string;
  /** RNC, cédula or passport of the holder: the subject's serialNumber without its kind (`IDCDO-`) and dashes. */
  readonly holderId: string | null;
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** SHA-256 of the DER in lower-case hexadecimal. */
  readonly fingerprint: string;
}
