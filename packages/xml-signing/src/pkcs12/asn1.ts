import forge from 'node-forge';

/** One ASN.1 value as node-forge reads it: BER too, since Windows and Java write constructed and indefinite forms. */
export type Asn1 = forge.asn1.Asn1;

/** The bytes are not the ASN.1 structure that was expected at this place. */
export class Malformed extends Error {}

/** The reader's options of node-forge 1.4, which its type package does not know in full. */
const READING = { strict: true, parseAllBytes: false, decodeBitStrings: false, maxDepth: 40 };

/** @throws Malformed */
export function readAsn1(bytes: Uint8Array): Asn1 {
  const fromDer = forge.asn1.fromDer as unknown as (bytes: string, options: typeof READING) => Asn1;
  try {
    return fromDer(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1'), READING);
  } catch (cause) {
    throw new Malformed('not ASN.1', { cause });
  }
}

export function writeAsn1(value: Asn1 | undefined): Buffer {
  if (value === undefined) throw new Malformed('a value was expected');
  return Buffer.from(forge.asn1.toDer(value).getBytes(), 'latin1');
}

/** The members of a SEQUENCE, a SET or an explicitly tagged value. */
export function members(value: Asn1 | undefined): Asn1[] {
  if (value === undefined || !Array.isArray(value.value)) throw new Malformed('a structure was expected');
  return value.value;
}

/** The content of an OCTET STRING, its pieces put together where it came in pieces. */
export function octets(value: Asn1 | undefined): Buffer {
  if (value === undefined) throw new Malformed('an octet string was expected');
  if (typeof value.value === 'string') return Buffer.from(value.value, 'latin1');
  return Buffer.concat(value.value.map(octets));
}

export function objectIdentifier(value: Asn1 | undefined): string {
  if (value?.type !== forge.asn1.Type.OID || typeof value.value !== 'string')
    throw new Malformed('an OID was expected');
  try {
    return forge.asn1.derToOid(value.value);
  } catch (cause) {
    throw new Malformed('an OID is out of range', { cause });
  }
}

/** A positive INTEGER that fits 32 bits. */
export function smallInteger(value: Asn1 | undefined): number {
  if (value?.type !== forge.asn1.Type.INTEGER) throw new Malformed('an integer was expected');
  const bytes = octets(value);
  if (bytes.length === 0 || bytes.length > 5) throw new Malformed('an integer is out of range');
  const number = bytes.readIntBE(0, bytes.length);
  if (number < 0 || number > 0xffffffff) throw new Malformed('an integer is out of range');
  return number;
}

export function isInteger(value: Asn1 | undefined): boolean {
  return value?.type === forge.asn1.Type.INTEGER && value.tagClass === forge.asn1.Class.UNIVERSAL;
}
