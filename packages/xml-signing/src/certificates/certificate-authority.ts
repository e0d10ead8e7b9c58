import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import forge from 'node-forge';
import { members, readAsn1, writeAsn1 } from '../pkcs12/asn1.js';
import { type Pkcs12Ciphers, writePkcs12 } from '../pkcs12/write-pkcs12.js';

export interface CertificateHolder {
  readonly commonName: string;
  /** RNC, cédula or passport of the holder; becomes the subject's serialNumber `IDCDO-<holderId>`. */
  readonly holderId: string;
  /** RNC of the company the holder represents; becomes the subject's organizationIdentifier. */
  readonly rnc?: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly password: string;
  /** `legacy`: RC2-40 and 3DES as old Windows and OpenSSL write; `modern` (default): PBES2 with AES-256. */
  readonly ciphers?: Pkcs12Ciphers;
  /** Rounds of each key derivation of the file; 2048 by default. */
  readonly rounds?: number;
  /** A private key made earlier; by default a new RSA-2048 key. */
  readonly key?: KeyObject;
  /** What the key may be used for; by default `digitalSignature` and `nonRepudiation`. Null: the certificate does not say. */
  readonly keyUsage?: readonly KeyUse[] | null;
}

type KeyUse = 'digitalSignature' | 'nonRepudiation' | 'keyEncipherment' | 'dataEncipherment';

export interface IssuedCertificate {
  /** Holder's key, holder's certificate and the authority's certificate. */
  readonly p12: Buffer;
  readonly password: string;
  /** The holder's certificate. */
  readonly pem: string;
  /** The private key, PKCS#8 PEM. */
  readonly key: string;
}

export interface CertificateAuthority {
  /** The authority's own certificate, for lists of trusted issuers. */
  readonly pem: string;
  /** The authority's private key, PKCS#8 PEM; `createCertificateAuthority` takes both to continue with the same authority. */
  readonly key: string;
  issue(holder: CertificateHolder): IssuedCertificate;
}

export interface CertificateAuthorityOptions {
  readonly commonName?: string;
  readonly notBefore?: Date;
  readonly notAfter?: Date;
  /** A private key made earlier; by default a new RSA-2048 key. */
  readonly key?: KeyObject;
  /** An authority made earlier; names and dates are then those of its certificate. */
  readonly existing?: { readonly pem: string; readonly key: string };
}

/** The function exists in node-forge, its type package leaves it out. */
const layOut = (forge.pki as unknown as { getTBSCertificate(draft: forge.pki.Certificate): forge.asn1.Asn1 })
  .getTBSCertificate;

type Attribute = forge.pki.CertificateField;

interface Request {
  readonly subject: Attribute[];
  readonly issuer: Attribute[];
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly publicKey: KeyObject;
  readonly issuerKey: KeyObject;
  readonly extensions: object[];
}

/**
 * A certificate authority for sandboxes, simulators and tests. Its certificates are worth nothing outside them.
 */
export function createCertificateAuthority(options: CertificateAuthorityOptions = {}): CertificateAuthority {
  const key = options.existing ? createPrivateKey(options.existing.key) : (options.key ?? newRsaKey());
  const pem = options.existing?.pem ?? authorityCertificate(key, options);
  const issuer = forge.pki.certificateFromPem(pem).subject.attributes as Attribute[];
  const authorityDer = derOf(pem);

  const issue = (holder: CertificateHolder): IssuedCertificate => {
    const holderKey = holder.key ?? newRsaKey();
    const der = certificate({
      subject: [
        attribute('2.5.4.6', 'DO'),
        ...(holder.rnc === undefined ? [] : [attribute('2.5.4.97', `VATDO-${holder.rnc}`)]),
        attribute('2.5.4.5', `IDCDO-${holder.holderId}`),
        attribute('2.5.4.3', holder.commonName),
      ],
      issuer,
      notBefore: holder.notBefore,
      notAfter: holder.notAfter,
      publicKey: createPublicKey(holderKey),
      issuerKey: key,
      extensions: keyUsage(holder.keyUsage ?? (holder.keyUsage === null ? [] : ['digitalSignature', 'nonRepudiation'])),
    });
    return {
      p12: writePkcs12({
        keys: [holderKey],
        certificates: [der, authorityDer],
        password: holder.password,
        ciphers: holder.ciphers ?? 'modern',
        ...(holder.rounds === undefined ? {} : { rounds: holder.rounds }),
      }),
      password: holder.password,
      pem: pemOf(der),
      key: pkcs8(holderKey),
    };
  };
  return { pem, key: pkcs8(key), issue };
}

/** A .p12 file with several keys and their certificates, as some providers and key stores export them. */
export function fileOfSeveral(issued: readonly IssuedCertificate[], password: string): Buffer {
  return writePkcs12({
    keys: issued.map(({ key }) => createPrivateKey(key)),
    certificates: issued.map(({ pem }) => derOf(pem)),
    password,
    ciphers: 'modern',
  });
}

function authorityCertificate(key: KeyObject, options: CertificateAuthorityOptions): string {
  const notBefore = options.notBefore ?? new Date('2020-01-01T00:00:00Z');
  const name = [attribute('2.5.4.6', 'DO'), attribute('2.5.4.3', options.commonName ?? 'Autoridad de prueba')];
  return pemOf(
    certificate({
      subject: name,
      issuer: name,
      notBefore,
      notAfter: options.notAfter ?? new Date('2045-01-01T00:00:00Z'),
      publicKey: createPublicKey(key),
      issuerKey: key,
      extensions: [
        { name: 'basicConstraints', critical: true, cA: true },
        { name: 'keyUsage', critical: true, keyCertSign: true, cRLSign: true },
      ],
    }),
  );
}

function keyUsage(uses: readonly KeyUse[]): object[] {
  if (uses.length === 0) return [];
  return [{ name: 'keyUsage', critical: true, ...Object.fromEntries(uses.map((use) => [use, true])) }];
}

/** node-forge lays out the certificate; key and signature are native, which is fifty times as fast. */
function certificate(request: Request): Buffer {
  const draft = forge.pki.createCertificate();
  // The first byte is never 0, and never above 7f, which would make the number negative.
  draft.serialNumber = `4${randomBytes(16).toString('hex').slice(1)}`;
  draft.validity.notBefore = request.notBefore;
  draft.validity.notAfter = request.notAfter;
  draft.setSubject(request.subject);
  draft.setIssuer(request.issuer);
  draft.setExtensions(request.extensions);
  draft.publicKey = forge.pki.setRsaPublicKey(new forge.jsbn.BigInteger('3'), new forge.jsbn.BigInteger('3'));
  draft.md = forge.md.sha256.create();
  const sha256WithRsa = '1.2.840.113549.1.1.11';
  draft.signatureOid = sha256WithRsa;
  draft.siginfo.algorithmOid = sha256WithRsa;

  const body = layOut(draft);
  const publicKeyAt = 6;
  members(body)[publicKeyAt] = readAsn1(request.publicKey.export({ format: 'der', type: 'spki' }));
  draft.tbsCertificate = body;
  draft.signature = sign('sha256', writeAsn1(body), request.issuerKey).toString('latin1');
  return writeAsn1(forge.pki.certificateToAsn1(draft));
}

function attribute(type: string, value: string): Attribute {
  return { type, value, valueTagClass: forge.asn1.Type.UTF8 as unknown as forge.asn1.Class };
}

function newRsaKey(): KeyObject {
  return generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
}

function pkcs8(key: KeyObject): string {
  return key.export({ format: 'pem', type: 'pkcs8' }).toString();
}

function pemOf(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

function derOf(pem: string): Buffer {
  return Buffer.from(pem.replace(/-----[^-]+-----|\s/g, ''), 'base64');
}
