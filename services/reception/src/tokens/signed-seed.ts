import { groupOf, textOf } from '@ecf/domain';
import { readXml, XmlRefused } from '@ecf/ecf-xml';
import { parseReceived } from '@ecf/public-ingress/signed-document';
import { type CertificateFacts, verifyXml } from '@ecf/xml-signing';
import { ReceptionError } from '../errors.js';

/** The value of a seed, and the certificate that signed it. */
export interface SignedSeed {
  readonly valor: string;
  readonly certificate: CertificateFacts;
}

/** A signed seed has a few kilobytes, most of them certificates. */
const MAX_SEED_BYTES = 32 * 1024;

/** Reads a signed seed and verifies its signature. Throws ReceptionError `seed_refused`. */
export function readSignedSeed(bytes: Uint8Array, now: Date): SignedSeed {
  try {
    const xml = parseReceived(bytes, MAX_SEED_BYTES);
    if (xml.rootName !== 'SemillaModel') throw seedRefused('The document is not a SemillaModel.', 'seed.not_a_seed');
    const { reason, certificate, verified } = verifyXml(xml, now);
    if (certificate === null || verified === null) {
      const problem = reason?.message ?? 'it cannot be verified';
      throw seedRefused(`The signature is not valid: ${problem}`, 'seed.signature');
    }
    const valor = textOf(groupOf(readXml(verified), 'SemillaModel'), 'valor')?.trim() ?? '';
    return { valor, certificate };
  } catch (error) {
    if (error instanceof XmlRefused) throw seedRefused(error.message, `seed.xml_${error.code}`, error);
    throw error;
  }
}

export function seedRefused(message: string, kind: string, cause?: unknown): ReceptionError {
  return new ReceptionError('seed_refused', message, kind, cause === undefined ? {} : { cause });
}
