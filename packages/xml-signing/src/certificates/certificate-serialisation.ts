import { createPrivateKey, X509Certificate } from 'node:crypto';
import { CertificateError } from '../errors.js';
import { type SigningCertificate, signingCertificate } from './signing-certificate.js';

interface Stored {
  readonly v: 1;
  /** PKCS#8 DER, base64. */
  readonly key: string;
  readonly certificate: string;
  readonly chain: string[];
}

/** Key and certificates as bytes, for sealing. They hold the private key in the open: never store them unsealed. */
export function serialiseCertificate(certificate: SigningCertificate): Uint8Array {
  const stored: Stored = {
    v: 1,
    key: certificate.privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64'),
    certificate: certificate.certificate,
    chain: [...certificate.chain],
  };
  return Buffer.from(JSON.stringify(stored));
}

/**
 * The reverse of serialiseCertificate. Parsing the key costs more than a signature: keep the result, by fingerprint.
 * Validity in time is not checked here, see `checkValidity`.
 *
 * @throws CertificateError `unreadable_store`
 */
export function deserialiseCertificate(bytes: Uint8Array): SigningCertificate {
  try {
    const stored = JSON.parse(Buffer.from(bytes).toString('utf8')) as Stored;
    if (stored.v !== 1) throw new Error(`version ${stored.v}`);
    const key = createPrivateKey({ key: Buffer.from(stored.key, 'base64'), format: 'der', type: 'pkcs8' });
    return signingCertificate(key, new X509Certificate(Buffer.from(stored.certificate, 'base64')), stored.chain);
  } catch {
    // Without the cause: a parser's message may quote the key.
    throw new CertificateError(
      'unreadable_store',
      'The stored certificate cannot be read. Upload the certificate file again.',
    );
  }
}
