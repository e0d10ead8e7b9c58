import { type CertificateAuthority, createCertificateAuthority } from '@ecf/xml-signing/certificate-authority';

/** Whom a test certificate names. */
export interface TestHolder {
  /** Cédula, RNC or passport number of the person; default 00100000001. */
  readonly holderId?: string;
  /** RNC of the company that the person represents; default none. */
  readonly rnc?: string;
  /** Default `PERSONA DE PRUEBA`. */
  readonly commonName?: string;
}

/** A certificate with its private key. */
export interface TestCertificate {
  /** The bytes of a .p12 file: the key, the certificate and that of its issuer. */
  readonly p12: Uint8Array;
  readonly password: string;
}

const DAY_MS = 86_400_000;

/** Certificates for tests. The simulator accepts every certificate; outside it, they are worth nothing. */
export class TestCertificates {
  #authority: CertificateAuthority | null = null;

  issue({ holderId = '00100000001', rnc, commonName = 'PERSONA DE PRUEBA' }: TestHolder, now: Date): TestCertificate {
    this.#authority ??= createCertificateAuthority({ commonName: 'SIMULADOR CA' });
    const { p12, password } = this.#authority.issue({
      commonName,
      holderId,
      ...(rnc === undefined ? {} : { rnc }),
      notBefore: new Date(now.getTime() - DAY_MS),
      notAfter: new Date(now.getTime() + 2 * 365 * DAY_MS),
      password: 'simulador',
    });
    return { p12, password };
  }
}
