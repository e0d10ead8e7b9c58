import { hash, type X509Certificate } from 'node:crypto';
import forge from 'node-forge';
import {
  type Asn1,
  Malformed,
  members,
  objectIdentifier,
  octets,
  readAsn1,
  smallInteger,
  writeAsn1,
} from '../pkcs12/asn1.js';

/** Fields of a certificate that node does not give. */
export interface CertificateFields {
  /** Issuer and serial number as revocation lists name a certificate; see {@link issuedName}. */
  readonly name: string;
  /** How many authorities may stand between this one and the certificate of a holder; null = any number. */
  readonly pathLength: number | null;
  /** Null if the certificate does not restrict its use. */
  readonly keyUsage: { readonly signsDocuments: boolean; readonly signsCertificates: boolean } | null;
}

const BASIC_CONSTRAINTS = '2.5.29.19';
const KEY_USAGE = '2.5.29.15';
// Bits of keyUsage, RFC 5280 section 4.2.1.3: digitalSignature and nonRepudiation; keyCertSign.
const SIGNS_DOCUMENTS = 0xc0;
const SIGNS_CERTIFICATES = 0x04;

/** Reads a certificate. Throws Malformed. */
export function certificateFields(certificate: X509Certificate): CertificateFields {
  const body = members(members(readAsn1(certificate.raw))[0]);
  const fields = isTagged(body[0], 0) ? body.slice(1) : body;
  const [serial, , issuer] = fields;
  const extensions = extensionsOf(body.find((field) => isTagged(field, 3)));
  const usage = extensions.get(KEY_USAGE);
  return {
    name: issuedName(issuer, serial),
    pathLength: pathLengthOf(extensions.get(BASIC_CONSTRAINTS)),
    keyUsage: usage === undefined ? null : usageOf(usage),
  };
}

/** Names a certificate by the bytes of its issuer's name and its serial number. */
export function issuedName(issuer: Asn1 | undefined, serial: Asn1 | undefined): string {
  if (issuer === undefined) throw new Malformed('an issuer was expected');
  return `${hash('sha256', writeAsn1(issuer), 'hex')}:${octets(serial).toString('hex').replace(/^0+/, '')}`;
}

function isTagged(value: Asn1 | undefined, number: number): boolean {
  return value?.tagClass === forge.asn1.Class.CONTEXT_SPECIFIC && (value.type as number) === number;
}

function extensionsOf(tagged: Asn1 | undefined): Map<string, Buffer> {
  if (tagged === undefined) return new Map();
  return new Map(
    members(members(tagged)[0]).map((extension) => {
      const parts = members(extension);
      return [objectIdentifier(parts[0]), octets(parts.at(-1))];
    }),
  );
}

function pathLengthOf(basicConstraints: Buffer | undefined): number | null {
  if (basicConstraints === undefined) return null;
  const length = members(readAsn1(basicConstraints)).find(({ type }) => type === forge.asn1.Type.INTEGER);
  return length === undefined ? null : smallInteger(length);
}

function usageOf(extension: Buffer): NonNullable<CertificateFields['keyUsage']> {
  // A BIT STRING: the first octet counts the unused bits of the last one.
  const bits = octets(readAsn1(extension))[1] ?? 0;
  return { signsDocuments: (bits & SIGNS_DOCUMENTS) !== 0, signsCertificates: (bits & SIGNS_CERTIFICATES) !== 0 };
}
